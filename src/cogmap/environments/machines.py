"""Mealy machines: read from files, drawn at random, minimised, compared, and turned into worlds to walk in.

A machine gives an output for each input. A log of it is a walk: an action is an input, an observation is the output
that the input gave, and the first observation is `start`. What is seen belongs to a move here and not to a place, so a
position of the world is a state together with the output that led to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cogmap.environments.dot import dot_edges
from cogmap.errors import BadWorld, CogmapError
from cogmap.files import read_json, read_text, write_json
from cogmap.records import Integers, Labels, TableWorld

SHIPPED = Path(__file__).resolve().parents[1] / "data" / "machines"
START = "start"  # the label of the observation before the first input
_TRIES = 100  # draws of a random machine until one is minimal


@dataclass(frozen=True, eq=False)
class MealyMachine:
    """A deterministic machine: in state s, input a gives `output[s, a]` and leads to `next_state[s, a]`."""

    next_state: Integers  # (Q, A)
    output: Integers  # (Q, A) index into output_labels
    input_labels: Labels  # A strings
    output_labels: Labels  # strings
    initial: int = 0  # the state in which every log starts
    name: str = "machine"

    def __post_init__(self) -> None:
        states = np.shape(self.next_state)[0] if np.ndim(self.next_state) else 0
        shape = (states, len(self.input_labels))
        if 0 in shape:
            raise BadWorld(f"a machine must have a state and an input, got {shape[0]} and {shape[1]}")
        tables = {"next_state": states, "output": len(self.output_labels)}
        for name, bound in tables.items():
            object.__setattr__(self, name, _table(name, getattr(self, name), shape, bound))
        if not 0 <= self.initial < states:
            raise BadWorld(f"`initial` must be a state in [0, {states}), got {self.initial}")
        for name in ("input_labels", "output_labels"):
            labels = getattr(self, name)
            if len(set(labels)) != len(labels):
                repeated = next(label for label in labels if labels.count(label) > 1)
                raise BadWorld(f"`{name}` must be distinct, got {repeated!r:.60} more than once")

    @property
    def num_states(self) -> int:
        return self.next_state.shape[0]

    @property
    def num_inputs(self) -> int:
        return self.next_state.shape[1]

    def run(self, inputs: ArrayLike) -> Integers:
        """(T,): the outputs for a sequence of inputs (T,) from the initial state."""
        state, outputs = self.initial, []
        for symbol in np.asarray(inputs, dtype=np.int32).tolist():
            outputs.append(int(self.output[state, symbol]))
            state = int(self.next_state[state, symbol])
        return np.array(outputs, dtype=np.int32)


class MachineWorld(TableWorld):
    """The logs of a machine as walks. Position 0 is the start, at which every walk begins and to which none returns.

    The other positions are the pairs of a state and the output before it that can occur.
    """

    machine: MealyMachine
    state: Integers  # (P,) the machine's state at each position

    def __init__(self, machine: MealyMachine) -> None:
        state, observation = _positions(machine)
        size = len(machine.output_labels) + 1
        number = np.full(machine.num_states * size, -1)
        number[state * size + observation] = np.arange(len(state))
        target = machine.next_state[state].astype(np.int64) * size + machine.output[state] + 1  # (P, A)
        first = np.zeros(len(state))
        first[0] = 1
        super().__init__(
            next_position=number[target],
            observation=observation,
            num_observations=size,
            observation_labels=(_unused(START, machine.output_labels), *machine.output_labels),
            action_labels=machine.input_labels,
            start_probability=first,
            name=machine.name,
        )
        state.flags.writeable = False
        object.__setattr__(self, "machine", machine)
        object.__setattr__(self, "state", state)


def _positions(machine: MealyMachine) -> tuple[Integers, Integers]:
    """State (P,) and observation (P,) of each position, the start first, then in the order of their distance to it."""
    size = len(machine.output_labels) + 1
    following = machine.next_state.astype(np.int64) * size + machine.output + 1  # (Q, A)
    frontier = np.array([machine.initial * size])
    found = [frontier]
    met = np.zeros(machine.num_states * size, dtype=bool)
    met[frontier] = True
    while frontier.size:
        reached = np.unique(following[frontier // size])
        frontier = reached[~met[reached]]
        met[frontier] = True
        found.append(frontier)
    state, observation = np.divmod(np.concatenate(found), size)
    return state.astype(np.int32), observation.astype(np.int32)


def _unused(label: str, taken: Labels) -> str:
    return label if label not in taken else _unused(f"({label})", taken)


def machine_of_world(world: TableWorld) -> MealyMachine:
    """The smallest Mealy machine whose logs are the walks in a world from its first position.

    The inverse of `MachineWorld`. In a world without `start_probability` walks start at position 0.
    """
    start = 0 if world.start_probability is None else int(world.start_probability.argmax())
    output = world.observation[world.next_position]  # (P, A)
    labels = world.observation_labels or tuple(str(seen) for seen in range(world.num_observations))
    actions = world.action_labels or tuple(str(action) for action in range(world.num_actions))
    return minimised(MealyMachine(world.next_position, output, actions, labels, start, world.name))


def minimised(machine: MealyMachine) -> MealyMachine:
    """The smallest machine with the same outputs for all inputs from the initial state.

    States are numbered in the order in which they are first reached, trying inputs in their order. So machines of the
    same behaviour and labels become equal. Outputs that no longer occur are dropped.
    """
    group = _equivalent_states(machine)  # (Q,)
    member = np.zeros(group.max() + 1, dtype=np.int64)
    member[group] = np.arange(machine.num_states)  # any state of each group
    next_group = group[machine.next_state[member]]  # (groups, A)
    order = _reached_in_order(next_group, int(group[machine.initial]))
    number = np.full(len(member), -1)
    number[order] = np.arange(len(order))
    used, output = np.unique(machine.output[member[order]], return_inverse=True)
    return MealyMachine(
        next_state=number[next_group[order]],
        output=output.reshape(len(order), machine.num_inputs).astype(np.int32),
        input_labels=machine.input_labels,
        output_labels=tuple(machine.output_labels[index] for index in used),
        initial=0,
        name=machine.name,
    )


def _equivalent_states(machine: MealyMachine) -> Integers:
    """(Q,): the class of each state. No inputs distinguish two states of one class. Moore's partition refinement."""
    group = np.unique(machine.output, axis=0, return_inverse=True)[1].reshape(-1)
    while True:
        described = np.column_stack([group, group[machine.next_state]])  # (Q, 1 + A)
        finer = np.unique(described, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == group.max():
            return group.astype(np.int32)
        group = finer


def _reached_in_order(next_state: Integers, initial: int) -> list[int]:
    order, met = [initial], {initial}
    for state in order:  # grows while it is read
        for target in next_state[state].tolist():
            if target not in met:
                met.add(target)
                order.append(target)
    return order


def matching_states(first: MealyMachine, second: MealyMachine) -> Integers | None:
    """(Q,): the state of `second` for each state of `first`, if the machines are isomorphic; None if they are not.

    Isomorphic: as many states, all of them reached from the initial state, and every output equal under the bijection.
    Inputs and outputs are compared by their labels, in whatever order the machines have them.
    """
    if set(first.input_labels) != set(second.input_labels) or first.num_states != second.num_states:
        return None
    column = [second.input_labels.index(label) for label in first.input_labels]  # (A,)
    shown = [np.array(machine.output_labels)[machine.output] for machine in (first, second)]
    outputs = [shown[0].tolist(), shown[1][:, column].tolist()]
    follows = [first.next_state.tolist(), second.next_state[:, column].tolist()]
    partner = {first.initial: second.initial}
    queue = [first.initial]
    for state in queue:  # grows while it is read
        other = partner[state]
        if outputs[0][state] != outputs[1][other]:
            return None
        for target, match in zip(follows[0][state], follows[1][other], strict=True):
            if target not in partner:
                partner[target] = match
                queue.append(target)
            elif partner[target] != match:
                return None
    if len(partner) != first.num_states or len(set(partner.values())) != first.num_states:
        return None
    return np.array([partner[state] for state in range(first.num_states)], dtype=np.int32)


class MachineScore(NamedTuple):
    """A learned machine, some of whose moves may be unknown, against the true one."""

    states_found: int  # true states that stand behind some learned state
    states: int  # true states that can be reached
    wrong_moves: int  # known moves with another output than the truth, or to a state that stands for another
    unknown_moves: int  # of learned states that can be reached
    exact: bool  # no wrong and no unknown move, and one learned state for each true one


def score_machine(
    next_state: Integers, output: Integers, truth: MealyMachine, initial: int = 0
) -> MachineScore:
    """How a learned machine agrees with the truth, state by state from the initial ones along known moves.

    A learned state stands for the true state at which it is first met, nearest first. If moves meet it again at another
    true state, those moves are wrong.

    next_state: (Q, A) with the inputs of `truth`; -1 where a move is unknown.
    output: (Q, A) indices into the outputs of `truth`; ignored where a move is unknown.
    """
    partner = {initial: truth.initial}
    queue = [initial]
    wrong = unknown = 0
    for state in queue:  # grows while it is read
        true_state = partner[state]
        for symbol in range(truth.num_inputs):
            target = int(next_state[state, symbol])
            if target < 0:
                unknown += 1
                continue
            expected = int(truth.next_state[true_state, symbol])
            if target not in partner:
                partner[target] = expected
                queue.append(target)
            same = output[state, symbol] == truth.output[true_state, symbol]
            wrong += not (same and partner[target] == expected)
    found = len(set(partner.values()))
    states = len(_reached_in_order(truth.next_state, truth.initial))
    exact = not wrong and not unknown and found == states == len(partner)
    return MachineScore(found, states, wrong, unknown, exact)


def random_machine(states: int, inputs: int = 4, outputs: int = 4, seed: int = 0) -> MealyMachine:
    """A random machine that is minimal and whose states can all be reached from state 0, the initial one.

    A random tree reaches every state; all other moves and all outputs are uniformly random.
    """
    if min(states, inputs) < 1:
        raise BadWorld(f"`states` (={states}) and `inputs` (={inputs}) must be at least 1")
    if outputs < 1 + (states > 1):
        rule = f"`outputs` (={outputs}) must be at least 2 for more than one state"
        raise BadWorld(rule if states > 1 else f"`outputs` (={outputs}) must be at least 1")
    rng = np.random.default_rng(seed)
    for _ in range(_TRIES):
        machine = MealyMachine(
            next_state=_random_moves(rng, states, inputs),
            output=rng.integers(outputs, size=(states, inputs), dtype=np.int32),
            input_labels=tuple(f"i{number}" for number in range(inputs)),
            output_labels=tuple(f"o{number}" for number in range(outputs)),
            name=f"random-{states}",
        )
        if _equivalent_states(machine).max() + 1 == states:
            return machine
    sizes = f"`states` (={states}), `inputs` (={inputs}) and `outputs` (={outputs})"
    raise BadWorld(f"{sizes} must allow a minimal machine, none was found in {_TRIES} draws")


def _random_moves(rng: np.random.Generator, states: int, inputs: int) -> Integers:
    """(Q, A): random next states, such that state 0 reaches all others."""
    moves = rng.integers(states, size=(states, inputs))
    # Moves of the tree's states that are not in the tree, as state * inputs + input.
    free = list(range(inputs))
    for state in range(1, states):
        place = int(rng.integers(len(free)))
        free[place], free[-1] = free[-1], free[place]
        moves.flat[free.pop()] = state
        free += range(state * inputs, (state + 1) * inputs)
    return moves.astype(np.int32)


def shipped_machines() -> list[str]:
    """The names of the machines of real systems that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.json"))


def load_machine(path: str | Path) -> MealyMachine:
    """A machine from a `.json` or `.dot` file, or one of those that come with the package, by its name.

    JSON: `inputs`, `initial`, `next[state][input]`, `output[state][input]`, and a `name` if it has one. Graphviz: edges
    `s0 -> s1 [label="input/output"]`, and `__start0 -> s0` for the initial state.
    """
    path = Path(path)
    if str(path) in shipped_machines():
        path = SHIPPED / f"{path}.json"
    if path.suffix not in (".json", ".dot"):
        names = ", ".join(shipped_machines())
        raise BadWorld(f"a machine must be a .json or .dot file or one of {names}; got {str(path)!r:.200}")
    try:
        if path.suffix == ".dot":
            return machine_from_dot(read_text(path, BadWorld, "a digraph"), path.stem)
        return _machine_from_json(read_json(path, BadWorld), path.stem)
    except CogmapError as error:
        raise error if str(path) in str(error) else BadWorld(f"{path}: {error}") from None


def save_machine(path: str | Path, machine: MealyMachine) -> None:
    """Write a machine as JSON that `load_machine` reads."""
    labels = machine.output_labels
    write_json(
        path,
        {
            "name": machine.name,
            "inputs": list(machine.input_labels),
            "initial": machine.initial,
            "next": machine.next_state.tolist(),
            "output": [[labels[index] for index in row] for row in machine.output.tolist()],
        },
    )


def _machine_from_json(value: Any, name: str) -> MealyMachine:
    if not isinstance(value, Mapping):
        raise BadWorld(f"a machine must be a JSON object, got {type(value).__name__}")
    for key in ("inputs", "initial", "next", "output"):
        if key not in value:
            raise BadWorld(
                f"a machine must have {key!r}, got {(', '.join(map(repr, value)) or 'nothing')[:60]}"
            )
    inputs = _strings("inputs", value["inputs"])
    shown = [_strings("output", row) for row in _rows("output", value["output"])]
    labels = sorted({label for row in shown for label in row})
    number = {label: index for index, label in enumerate(labels)}
    initial = value["initial"]
    if type(initial) is not int:
        raise BadWorld(f"`initial` must be an integer, got {initial!r:.40}")
    given = value.get("name", name)
    return MealyMachine(
        next_state=_rectangle("next", _rows("next", value["next"])),
        output=_rectangle("output", [[number[label] for label in row] for row in shown]),
        input_labels=tuple(inputs),
        output_labels=tuple(labels),
        initial=initial,
        name=given if isinstance(given, str) else name,
    )


def _rows(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise BadWorld(f"`{name}` must be a list of lists, one for each state")
    return value


def _strings(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise BadWorld(f"`{name}` must hold strings, got {value!r:.60}")
    return value


def _rectangle(name: str, rows: list[list[Any]]) -> Integers:
    """(Q, A) of integers; the record checks their range and the number of columns."""
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise BadWorld(f"`{name}` must have one entry for each input in every state, got rows of {widths}")
    wrong = [entry for row in rows for entry in row if type(entry) is not int or abs(entry) >= 2**31]
    if wrong:
        raise BadWorld(f"`{name}` must hold states, got {wrong[0]!r:.40}")
    return np.array(rows, dtype=np.int32).reshape(len(rows), widths.pop() if widths else 0)


def machine_from_dot(text: str, name: str = "machine") -> MealyMachine:
    """A machine from Graphviz text as automata tools write it. Inputs and outputs are sorted by their labels."""
    initial: set[str] = set()
    moves: dict[tuple[str, str], tuple[str, str]] = {}  # state, input: next state, output
    states: dict[str, int] = {}
    for source, target, label in dot_edges(text):
        if source.startswith("__start"):
            initial.add(target)
            continue
        symbol, output = _input_and_output(source, target, label)
        for state in (source, target):
            states.setdefault(state, len(states))
        if moves.setdefault((source, symbol), (target, output)) != (target, output):
            raise BadWorld(
                f"a state must have one edge for each input, {source!r:.60} has two for {symbol!r:.60}"
            )
    if len(initial) != 1 or not initial <= set(states):
        got = ", ".join(sorted(initial)) or "none"
        raise BadWorld(f"a machine must have one edge from `__start0` to its initial state, got {got}")
    inputs = sorted({symbol for _, symbol in moves})
    outputs = sorted({output for _, output in moves.values()})
    number = {label: index for index, label in enumerate(outputs)}
    for state in states:
        for symbol in inputs:
            if (state, symbol) not in moves:
                raise BadWorld(
                    f"every state must have an edge for every input, {state!r:.60} has none for {symbol!r:.60}"
                )
    rows = [[moves[state, symbol] for symbol in inputs] for state in states]
    return MealyMachine(
        next_state=np.array([[states[target] for target, _ in row] for row in rows]),
        output=np.array([[number[output] for _, output in row] for row in rows]),
        input_labels=tuple(inputs),
        output_labels=tuple(outputs),
        initial=states[initial.pop()],
        name=name,
    )


def _input_and_output(source: str, target: str, label: str | None) -> tuple[str, str]:
    """Both halves of `input/output`; with blanks around one slash, that one divides them."""
    text = (label or "").strip()
    before, slash, after = text.partition(" / ") if " / " in text else text.partition("/")
    if not slash or not before.strip() or not after.strip():
        rule = 'an edge must have a label "input/output"'
        raise BadWorld(f"{rule}, {source} -> {target} has {label or 'none'!r:.60}")
    return before.strip(), after.strip()


def _table(name: str, given: ArrayLike, shape: tuple[int, int], bound: int) -> Integers:
    """A read-only copy of a table (Q, A) of integers below `bound`."""
    table = np.array(given)
    if table.shape != shape:
        raise BadWorld(f"`{name}` must have shape (Q, A) = {shape}, got {table.shape}")
    if table.dtype.kind not in "iu":
        raise BadWorld(f"`{name}` must hold integers, got dtype {table.dtype}")
    if table.min() < 0 or table.max() >= bound:
        raise BadWorld(f"`{name}` must be in [0, {bound}), got {table.min()} to {table.max()}")
    table = table.astype(np.int32)
    table.flags.writeable = False
    return table
