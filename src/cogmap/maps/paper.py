"""The paper's three clustering steps (appendix C), each a pure function of arrays.

1. Merge tuples that differ in few entries: `hamming_clusters`. With a model's futures: canonical codes, of which those
   that several places share are told apart by what led to them (`maps/shared.py`).
2. Threshold the graph, keep nodes with two neighbours in each direction, and merge nodes with the same neighbours:
   `threshold_edges`, `well_connected`, `merge_same_neighbours`.
3. Assign each discarded code to the retained code with the most similar distribution of next codes: `nearest_retained`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csgraph, csr_array

from cogmap.hmm.counts import (
    UNKNOWN,
    Counts,
    Sightings,
    Whole,
    count_sightings,
    count_transitions,
    next_codes,
    rank_rows,
    small,
    spread,
)
from cogmap.maps.canonical import NEARLY_SAME_FUTURE, canonical_codes, deeper_futures, usual_observation
from cogmap.maps.shared import told_apart
from cogmap.maps.trust import paper_warnings
from cogmap.records import Booleans, CognitiveMap, PredictedFutures, Walks

_Moves = set[tuple[int, int]]  # actions with the code at their other end
_CHUNK = 4_000_000  # pairs of entries compared at a time in step 3


def paper_map(code_tuples: Whole, index: Whole, walks: Walks, t_ratio: float, labels: Whole) -> CognitiveMap:
    """The paper's steps 2 and 3, from the labels (B, N) of step 1: clusters of codes, or parts of shared ones."""
    counts = count_transitions(labels, walks.actions, int(labels.max(initial=-1)) + 1, walks.num_actions)
    graph = threshold_edges(counts, t_ratio)  # step 2
    retained = well_connected(graph)
    node = merge_same_neighbours(graph, retained)  # (labels,)
    edges = _edges_between_nodes(graph, node)
    steps = spread(spread(node, nearest_retained(counts, retained)), labels)  # step 3
    at = count_sightings(np.where(steps >= 0, index, UNKNOWN), steps, len(code_tuples), edges.num_codes)
    code_node = _usual_node(at)
    several = np.flatnonzero(np.bincount(at.code, minlength=len(code_tuples))[at.code] > 1)
    seen = count_sightings(steps, walks.observations, edges.num_codes, walks.num_observations)
    explained = explained_share(steps, walks, edges)
    usual, visits = usual_observation(seen.code, seen.observation, seen.count, edges.num_codes)
    return CognitiveMap(
        kind="paper",
        node_observation=small(usual),
        node_support=small(visits),
        edge_source=small(edges.source),
        edge_action=small(edges.action),
        edge_target=small(edges.target),
        edge_support=small(edges.count),
        code_tuples=small(code_tuples),
        code_node=small(code_node),
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=explained,
        warnings=paper_warnings(edges, explained),
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
        sign_code=small(at.code[several]),
        sign_node=small(at.observation[several]),
        sign_count=small(at.count[several]),
    )


def _usual_node(at: Sightings) -> Whole:
    """(J,) the node at which each code was met most often, UNKNOWN for a code that was met at none."""
    node = np.full(at.num_codes, UNKNOWN)
    order = np.argsort(at.count, kind="stable")  # the last write is the most frequent
    node[at.code[order]] = at.observation[order]
    return node


def _edges_between_nodes(graph: Counts, node: Whole) -> Counts:
    """The edges of retained codes as edges of their nodes; counts of equal edges are summed."""
    source, target, nodes = node[graph.source], node[graph.target], int(node.max(initial=-1)) + 1
    kept = (source >= 0) & (target >= 0)
    key = (source[kept] * np.int64(graph.num_actions) + graph.action[kept]) * nodes + target[kept]
    distinct, which = np.unique(key, return_inverse=True)
    count = np.bincount(which, weights=graph.count[kept], minlength=len(distinct)).astype(np.int64)
    row, target = np.divmod(distinct, max(nodes, 1))
    source, action = np.divmod(row, graph.num_actions)
    return Counts(source, action, target, count, nodes, graph.num_actions)


def explained_share(steps: Whole, walks: Walks, edges: Counts) -> float:
    """The share of all moves between consecutive steps (B, N) that follow one of `edges`."""
    flows = count_transitions(steps, walks.actions, edges.num_codes, edges.num_actions)
    follows = np.isin(_edge_keys(flows), _edge_keys(edges))
    return float(flows.count[follows].sum() / (walks.lengths - 1).sum())


def _edge_keys(edges: Counts) -> Whole:
    row = edges.source.astype(np.int64) * edges.num_actions + edges.action
    return row * max(edges.num_codes, 1) + edges.target


def paper_labels(
    code_tuples: Whole,
    index: Whole,
    walks: Walks,
    d_hamming: float,
    futures: PredictedFutures | None,
) -> Whole:
    """(B, N) the cluster of each step: one for a future; without futures, for tuples that differ in little."""
    if futures is None:
        return spread(hamming_clusters(code_tuples, d_hamming), index)
    seen = count_sightings(index, walks.observations, len(code_tuples), walks.num_observations)
    usual, visits = usual_observation(seen.code, seen.observation, seen.count, len(code_tuples))
    moves = count_transitions(index, walks.actions, len(code_tuples), walks.num_actions)
    deeper = deeper_futures(futures, moves)
    joined = canonical_codes(deeper, np.arange(len(code_tuples)), usual, visits, NEARLY_SAME_FUTURE)
    return told_apart(spread(joined, index), walks, futures.tests)


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
