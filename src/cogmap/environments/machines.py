"""Mealy machines as worlds to walk in, and random machines.

A machine gives an output for each input. A log of it is a walk: an action is an input, an observation is the output
that the input gave, and the first observation is `start`. What is seen belongs to a move here and not to a place, so a
position of the world is a state together with the output that led to it.
"""

from __future__ import annotations

import numpy as np

from cogmap.environments.machine_equivalence import (
    MachineScore,
    equivalent_states,
    matching_states,
    minimised,
    score_machine,
)
from cogmap.environments.machine_files import load_machine, machine_from_dot, save_machine, shipped_machines
from cogmap.environments.mealy import MealyMachine
from cogmap.errors import BadWorld
from cogmap.records import Integers, Labels, TableWorld

__all__ = [
    "MachineScore",
    "MachineWorld",
    "MealyMachine",
    "load_machine",
    "machine_from_dot",
    "machine_of_world",
    "matching_states",
    "minimised",
    "random_machine",
    "save_machine",
    "score_machine",
    "shipped_machines",
]

START = "start"  # the label of the observation before the first input
_TRIES = 100  # draws of a random machine until one is minimal


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
        if equivalent_states(machine).max() + 1 == states:
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
