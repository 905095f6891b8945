"""Positions that no sequence of actions distinguishes, checked by trying all sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cogmap.environments import AliasedRoom, TableWorld, from_tables, torus
from cogmap.environments.oracle import aliasing, equivalent_positions


def all_futures(world: TableWorld, position: int, depth: int) -> tuple[int, ...]:
    """What is seen after every sequence of up to `depth` actions."""
    seen = []
    for actions in itertools.product(range(world.num_actions), repeat=depth):
        place = position
        for action in actions:
            seen.append(int(world.observation[place]))
            place = int(world.next_position[place, action])
        seen.append(int(world.observation[place]))
    return tuple(seen)


@pytest.mark.parametrize("seed", range(20))
def test_equivalent_positions_have_the_same_futures(seed):
    rng = np.random.default_rng(seed)
    world = from_tables(rng.integers(6, size=(6, 2)), rng.integers(2, size=6), num_observations=2)
    group = equivalent_positions(world)
    futures = [all_futures(world, position, depth=6) for position in range(6)]
    for first, second in itertools.product(range(6), repeat=2):
        assert (group[first] == group[second]) == (futures[first] == futures[second])


def test_a_torus_of_one_colour_is_one_place():
    found = aliasing(torus(3, 4, observations=1))
    assert (found.places, found.seen, found.shared, found.places_sharing, found.most) == (12, 1, 1, 12, 12)
    assert found.told_apart == 1
    assert found.sentence().endswith("; 11 places can never be distinguished from others")


def test_walking_distinguishes_all_places_of_a_room_with_few_colours():
    found = aliasing(AliasedRoom(6, 8, observations=4, seed=0))
    assert found.told_apart == found.places == 48
    assert found.places_sharing == 48
    assert "never" not in found.sentence()


def test_places_with_a_unique_observation_share_nothing():
    found = aliasing(from_tables([[1], [2], [0]], [0, 1, 0], num_observations=5))
    assert (found.seen, found.shared, found.places_sharing, found.most) == (2, 1, 2, 2)
