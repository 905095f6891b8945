"""Counting a map again: over parts as over the whole, with a one-way door."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.table import torus
from cogmap.errors import BadRun
from cogmap.hmm.states import StateCounts
from cogmap.maps.build import build_map
from cogmap.maps.recount import _with_counts, count_again, counts_of_map, shard_counts
from cogmap.maps.store import load_map, save_map
from cogmap.records import Codes, CognitiveMap, Walks
from cogmap.walks.log import log_of, walk_parts
from cogmap.walks.sample import sample_walks


def counted(found: CognitiveMap, parts: list[Walks]) -> StateCounts:
    counts = shard_counts(found, parts)
    assert counts is not None
    return counts


def test_counts_of_parts_add_up_to_those_of_the_whole() -> None:
    world = torus(3, 4, observations=3, one_way_doors=2, seed=1)
    walks, truth = sample_walks(world, 300, 40, np.random.default_rng(0))
    few = Codes(truth.positions[:60, :, None], walks.lengths[:60], 12)
    found = build_map(few, walks.rows(slice(0, 60)))
    whole = count_again(found, [counted(found, [walks])])
    parts = [part for _, part in walk_parts(log_of(walks), cells=400)]
    parted = count_again(found, [counted(found, parts[:3]), counted(found, parts[3:])])
    assert len(parts) > 5
    np.testing.assert_array_equal(whole.edge_support, parted.edge_support)
    np.testing.assert_array_equal(whole.node_support, parted.node_support)
    np.testing.assert_allclose(whole.edge_probability, parted.edge_probability)
    assert whole.node_support.sum() == 300 * 40
    visits = np.bincount(truth.positions.ravel(), minlength=12)
    assert abs(np.sort(whole.node_support) - np.sort(visits)).max() <= 0.05 * visits.max()


def test_a_map_is_as_it_was_where_nothing_is_counted() -> None:
    world = torus(3, 4, observations=3, seed=1)
    walks, truth = sample_walks(world, 60, 40, np.random.default_rng(0))
    found = build_map(Codes(truth.positions[:, :, None], walks.lengths, 12), walks)
    assert count_again(found, []) is found


def seen_often(times: float) -> CognitiveMap:
    """A map whose every count is so many times what was counted."""
    world = torus(3, 4, observations=3, seed=1)
    walks, truth = sample_walks(world, 60, 40, np.random.default_rng(0))
    found = build_map(Codes(truth.positions[:, :, None], walks.lengths, 12), walks)
    counts = counts_of_map(found)
    many = {name: times * getattr(counts, name) for name in ("first", "count", "seen_count")}
    return _with_counts(found, replace(counts, **many))


def test_supports_beyond_32_bits_are_kept(tmp_path: Path) -> None:
    few, many = seen_often(1), seen_often(10**8)
    assert few.edge_support.dtype == np.int32
    assert many.edge_support.max() > 2**31
    np.testing.assert_allclose(many.edge_support / 10**8, few.edge_support, atol=0.5)
    save_map(tmp_path / "map.npz", many)
    np.testing.assert_array_equal(load_map(tmp_path / "map.npz").edge_support, many.edge_support)


def test_supports_beyond_exact_floats_are_refused() -> None:
    with pytest.raises(BadRun, match=r"`node_support` must be from 0 to below 2\^53"):
        seen_often(10**15)
