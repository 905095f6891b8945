"""A map in the files of model checkers: read back by a tiny reader, and by storm, whose probabilities are ours."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities
from cogmap.environments.policies import arriving_under, fewest_steps, surest
from cogmap.evaluation.ged import true_map
from cogmap.maps.export import export_map
from cogmap.records import CognitiveMap


def example() -> CognitiveMap:
    """From 0 to the goal 3 past 1, with a risk of ending in the trap 4; one-way, so that an axis cannot be mistaken."""
    moves = np.zeros((5, 2, 5))
    moves[0, 0, [1, 4]] = 0.7, 0.3
    moves[0, 1, [0, 2]] = 0.9, 0.1
    moves[1, :, 3] = 1
    moves[2, 0, [1, 4]] = 0.9, 0.1
    moves[2, 1, 2] = 1
    moves[3:, :, :] = np.eye(5)[3:, None]
    world = from_probabilities(
        moves,
        np.array([0, 1, 1, 2, 3]),
        observation_labels=("start", "wet floor", "goal", "hole"),
        action_labels=("go", "wait!"),
    )
    chosen = np.flatnonzero(~((world.move_source == 4) & (world.move_action == 1)))
    return replace(
        true_map(world),
        edge_source=world.move_source[chosen],
        edge_action=world.move_action[chosen],
        edge_target=world.move_target[chosen],
        edge_support=np.ones(len(chosen), dtype=int),
        edge_probability=world.move_probability[chosen],
        edge_imagined=None,
        edge_reward=np.arange(len(chosen), dtype=float),
    )


def table(found):
    return {
        (int(s), int(a), int(t)): float(p)
        for s, a, t, p in zip(
            found.edge_source, found.edge_action, found.edge_target, found.edge_probability, strict=True
        )
    }


ACTIONS = {"do_go": 0, "do_wait_33_": 1}


def read_drn(text: str) -> dict[tuple[int, int, int], float]:
    read, state, action = {}, -1, -1
    for line in text.split("@model\n")[1].splitlines():
        if match := re.match(r"state (\d+) ", line):
            state = int(match[1])
        elif match := re.match(r"\taction (\w+) ", line):
            action = ACTIONS[match[1]]
        elif match := re.match(r"\t\t(\d+) : (.+)", line):
            read[state, action, int(match[1])] = float(match[2])
    return read


def read_prism(text: str) -> dict[tuple[int, int, int], float]:
    read = {}
    for name, node, update in re.findall(r"\[(\w+)\] node=(\d+) -> (.*);", text):
        for chance, target in re.findall(r"(\S+) : \(node'=(\d+)\)", update):
            read[int(node), ACTIONS[name], int(target)] = float(chance)
    return read


def test_both_files_hold_every_move(tmp_path: Path) -> None:
    found = example()
    for suffix, reader in ((".drn", read_drn), (".prism", read_prism)):
        export_map(found, tmp_path / f"map{suffix}")
        assert reader((tmp_path / f"map{suffix}").read_text()) == pytest.approx(table(found))
    assert "sees_wet_32_floor" in (tmp_path / "map.drn").read_text()


def _value(result, state: int) -> float:
    """Of storm 2; before, `at` had this name."""
    return float(result.get_value(state) if hasattr(result, "get_value") else result.at(state))


@pytest.mark.parametrize("suffix", [".drn", ".prism"])
def test_storm_finds_our_probability_of_arriving_and_our_steps(tmp_path: Path, suffix: str) -> None:
    stormpy = pytest.importorskip("stormpy", reason="storm is not installed: pip install stormpy")
    from cogmap.planning.policies import moves_of_map

    found = example()
    path = tmp_path / f"map{suffix}"
    export_map(found, path)
    asked = 'Pmax=? [F "sees_goal"]; R{"steps"}min=? [F ("sees_goal" | "sees_hole")]'
    if suffix == ".drn":
        formulas, model = stormpy.parse_properties(asked), stormpy.build_model_from_drn(str(path))
    else:
        program = stormpy.parse_prism_program(str(path))
        formulas = stormpy.parse_properties(asked, program)
        model = stormpy.build_model(program, formulas)
    first = model.initial_states[0]
    probability, steps = (_value(stormpy.model_checking(model, formula), first) for formula in formulas)
    moves, goal = moves_of_map(found), found.node_observation == 2
    assert probability == pytest.approx(surest(moves, goal).value[0], abs=1e-5)
    ends = goal | (found.node_observation == 3)
    assert steps == pytest.approx(fewest_steps(moves, ends).value[0], rel=1e-5)
    assert arriving_under(moves, surest(moves, goal).action, goal)[0][0] == pytest.approx(
        probability, abs=1e-5
    )
