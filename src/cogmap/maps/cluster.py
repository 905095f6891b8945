"""The paper's three clustering steps (appendix C), each a pure function of arrays.

1. Merge tuples that differ in few entries: `hamming_clusters`.
2. Threshold the graph, keep nodes with two neighbours in each direction, and merge nodes with the same neighbours:
   `threshold_edges`, `well_connected`, `merge_same_neighbours`.
3. Assign each discarded code to the retained code with the most similar distribution of next codes: `nearest_retained`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csgraph, csr_array

from cogmap.maps.counts import UNKNOWN, Counts, Whole, next_codes, rank_rows
from cogmap.records import Booleans

_Moves = set[tuple[int, int]]  # actions with the code at their other end
_CHUNK = 4_000_000  # pairs of entries compared at a time in step 3


def hamming_clusters(code_tuples: Whole, d_hamming: float) -> Whole:
    """(J,) the cluster of each tuple (J, M); tuples that differ in at most d_hamming * M entries are joined.

    Joining is transitive. Two tuples that differ in at most r entries agree on some M - r of them. Sorting on each
    choice of M - r columns puts such tuples side by side, so pairs need no comparison. A single bottleneck is not
    clustered.
    """
    tuples, bottlenecks = code_tuples.shape
    differing = int(d_hamming * bottlenecks + 1e-9)
    if bottlenecks == 1 or differing == 0 or tuples == 0:
        return np.arange(tuples, dtype=np.int32)
    if differing >= bottlenecks:
        return np.zeros(tuples, dtype=np.int32)
    ends = []
    for kept in combinations(range(bottlenecks), bottlenecks - differing):
        _, bucket = rank_rows(code_tuples[:, list(kept)])
        order = np.argsort(bucket, kind="stable")
        same = np.flatnonzero(bucket[order[1:]] == bucket[order[:-1]])
        ends.append(np.stack((order[same], order[same + 1])))
    one, other = np.concatenate(ends, axis=1)
    graph = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(tuples, tuples))
    return csgraph.connected_components(graph, directed=False)[1].astype(np.int32)


def threshold_edges(counts: Counts, t_ratio: float) -> Counts:
    """The edge (i, j*, k) of every pair with C[i, j*, k] >= t_ratio * max C, where j* is its most frequent action."""
    order = np.lexsort((counts.action, -counts.count.astype(np.int64), counts.target, counts.source))
    source, target = counts.source[order], counts.target[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    best = order[first]
    best = np.sort(best[counts.count[best] >= t_ratio * counts.count.max(initial=0)])
    return counts.select(best)


def well_connected(edges: Counts) -> Booleans:
    """(J,) codes with at least two other codes as predecessors and at least two as successors."""
    return np.minimum(*(_others(edges, *ends) for ends in (("source", "target"), ("target", "source")))) >= 2


def _others(edges: Counts, of: str, to: str) -> Whole:
    """(J,) the number of distinct other codes at the other end of each code's edges."""
    here, there = getattr(edges, of).astype(np.int64), getattr(edges, to)
    pairs = np.unique((here * edges.num_codes + there)[here != there])
    return np.bincount(pairs // edges.num_codes, minlength=edges.num_codes)


def merge_same_neighbours(edges: Counts, retained: Booleans) -> Whole:
    """(J,) the node of each retained code, UNKNOWN for the others; codes with equal neighbours, in and out, are merged.

    Neighbours are retained codes, each with the action of its edge: an agent that looks north in a corridor turns left
    to where one that looks south turns right. Self-loops do not matter.
    """
    kept = edges.select(np.flatnonzero(retained[edges.source] & retained[edges.target]))
    sets: list[tuple[_Moves, _Moves]] = [(set(), set()) for _ in range(edges.num_codes)]
    for source, action, target in zip(
        kept.source.tolist(), kept.action.tolist(), kept.target.tolist(), strict=True
    ):
        if source != target:
            sets[source][0].add((action, target))
            sets[target][1].add((action, source))
    number: dict[tuple[frozenset[tuple[int, int]], ...], int] = {}
    node = np.full(edges.num_codes, UNKNOWN, dtype=np.int32)
    for code in np.flatnonzero(retained).tolist():
        key = (frozenset(sets[code][0]), frozenset(sets[code][1]))
        node[code] = number.setdefault(key, len(number))
    return node


def nearest_retained(counts: Counts, retained: Booleans) -> Whole:
    """(J,) the retained code nearest in l1 to each discarded code; retained codes map to themselves.

    The distance sums |p(l | retained, a) - p(l | discarded, a)| over actions a and codes l; the distribution of an
    action that was never taken is zero. Since |p - q| = p + q - 2 min(p, q), only codes that both lead to matter.
    Ties go to the first. UNKNOWN where nothing is retained.
    """
    nearest = np.where(retained, np.arange(counts.num_codes), UNKNOWN).astype(np.int32)
    keepers, discarded = np.flatnonzero(retained), np.flatnonzero(~retained)
    if not len(keepers):
        return nearest
    table = next_codes(counts)  # (J, A * J), rows sum to the number of actions tried
    tried = np.asarray(table.sum(axis=1)).ravel()
    discarded_table, keeper_table = table[discarded], table[keepers].tocsc()
    shared = np.diff(keeper_table.indptr)[discarded_table.indices]  # keepers that share each entry's column
    pairs = np.concatenate(([0], np.cumsum(shared)))[discarded_table.indptr]  # of entries, in all rows above
    work = pairs // _CHUNK + np.arange(len(pairs)) * len(keepers) // _CHUNK
    for rows in np.split(np.arange(len(discarded)), np.flatnonzero(np.diff(work[:-1])) + 1):
        nearest[discarded[rows]] = keepers[_nearest(discarded_table[rows], keeper_table, tried[keepers])]
    return nearest


def _nearest(discarded: csr_array, keepers: csc_array, tried: NDArray[np.float64]) -> Whole:
    """(C,) the keeper (column-compressed rows) nearest to each of C rows."""
    length = np.diff(keepers.indptr)[discarded.indices]  # keepers that share each entry's column
    entry = np.repeat(np.arange(discarded.nnz), length)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(length) - length, length)
    place = keepers.indptr[discarded.indices[entry]] + within
    row = np.repeat(np.arange(discarded.shape[0]), np.diff(discarded.indptr))[entry]
    key = row * np.int64(len(tried)) + keepers.indices[place]
    shared = np.bincount(
        key,
        weights=np.minimum(discarded.data[entry], keepers.data[place]),
        minlength=discarded.shape[0] * len(tried),
    )
    # Without the row's own sum, which is the same for all keepers.
    distance = tried - 2 * shared.reshape(discarded.shape[0], len(tried))
    return np.round(distance, 12).argmin(axis=1)
