"""Count a map's moves and sights again, in walks that come part by part: expected counts of parts add up.

So may machines: each counts some shards of a log, and the sum is that of one machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cogmap.hmm.inference import expect
from cogmap.hmm.states import LEAST_COUNT, StateCounts
from cogmap.records import CognitiveMap, Floats, Walks


def count_again(found: CognitiveMap, shards: Iterable[StateCounts]) -> CognitiveMap:
    """A minimal map with the supports and probabilities that the counts of all shards together give it.

    Places and edges stay: an edge that no walk takes keeps a support of 0, and its probability.
    """
    total = _sum(shards) if has_counts(found) else None
    return found if total is None else _with_counts(found, total)


def has_counts(found: CognitiveMap) -> bool:
    """Whether there is anything to count: a minimal map with places."""
    return found.num_nodes > 0 and found.edge_probability is not None and found.seen_node is not None


def shard_counts(found: CognitiveMap, parts: Iterable[Walks]) -> StateCounts | None:
    """The expected counts of some walks, which come part by part, under the map's hidden Markov model."""
    counts = counts_of_map(found)
    return _sum(expect(counts, part).counts for part in parts)


def counts_of_map(found: CognitiveMap) -> StateCounts:
    """The map's hidden Markov model. A walk starts at a node in proportion to the steps that were seen there."""
    assert found.edge_probability is not None  # the record fills it in
    assert found.seen_node is not None
    assert found.seen_observation is not None
    assert found.seen_probability is not None
    row = found.edge_source.astype(np.int64) * found.num_actions + found.edge_action
    order = np.lexsort((found.edge_target, row))
    tries = np.bincount(row, weights=found.edge_support, minlength=found.num_nodes * found.num_actions)
    visits = np.maximum(found.node_support, 1).astype(float)
    return StateCounts(
        first=visits,
        row=row[order],
        target=found.edge_target[order],
        count=_kept(np.maximum(tries[row], 1) * found.edge_probability)[order],
        seen_at=found.seen_node,
        seen=found.seen_observation,
        seen_count=_kept(visits[found.seen_node] * found.seen_probability),
        num_actions=found.num_actions,
        num_observations=found.num_observations,
    )


def _kept(count: Floats) -> Floats:
    """Counts large enough that none is dropped: those of all parts must have the same entries."""
    return np.maximum(count, 2 * LEAST_COUNT)


def _sum(counts: Iterable[StateCounts]) -> StateCounts | None:
    """The sum of counts under one model, in their order: so that it is the same to the last bit every time."""
    total: StateCounts | None = None
    for each in counts:
        total = each if total is None else _added(total, each)
    return total


def _added(one: StateCounts, other: StateCounts) -> StateCounts:
    return replace(
        one,
        first=one.first + other.first,
        count=one.count + other.count,
        seen_count=one.seen_count + other.seen_count,
    )


def _with_counts(found: CognitiveMap, counts: StateCounts) -> CognitiveMap:
    row = found.edge_source.astype(np.int64) * found.num_actions + found.edge_action
    key = row * found.num_nodes + found.edge_target
    counted = counts.row * found.num_nodes + counts.target
    place = np.searchsorted(counted, key)  # the model's edges are sorted by row and target
    count = counts.count[place]  # (E,)
    tries = counts.tries[row]
    seen = counts.visits[counts.seen_at]
    chance, sight = np.asarray(found.edge_probability), np.asarray(found.seen_probability)
    return replace(
        found,
        node_support=np.rint(counts.visits).astype(np.int64),
        edge_support=np.rint(count).astype(np.int64),
        edge_probability=_shares(count, tries, chance),
        seen_probability=_shares(counts.seen_count, seen, sight),
    )


def _shares(count: Floats, total: Floats, otherwise: Floats) -> Floats:
    """Counts as shares of their totals, and what was known before where nothing was counted."""
    return np.asarray(np.where(total > 0, count / np.maximum(total, 1e-300), otherwise))
