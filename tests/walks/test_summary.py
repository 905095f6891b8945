"""The summary of walks against arithmetic by hand and worlds that are known."""

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.records import TableWorld, Walks
from cogmap.walks.sample import sample_walks
from cogmap.walks.summary import min_places, next_entropy, summarise


def walks_of(observations, actions, lengths=None, **fields):
    observations = np.array(observations)
    lengths = np.full(len(observations), observations.shape[1]) if lengths is None else np.array(lengths)
    return Walks(
        observations, np.array(actions), lengths, **({"num_observations": 3, "num_actions": 2} | fields)
    )


def test_entropy_by_hand():
    # After 0 and action 0 come 1, 1, 2, 2: one bit. After 0 and action 1 comes 1, and 0 after 1 and 2: none.
    walks = walks_of([[0, 1, 0, 1, 0, 2, 0, 2, 0, 1]], [[0, 1, 0, 0, 0, 1, 0, 0, 1]])
    np.testing.assert_allclose(next_entropy(walks), [0.8, 0, 0])


def test_padding_is_not_counted():
    walks = walks_of([[0, 1, 0, 1], [1, 2, 0, 0]], [[0, 0, 0], [1, 0, 0]], lengths=[4, 2])
    assert summarise(walks).observation_counts.tolist() == [2, 3, 1]
    assert summarise(walks).action_counts.tolist() == [3, 1]
    np.testing.assert_allclose(next_entropy(walks), [0, 0, 0])


def test_min_places_by_enumeration():
    world = torus(3, 4, observations=3, seed=1)
    walks, _ = sample_walks(world, 200, 40, np.random.default_rng(0))
    bound = min_places(walks, look_ahead=2)
    expected = np.zeros(3, dtype=int)
    for observation in range(3):
        places = np.flatnonzero(world.observation == observation)
        for one in range(4):
            next_seen = set(world.observation[world.next_position[places, one]])
            expected[observation] = max(expected[observation], len(next_seen))
        for one, two in np.ndindex(4, 4):
            middle = world.next_position[places, one]
            end = world.next_position[middle, two]
            futures = set(zip(world.observation[middle], world.observation[end], strict=True))
            expected[observation] = max(expected[observation], len(futures))
    assert bound.tolist() == expected.tolist()
    assert (bound <= np.bincount(world.observation)).all()


def test_a_world_without_aliasing():
    world = TableWorld(np.array([[1, 0], [2, 1], [0, 2]]), np.arange(3), 3)
    summary = summarise(sample_walks(world, 10, 50, np.random.default_rng(0))[0])
    assert summary.mean_entropy == 0
    assert summary.min_places.tolist() == [1, 1, 1]
    assert summary.problems == ()


def test_an_aliased_room_has_conditional_entropy():
    summary = summarise(sample_walks(AliasedRoom(), 300, 100, np.random.default_rng(0))[0])
    assert summary.mean_entropy > 1
    assert summary.min_places.sum() > 100
    assert summary.problems == ()


@pytest.mark.parametrize(
    ("walks", "problem"),
    [
        (
            walks_of([[0, 1, 2], [1, 1, 0]], [[0, 1], [0, 0]], [3, 2]),
            "1 of 2 walks see only one observation, the first is walk 1",
        ),
        (
            walks_of([[0, 1, 2], [1, 0, 1]], [[0, 1], [1, 1]]),
            "1 of 2 walks take only one action, the first is walk 1",
        ),
        (walks_of([[0, 1, 2], [0, 1, 2]], [[0, 1], [0, 1]]), "1 of 2 walks are copies of others"),
        (
            walks_of([[0, 1, 0]], [[0, 1]], observation_labels=("a", "b", "c")),
            "1 of 3 observations are never seen: c",
        ),
        (walks_of([[0, 1, 2]], [[1, 1]]), "1 of 2 actions are never taken: 0"),
        (
            walks_of([[0, 7, 0, 9]], [[0, 1, 0]], num_observations=10),
            "7 of 10 observations are never seen: 1, 2, 3, 4, 5, ...; a model has weights for each, so write "
            "numbers with such gaps as words",
        ),
        (walks_of([[0, 1, 0, 2, 0]], [[0, 1, 0, 1]]), "2 of 3 observations are seen only once"),
    ],
)
def test_problems(walks, problem):
    assert problem in summarise(walks).problems


def test_tables_and_sorted_sequences_count_alike(monkeypatch):
    walks, _ = sample_walks(AliasedRoom(6, 8, 4), 40, 60, np.random.default_rng(0))
    by_table = summarise(walks)
    monkeypatch.setattr("cogmap.walks.summary._TABLE", 0)
    by_sorting = summarise(walks)
    np.testing.assert_array_equal(by_table.min_places, by_sorting.min_places)
    np.testing.assert_allclose(by_table.next_entropy, by_sorting.next_entropy)
