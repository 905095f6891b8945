"""States that hide several: their future depends on how they were entered, which chance alone does not bring about."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.records import Walks
from cogmap.search.doubt import depends_on, entries, last_times
from cogmap.walks.sample import Agent, sample_walks

PLACES = 30


@pytest.fixture(scope="module")
def slippery():
    return sample_walks(AliasedRoom(5, 6, 4, seed=0), 60, 200, np.random.default_rng(0), Agent(slip=0.3))


def test_the_places_of_a_room_with_slips_hide_nothing(slippery) -> None:
    walks, truth = slippery
    way = entries(walks, truth.positions)
    assert not depends_on(walks, truth.positions, way, PLACES).any()


def test_two_places_that_look_alike_taken_for_one_are_found(slippery) -> None:
    walks, truth = slippery
    looks = truth.world.observation
    one, other = np.flatnonzero(looks == looks[0])[[0, -1]]
    merged = np.where(truth.positions == other, one, truth.positions)
    assert depends_on(walks, merged, entries(walks, merged), PLACES)[one]


def test_a_reason_by_chance_says_nothing(slippery) -> None:
    walks, truth = slippery
    reason = np.random.default_rng(1).integers(-1, 3, truth.positions.shape)
    assert not depends_on(walks, truth.positions, reason, PLACES).any()


def test_an_entry_stays_the_same_while_the_agent_stays() -> None:
    walks, _ = sample_walks(AliasedRoom(2, 2, 2, seed=0), 1, 5, np.random.default_rng(0))
    way = entries(walks, np.array([[3, 3, 1, 1, 2]]))[0]
    assert way[0] == way[1] == 0
    assert way[2] == way[3] == 1 + 3 * walks.num_actions + walks.actions[0, 1]
    assert way[4] == 1 + 1 * walks.num_actions + walks.actions[0, 3]


def test_where_an_action_led_the_last_time() -> None:
    walks = Walks(np.zeros((2, 5), int), np.array([[0, 1, 0, 0], [0, 0, 0, 0]]), np.full(2, 5), 1, 2)
    path = np.array([[3, 2, 3, 3, 1], [3, 4, 3, 1, 1]])
    # The first walk takes action 0 at state 3 three times, and nothing is known of it in the second one.
    assert last_times(walks, path).tolist() == [[-1, -1, 2, 3, -1], [-1, -1, 4, -1, -1]]


def test_what_a_walk_keeps_with_it_shows_at_the_second_time(slippery) -> None:
    """A hidden coin decides where a state leads to, the same way in all of a walk."""
    walks, truth = slippery
    coin = np.random.default_rng(0).integers(0, 2, len(truth.positions))[:, None]
    path = np.where((truth.positions == 3) & (coin == 1), PLACES, truth.positions)
    merged = np.where(path == 4, 5, path)  # a state that hides nothing of the coin is not suspected
    doubtful = depends_on(walks, merged, last_times(walks, merged), PLACES + 1)
    assert doubtful.any()
    assert not depends_on(walks, truth.positions, last_times(walks, truth.positions), PLACES).any()
