"""Folding the tree of histories, and leading wrong moves elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.machines import MachineWorld, random_machine
from cogmap.maps.fold import fold, history_tree
from cogmap.maps.reroute import reroute
from cogmap.records import Walks
from cogmap.walks.sample import Agent, sample_walks


def log_of(seed: int, walks: int = 200, steps: int = 40):
    world = MachineWorld(random_machine(6, 3, 3, seed))
    sampled, truth = sample_walks(world, walks, steps, np.random.default_rng(seed), Agent(start=0))
    return world, sampled, truth.positions


def test_the_tree_has_a_node_for_every_history() -> None:
    walks = Walks(
        np.array([[0, 1, 0], [0, 1, 1], [0, 2, 0]]), np.array([[0, 0], [0, 1], [1, 0]]), np.full(3, 3), 3, 2
    )
    tree = history_tree(walks)
    assert tree is not None
    assert tree.visits.tolist() == [3, 2, 1, 1, 1, 1]
    assert tree.node[0, :2].tolist() == tree.node[1, :2].tolist()
    assert tree.shows[tree.node].tolist() == walks.observations.tolist()


def test_one_history_with_two_continuations_has_no_tree() -> None:
    walks = Walks(np.array([[0, 1], [0, 2]]), np.zeros((2, 1), int), np.full(2, 2), 3, 1)
    assert history_tree(walks) is None


@pytest.mark.parametrize("seed", range(6))
def test_histories_of_different_places_are_never_one_state(seed: int) -> None:
    """Without any guess, from what was seen alone; the few steps near the ends of walks may be left out."""
    _, walks, positions = log_of(seed)
    tree = history_tree(walks)
    assert tree is not None
    state = fold(tree, walks.observations)
    known = state >= 0
    assert known.mean() > 0.9
    pairs = np.unique(np.stack([state[known], positions[known]]), axis=1)
    assert len(pairs[0]) == len(np.unique(pairs[0])) == len(np.unique(positions))


@pytest.mark.parametrize("seed", range(6))
def test_a_move_to_a_wrong_place_that_looks_right_is_led_back(seed: int) -> None:
    world, walks, positions = log_of(seed)
    table, shows = world.next_position.astype(np.int32), world.observation
    tried = np.zeros(table.shape, dtype=int)
    np.add.at(tried, (positions[:, :-1], walks.actions), 1)
    for place, action in np.argwhere(tried >= 20):
        others = np.flatnonzero((shows == shows[table[place, action]]) & (tried.sum(axis=1) > 0))
        others = others[others != table[place, action]]
        if not len(others):
            continue
        wrong = table.copy()
        wrong[place, action] = others[0]
        found = reroute(walks, wrong, shows, positions)
        assert found is not None
        assert (found == table).all()
        return
    pytest.fail("no move has another target that looks the same")


def test_moves_that_nothing_contradicts_stay() -> None:
    world, walks, positions = log_of(0)
    assert reroute(walks, world.next_position.astype(np.int32), world.observation, positions) is None
