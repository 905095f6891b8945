"""Counting a map again: over parts as over the whole, with a one-way door."""

from __future__ import annotations

import numpy as np

from cogmap.environments.table import torus
from cogmap.maps.build import build_map
from cogmap.maps.recount import count_again
from cogmap.records import Codes
from cogmap.walks.log import log_of, walk_parts
from cogmap.walks.sample import sample_walks


def test_counts_of_parts_add_up_to_those_of_the_whole() -> None:
    world = torus(3, 4, observations=3, one_way_doors=2, seed=1)
    walks, truth = sample_walks(world, 300, 40, np.random.default_rng(0))
    few = Codes(truth.positions[:60, :, None], walks.lengths[:60], 12)
    found = build_map(few, walks.rows(slice(0, 60)))
    whole = count_again(found, [walks])
    parted = count_again(found, (part for _, part in walk_parts(log_of(walks), cells=400)))
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
