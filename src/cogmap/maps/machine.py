"""A map as a Mealy machine: what is seen belongs to a move, and places that differ only in it are one state.

Requests and responses, keys and screens: in such logs an observation says what the last action gave, not where one is.
A place of the map is then a state together with the output that led to it. The states are the classes of places with
the same outputs and the same states after every action: partition refinement, which is exact on a map whose moves are
known. A place with moves that were never tried joins the class that fits, if there is only one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.errors import BadOutput
from cogmap.files import write_json, write_whole
from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.records import Booleans, CognitiveMap, Integers, Labels, label_of

SUFFIXES = (".dot", ".json")
_FEWER = 0.7  # of the places: a machine with more states than this is no simpler than the map


@dataclass(frozen=True, eq=False)
class LearnedMachine:
    """In state s, input a gives `output[s, a]` and leads to `next_state[s, a]`; -1 where it was never tried."""

    next_state: Integers  # (Q, A)
    output: Integers  # (Q, A) an observation
    node_state: Integers  # (V,) the state of each node of the map
    initial: int
    observation_labels: Labels | None = None
    action_labels: Labels | None = None

    @property
    def num_states(self) -> int:
        return self.next_state.shape[0]


def machine_of_map(cognitive_map: CognitiveMap) -> LearnedMachine:
    """The smallest machine whose states and outputs on moves give the likeliest edges of a map."""
    found = cognitive_map.deterministic()
    following = np.full((found.num_nodes, found.num_actions), UNKNOWN, dtype=np.int32)
    following[found.edge_source, found.edge_action] = found.edge_target
    output = np.where(following >= 0, found.node_observation[following], UNKNOWN)
    state = classes_of_places(following, output)
    number = int(state.max(initial=-1)) + 1
    next_state, shown = (np.full((number, found.num_actions), UNKNOWN, dtype=np.int32) for _ in range(2))
    for node in np.argsort(found.node_support, kind="stable"):  # the last write is the most visited node's
        known = following[node] >= 0
        next_state[state[node], known] = state[following[node, known]]
        shown[state[node], known] = output[node, known]
    return LearnedMachine(
        next_state, shown, state, int(state[_first(found)]), found.observation_labels, found.action_labels
    )


def has_outputs_on_moves(cognitive_map: CognitiveMap) -> bool:
    """Whether a map is much simpler as a machine, as where the same screen follows many keys."""
    if cognitive_map.kind != "minimal" or cognitive_map.num_nodes < 4:
        return False
    return machine_of_map(cognitive_map).num_states < _FEWER * cognitive_map.num_nodes


def write_machine(path: str | Path, machine: LearnedMachine) -> None:
    """Write a machine in the form that automata tools read (.dot), or as tables (.json)."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise BadOutput(f"a machine must end in {', '.join(SUFFIXES)}, got {path.name!r}")
    if path.suffix == ".json":
        write_json(path, _tables(machine, path.stem))
        return
    with write_whole(path) as stream:
        stream.write(("\n".join(_dot_lines(machine)) + "\n").encode())


def classes_of_places(following: Whole, output: Whole) -> Integers:
    """(V,) the class of each node, by refinement of those whose every move is known; the others join if they can."""
    whole = np.asarray((following >= 0).all(axis=1))
    state: Whole = np.unique(output, axis=0, return_inverse=True)[1].reshape(-1)
    while True:
        signature = np.column_stack((output, np.where(following >= 0, state[following], UNKNOWN)))
        finer = _joined(signature, whole)
        if finer.max(initial=-1) <= state.max(initial=-1):
            return finer.astype(np.int32)
        state = finer


def _joined(signature: Whole, whole: Booleans) -> Whole:
    """(V,) classes of equal rows; a row with unknown entries joins the only class that it does not contradict."""
    _, state = np.unique(signature, axis=0, return_inverse=True)
    state = state.reshape(-1)
    core, first = np.unique(state[whole], return_index=True)
    rows = signature[whole][first]
    for node in np.flatnonzero(~whole):
        known = signature[node] >= 0
        fits = np.flatnonzero((rows[:, known] == signature[node, known]).all(axis=1))
        if len(fits) == 1:
            state[node] = core[fits[0]]
    return np.unique(state, return_inverse=True)[1]


def _first(found: CognitiveMap) -> int:
    """The node that logs start from: one that no other leads to, if there is one, else the most visited."""
    entered = np.zeros(found.num_nodes, dtype=bool)
    entered[found.edge_target[found.edge_source != found.edge_target]] = True
    candidates = np.flatnonzero(~entered) if (~entered).any() else np.arange(found.num_nodes)
    return int(candidates[found.node_support[candidates].argmax()])


def _tables(machine: LearnedMachine, name: str) -> dict[str, Any]:
    inputs = machine.next_state.shape[1]
    return {
        "name": name,
        "inputs": [str(label_of(machine.action_labels, action)) for action in range(inputs)],
        "initial": machine.initial,
        "next": [[int(entry) if entry >= 0 else None for entry in row] for row in machine.next_state],
        "output": [
            [str(label_of(machine.observation_labels, entry)) if entry >= 0 else None for entry in row]
            for row in machine.output
        ],
    }


def _dot_lines(machine: LearnedMachine) -> list[str]:
    lines = ["digraph machine {", '  __start0 [label="", shape=none];']
    lines += [f'  s{state} [label="s{state}", shape=circle];' for state in range(machine.num_states)]
    for state, action in np.argwhere(machine.next_state >= 0).tolist():
        given = label_of(machine.action_labels, action)
        shown = label_of(machine.observation_labels, int(machine.output[state, action]))
        label = json.dumps(f"{given}/{shown}", ensure_ascii=False)
        lines.append(f"  s{state} -> s{machine.next_state[state, action]} [label={label}];")
    return [*lines, f"  __start0 -> s{machine.initial};", "}"]
