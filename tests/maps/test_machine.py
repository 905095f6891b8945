"""A map as a Mealy machine: the states that the machine of the log has, and files that automata tools read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cogmap.environments.machines import (
    MachineWorld,
    load_machine,
    random_machine,
    score_machine,
    shipped_machines,
)
from cogmap.errors import BadOutput
from cogmap.evaluation.ged import true_map
from cogmap.maps.machine import has_outputs_on_moves, machine_of_map, write_machine


@pytest.mark.parametrize("name", shipped_machines())
def test_the_true_map_of_a_machine_is_that_machine(name: str) -> None:
    machine = load_machine(name)
    found = machine_of_map(true_map(MachineWorld(machine)))
    # Observation 0 is `start`.
    score = score_machine(found.next_state, found.output - 1, machine, found.initial)
    assert score.exact
    assert found.num_states == machine.num_states


def test_moves_that_were_never_tried_are_left_open_and_do_not_make_states() -> None:
    world = MachineWorld(random_machine(5, 4, 3, seed=0))
    whole = true_map(world)
    kept = np.arange(whole.num_edges) != 7
    cut = type(whole)(
        **{
            name: getattr(whole, name)
            for name in ("node_observation", "node_support", "code_tuples", "code_node", "num_observations")
        },
        kind="minimal",
        edge_source=whole.edge_source[kept],
        edge_action=whole.edge_action[kept],
        edge_target=whole.edge_target[kept],
        edge_support=whole.edge_support[kept],
        num_actions=whole.num_actions,
        explained=1.0,
    )
    assert machine_of_map(cut).num_states == machine_of_map(whole).num_states


def test_a_machine_is_suggested_where_it_is_simpler() -> None:
    from cogmap.environments.room import AliasedRoom

    machine = true_map(MachineWorld(load_machine("VerneMQ__two_client_will_retain")))
    assert has_outputs_on_moves(type(machine)(**{**vars(machine), "kind": "minimal"}))
    room = true_map(AliasedRoom(4, 5, 3))
    assert not has_outputs_on_moves(type(room)(**{**vars(room), "kind": "minimal"}))


def test_files_are_read_back(tmp_path) -> None:
    machine = random_machine(4, 3, 2, seed=1)
    found = machine_of_map(true_map(MachineWorld(machine)))
    for suffix in (".dot", ".json"):
        path = tmp_path / f"machine{suffix}"
        write_machine(path, found)
        back = load_machine(path)
        outputs = np.array([machine.output_labels.index(label) for label in back.output_labels])
        assert score_machine(back.next_state, outputs[back.output], machine, back.initial).exact
    assert json.loads((tmp_path / "machine.json").read_text())["initial"] == found.initial
    with pytest.raises(BadOutput, match=r"a machine must end in .dot, .json, got 'machine.xml'"):
        write_machine(tmp_path / "machine.xml", found)
