"""Base targets against the paper's definition, read step by step."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cogmap.environments.room_family import room_families
from cogmap.records import Walks
from cogmap.walks.family import base_targets
from cogmap.walks.sample import sample_family_walks


def by_definition(observations, length):
    """Section 4.5, less one: the rank of x_n among the distinct observations of x_0, ..., x_n."""
    ranks = [sorted(set(observations[: n + 1])).index(observations[n]) for n in range(length)]
    return ranks + [0] * (len(observations) - length)


@given(st.data())
def test_against_the_definition(data):
    walks, steps = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 12))
    observations = data.draw(arrays(np.int32, (walks, steps), elements=st.integers(0, 6)))
    lengths = data.draw(arrays(np.int32, (walks,), elements=st.integers(2, steps)))
    record = Walks(observations, np.zeros((walks, steps - 1), int), lengths, 7, 1)
    expected = [by_definition(list(row), length) for row, length in zip(observations, lengths, strict=True)]
    assert base_targets(record).tolist() == expected


def test_one_target_may_stand_for_two_observations():
    record = Walks(np.array([[5, 5, 2, 5, 2]]), np.zeros((1, 4), int), np.array([5]), 6, 1)
    assert base_targets(record).tolist() == [[0, 0, 0, 1, 0]]


def test_in_the_end_rooms_of_a_family_agree_up_to_the_order_of_their_colours():
    family, _ = room_families(train_rooms=50, test_rooms=1)
    walks, truth, rooms = sample_family_walks(family, 40, 300, np.random.default_rng(0))
    rank = np.argsort(np.argsort(family.colours, axis=1), axis=1)  # (R, O) of each set's colour in its room
    sets = family.base.observation[truth.positions[:, -1]]
    assert (base_targets(walks)[:, -1] == rank[rooms, sets]).all()
