"""Machines in files: JSON, Graphviz as automata tools write it, and those that come with the package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.environments.dot import dot_edges
from cogmap.environments.mealy import MealyMachine
from cogmap.errors import BadWorld, CogmapError
from cogmap.files import read_json, read_text, write_json
from cogmap.records import Integers

SHIPPED = Path(__file__).resolve().parents[1] / "data" / "machines"


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
