"""Walks cut in time, against slices of each walk."""

import numpy as np
import pytest

from cogmap.records import Walks
from cogmap.walks.cut import cut_walks


def _walks(lengths, seed=0):
    rng = np.random.default_rng(seed)
    longest = max(lengths)
    seen, done = rng.integers(1, 5, (len(lengths), longest)), rng.integers(1, 3, (len(lengths), longest - 1))
    mask = np.arange(longest) < np.array(lengths)[:, None]
    return Walks(seen * mask, done * mask[:, 1:], np.array(lengths), 5, 3)


@pytest.mark.parametrize("lengths", [[100], [50, 2000], [40, 41, 400]])
def test_both_parts_are_slices_of_each_walk(lengths):
    walks = _walks(lengths)
    cut = cut_walks(walks)
    number = np.arange(walks.observations.size).reshape(walks.observations.shape)
    for walk, length in enumerate(lengths):
        at = int(0.9 * length)
        seen, done = walks.observations[walk], walks.actions[walk]
        assert (cut.first.lengths[walk], cut.rest.lengths[walk]) == (at, length - at)
        np.testing.assert_array_equal(cut.first.observations[walk, :at], seen[:at])
        np.testing.assert_array_equal(cut.rest.observations[walk, : length - at], seen[at:length])
        np.testing.assert_array_equal(cut.first.actions[walk, : at - 1], done[: at - 1])
        np.testing.assert_array_equal(cut.rest.actions[walk, : length - at - 1], done[at : length - 1])
        np.testing.assert_array_equal(cut.of_first(number)[walk, :at], number[walk, :at])
        np.testing.assert_array_equal(cut.of_rest(number)[walk, : length - at], number[walk, at:length])
        later = cut.of_rest(walks.actions)[walk, : length - at - 1]
        np.testing.assert_array_equal(later, done[at : length - 1])
        assert (cut.rest.observations[walk, length - at :] == 0).all()


def test_walks_too_short_to_be_cut():
    assert cut_walks(_walks([100, 20])) is None
