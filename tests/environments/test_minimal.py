"""Minimal worlds: walks in them look as they do in the world, and no two places are alike."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities
from cogmap.environments.gym_tables import frozen_lake
from cogmap.environments.minimal import minimal_truth, minimal_world
from cogmap.environments.oracle import equivalent_positions
from cogmap.environments.room import AliasedRoom
from cogmap.records import ChanceWorld, TableWorld, Truth


def test_a_minimal_world_stays_itself():
    room = AliasedRoom(6, 8, 4, seed=0)
    assert minimal_world(room) is room


def test_places_that_nothing_distinguishes_become_one():
    """Of a ring that repeats itself after three places, three are left; a door leads one way only."""
    ring = TableWorld(
        np.array([[1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [0, 5]]),
        np.array([0, 0, 1, 0, 0, 1]),
        2,
        start_probability=np.array([0.5, 0, 0, 0.25, 0.25, 0]),
    )
    found = minimal_world(ring)
    assert found.num_positions == 3
    start = int(np.flatnonzero(np.isclose(found.start_probability, 0.75))[0])
    after = found.next_position[start, 0]
    assert found.start_probability[after] == 0.25
    assert found.observation[found.next_position[after, 0]] == 1
    assert (found.next_position[:, 1] == np.arange(3)).all()


def test_the_truth_of_a_log_names_places_that_walks_can_distinguish():
    """Two closed doors differ in where a key leads that is not offered there; one is behind the other."""
    world = TableWorld(
        np.array([[1, 0], [2, 0], [0, 0], [2, 3]]),
        np.array([0, 1, 0, 1]),
        2,
        legal=np.array([[True, False], [True, False], [True, False], [True, False]]),
    )
    truth = Truth(np.array([[0, 1, 2, 0, 1]]), world)
    found = minimal_truth(truth)
    assert found.world.num_positions == 3  # both rooms with a door that leads to 2 are one
    assert found.positions[0, 1] == found.positions[0, 4] != found.positions[0, 0]
    moved = found.world.next_position[found.positions[0, :-1], 0]
    np.testing.assert_array_equal(moved, found.positions[0, 1:])
    drawn = Truth(truth.positions, replace(world, coordinates=np.zeros((4, 2))))
    assert minimal_truth(drawn) is drawn


def test_moves_of_a_world_with_chance_are_added_up():
    moves = np.zeros((4, 1, 4))
    moves[0, 0, 1:3] = 0.25, 0.25
    moves[0, 0, 3] = 0.5
    moves[1:, 0, 0] = 1
    found = minimal_world(from_probabilities(moves, np.array([0, 1, 1, 2])))
    assert isinstance(found, ChanceWorld)
    assert found.num_positions == 3  # places 1 and 2 are alike
    assert found.move_probability.tolist() == [0.5, 0.5, 1, 1]


@pytest.mark.parametrize(("slippery", "kind"), [(True, ChanceWorld), (False, TableWorld)])
def test_the_holes_of_a_lake_are_one(slippery, kind):
    pytest.importorskip("gymnasium")
    found = minimal_world(frozen_lake("4x4", slippery))
    assert type(found) is kind
    assert found.num_positions == 13  # 16 tiles, four of them holes
    assert equivalent_positions(found).max() == 12
