"""Counts against the plain loop, on walks of unequal length and a world whose doors go one way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from cogmap.errors import BadRun
from cogmap.hmm.counts import check_codes, count_sightings, count_transitions, unique_codes
from cogmap.records import Codes, Walks


def random_material(rng, walks, steps, bottlenecks, num_codes, num_actions=3, num_observations=5):
    lengths = rng.integers(2, steps + 1, walks)
    real = np.arange(steps) < lengths[:, None]
    codes = rng.integers(0, num_codes, (walks, steps, bottlenecks)) * real[:, :, None]
    observations = rng.integers(0, num_observations, (walks, steps)) * real
    actions = rng.integers(0, num_actions, (walks, steps - 1)) * real[:, 1:]
    return (
        Codes(codes, lengths, num_codes),
        Walks(observations, actions, lengths, num_observations, num_actions),
    )


@pytest.mark.parametrize(("bottlenecks", "num_codes"), [(1, 7), (2, 4), (4, 3), (4, 1000), (9, 200)])
def test_unique_codes_are_sorted_rows_and_point_back(bottlenecks, num_codes):
    codes, _ = random_material(np.random.default_rng(bottlenecks), 20, 15, bottlenecks, num_codes)
    tuples, index = unique_codes(codes)
    distinct = sorted({tuple(codes.codes[b, n]) for b in range(20) for n in range(codes.lengths[b])})
    assert [tuple(row) for row in tuples] == distinct
    for walk, length in enumerate(codes.lengths):
        assert np.array_equal(tuples[index[walk, :length]], codes.codes[walk, :length])
        assert (index[walk, length:] == -1).all()


@pytest.mark.parametrize("bottlenecks", [1, 3])
def test_transitions_equal_the_triple_loop(bottlenecks):
    codes, walks = random_material(np.random.default_rng(5), 30, 12, bottlenecks, 3)
    tuples, index = unique_codes(codes)
    counts = count_transitions(index, walks.actions, len(tuples), walks.num_actions)
    wanted = Counter()
    for b in range(walks.num_walks):
        for n in range(walks.lengths[b] - 1):
            wanted[tuple(codes.codes[b, n]), int(walks.actions[b, n]), tuple(codes.codes[b, n + 1])] += 1
    rows = zip(counts.source, counts.action, counts.target, counts.count, strict=True)
    found = {(tuple(tuples[s]), int(a), tuple(tuples[t])): int(c) for s, a, t, c in rows}
    assert found == dict(wanted)
    assert counts.total == (walks.lengths - 1).sum()
    order = np.lexsort((counts.target, counts.action, counts.source))
    assert np.array_equal(order, np.arange(len(order)))


def test_axis_order_is_source_action_target():
    """A one-way door: action 1 leads from code 0 to code 2 and nothing leads back."""
    index = np.array([[0, 2, 2]])
    counts = count_transitions(index, np.array([[1, 0]]), 3, 2)
    found = zip(counts.source.tolist(), counts.action.tolist(), counts.target.tolist(), strict=True)
    assert list(found) == [(0, 1, 2), (2, 0, 2)]


def test_sightings_equal_the_loop():
    codes, walks = random_material(np.random.default_rng(8), 10, 9, 2, 3)
    tuples, index = unique_codes(codes)
    seen = count_sightings(index, walks.observations, len(tuples), walks.num_observations)
    wanted = Counter(
        (int(index[b, n]), int(walks.observations[b, n])) for b in range(10) for n in range(walks.lengths[b])
    )
    found = zip(seen.code.tolist(), seen.observation.tolist(), seen.count.tolist(), strict=True)
    assert {(c, o): n for c, o, n in found} == dict(wanted)


def test_codes_of_other_walks_are_refused():
    codes, walks = random_material(np.random.default_rng(1), 4, 6, 1, 3)
    with pytest.raises(BadRun, match=r"shape \(4, 6\), got \(3, 6\)"):
        check_codes(Codes(codes.codes[:3], codes.lengths[:3], 3), walks)
    lengths = codes.lengths.copy()
    lengths[2] = lengths[2] % 6 + 1
    with pytest.raises(BadRun, match="walks' lengths"):
        check_codes(Codes(codes.codes, lengths, 3), walks)
