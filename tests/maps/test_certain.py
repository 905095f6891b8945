"""Maps of worlds without chance: what is proven is kept, what is not is left out and counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.machines import MachineWorld, load_machine, score_machine
from cogmap.maps import build
from cogmap.maps.build import build_map
from cogmap.maps.certain import followed_share
from cogmap.maps.fold import Machine
from cogmap.maps.machine import machine_of_map
from cogmap.records import Codes, CognitiveMap, PredictedFutures, Truth, Walks
from cogmap.walks.sample import Agent, sample_walks


def log_of(
    name: str, walks: int, steps: int, agent: Agent | None = None
) -> tuple[MachineWorld, Walks, Truth]:
    world = MachineWorld(load_machine(name))
    sampled, truth = sample_walks(world, walks, steps, np.random.default_rng(0), agent or Agent())
    return world, sampled, truth


def futures_of(world: MachineWorld, met: np.ndarray) -> PredictedFutures:
    """What a perfect model predicts after one and two actions, at each position that was met."""
    actions = range(world.num_actions)
    tests = [(one, -1) for one in actions] + [(one, two) for one in actions for two in actions]
    after = world.next_position[met]  # (J, A)
    ends = np.concatenate([after, world.next_position[after].reshape(len(met), -1)], axis=1)
    certain = np.eye(world.num_observations, dtype=np.float32)[world.observation[ends]]
    return PredictedFutures(np.array(tests, dtype=np.int32), certain)


def map_of(world: MachineWorld, walks: Walks, positions: np.ndarray) -> CognitiveMap:
    """The map by a model whose codes are the positions and which predicts all that comes next."""
    codes = Codes(positions[..., None].astype(np.int32), walks.lengths, int(positions.max()) + 1)
    futures = futures_of(world, np.unique(positions))
    return build_map(codes, walks, futures=futures, predicted=walks.observations[:, 1:])


@pytest.mark.parametrize("name", ["CC2650", "coffee_mealy", "cc2652r1"])
def test_a_machine_tried_often_is_exact_and_has_no_warning(name: str) -> None:
    world, walks, truth = log_of(name, 400, 60)
    found = map_of(world, walks, truth.positions)
    machine = machine_of_map(found)
    assert score_machine(machine.next_state, machine.output - 1, world.machine, machine.initial).exact
    assert found.explained == 1.0
    assert not found.warnings


def test_a_rare_state_stays_and_moves_that_are_not_proven_are_left_out() -> None:
    world, walks, truth = log_of("miTLS_0.1.3_server_regular", 1000, 30)
    found = map_of(world, walks, truth.positions)
    machine = machine_of_map(found)
    score = score_machine(machine.next_state, machine.output - 1, world.machine, machine.initial)
    assert score.wrong_moves == 0
    assert score.unknown_moves > 0
    assert "moves were tried too seldom to know where they lead" in found.warnings[0]
    visits = np.bincount(world.state[truth.positions.ravel()], minlength=score.states)
    assert (visits >= 10).sum() <= score.states_found <= (visits > 0).sum()


def test_imagined_moves_are_right_and_have_no_support() -> None:
    world, walks, truth = log_of("CC2650", 60, 60)
    found = map_of(world, walks, truth.positions)
    imagined = np.asarray(found.edge_imagined)
    assert imagined.any()
    assert (found.edge_support[imagined] == 0).all()
    assert (found.edge_support[~imagined] > 0).all()
    position = np.full(found.num_nodes, -1)
    position[found.code_node[found.code_node >= 0]] = found.code_tuples[found.code_node >= 0, 0]
    source, target = position[found.edge_source[imagined]], position[found.edge_target[imagined]]
    assert (world.next_position[source, found.edge_action[imagined]] == target).all()


def test_chance_is_left_to_the_search() -> None:
    world, walks, truth = log_of("coffee_mealy", 100, 30, Agent(slip=0.2))
    found = map_of(world, walks, truth.positions)
    assert not np.asarray(found.edge_imagined).any()


@pytest.mark.parametrize(
    ("followed", "predicted", "searched", "imagined"),
    [(1.0, 0.9, 0, True), (0.5, 0.9, 1, False), (0.5, 1.0, 1, True)],
)
def test_a_machine_that_cannot_be_followed_gives_way_to_a_search_that_predicts_more(
    followed: float, predicted: float, searched: int, imagined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a folded machine has imagined moves in this log."""
    fold_codes, find_states, searches = build.fold_codes, build.find_states, []

    def folded(*args):
        certain = fold_codes(*args)
        assert certain is not None
        return replace(certain, followed=followed, predicted=predicted)

    def counted(*args):
        searches.append(args)
        return find_states(*args)

    monkeypatch.setattr(build, "fold_codes", folded)
    monkeypatch.setattr(build, "find_states", counted)
    monkeypatch.setattr(build, "fold_states", lambda *args: None)
    world, walks, truth = log_of("CC2650", 60, 60)
    found = map_of(world, walks, truth.positions)
    assert len(searches) == searched
    assert np.asarray(found.edge_imagined).any() == imagined


@pytest.mark.parametrize(
    ("seen", "share"),
    [([0, 1, 0, 1], 1.0), ([0, 0, 0, 0], 0.0), ([0, 1, 0, 0], 0.0)],
)
def test_walks_are_followed_until_a_move_is_unknown_and_must_not_be_contradicted(
    seen: list[int], share: float
) -> None:
    """Action 0 moves between two states and shows which; nothing is known of action 1."""
    machine = Machine(
        np.array([[1, -1], [0, -1]]),
        np.array([[1, -1], [0, -1]]),
        np.zeros(2),
        np.zeros((1, 1)),
    )
    actions = np.zeros((1, 3), dtype=int)
    walk = Walks(np.array([seen]), actions, np.array([4]), 2, 2)
    assert followed_share(machine, walk) == share
    assert followed_share(machine, Walks(walk.observations, np.array([[0, 1, 0]]), walk.lengths, 2, 2)) == (
        0.0 if seen[1] == 0 else 1 / 3
    )
