"""Build a cognitive map from codes: the minimal map or the paper's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cogmap.errors import BadConfig
from cogmap.maps.canonical import NEARLY_SAME_FUTURE, SAME_FUTURE, canonical_codes, usual_observation
from cogmap.maps.cluster import (
    hamming_clusters,
    merge_same_neighbours,
    nearest_retained,
    threshold_edges,
    well_connected,
)
from cogmap.maps.counts import (
    UNKNOWN,
    Counts,
    Whole,
    check_codes,
    count_sightings,
    count_transitions,
    majority,
    spread,
    unique_codes,
)
from cogmap.maps.hmm import StateCounts, expect
from cogmap.maps.search import find_states
from cogmap.maps.trust import Trust, hold_out, minimal_warnings, paper_warnings, trust
from cogmap.records import Codes, CognitiveMap, Floats, Integers, PredictedFutures, Walks

KINDS = ("minimal", "paper")
D_HAMMING = 0.25  # the paper's
_FEW_CODES = 1000  # with more, as several bottlenecks make, most are seen too seldom to be labels themselves
_CLEAR = 0.9  # probability of a step's node, for its code to be counted there


def build_map(
    codes: Codes,
    walks: Walks,
    kind: str = "minimal",
    t_ratio: float = 0.1,
    d_hamming: float = D_HAMMING,
    futures: PredictedFutures | None = None,
    predicted: Integers | None = None,
    cluster: Callable[[Whole], Whole] | None = None,
) -> CognitiveMap:
    """The map of the world of `walks`, from their `codes`.

    kind: "minimal" has one node for every place that can be distinguished. "paper" is the paper's map, with its
        thresholds `t_ratio` and `d_hamming`.
    futures: what the model predicts after each tuple of codes; tuples with one future are then one.
    predicted: (B, N - 1) the model's next observations, to compare the map's with.
    cluster: assigns tuples (J, M) to clusters (J,) before anything else. By default "paper" clusters tuples by
        Hamming distance where there are no futures, and "minimal" does not cluster.
    """
    _check_choice(kind, t_ratio, d_hamming)
    check_codes(codes, walks)
    code_tuples, index = unique_codes(codes)
    label = _labels(code_tuples, index, walks, kind, d_hamming, futures, cluster)
    if kind == "minimal":
        return _minimal(code_tuples, index, walks, label, predicted)
    return _paper(code_tuples, index, walks, t_ratio, label)


def _labels(
    code_tuples: Whole,
    index: Whole,
    walks: Walks,
    kind: str,
    d_hamming: float,
    futures: PredictedFutures | None,
    cluster: Callable[[Whole], Whole] | None,
) -> Whole:
    """(J,) the canonical code of each tuple."""
    if cluster is not None:
        return cluster(code_tuples)
    if futures is None:
        return np.arange(len(code_tuples)) if kind == "minimal" else hamming_clusters(code_tuples, d_hamming)
    seen = count_sightings(index, walks.observations, len(code_tuples), walks.num_observations)
    usual, visits = usual_observation(seen.code, seen.observation, seen.count, len(code_tuples))
    tolerance = SAME_FUTURE if kind == "minimal" else NEARLY_SAME_FUTURE
    return canonical_codes(futures, usual, visits, tolerance)


def _minimal(
    code_tuples: Whole, index: Whole, walks: Walks, label: Whole, predicted: Integers | None
) -> CognitiveMap:
    held = hold_out(walks, spread(label, index), predicted)
    found = find_states(held.kept, held.kept_labels, int(label.max(initial=-1)) + 1)
    if len(code_tuples) <= _FEW_CODES:
        # States that differ only after more steps than the heads predict have one future, but codes of their own.
        apart = hold_out(walks, index, predicted).kept_labels
        by_code = find_states(held.kept, apart, len(code_tuples))
        found = min(found, by_code, key=lambda each: each.length)
    trusted = trust(found.counts, held)
    final = found.found if held.kept is walks else expect(found.counts, walks)
    # Near the ends of a walk several places may fit, and only codes that were clear elsewhere tell which.
    clear = np.where(final.sure >= _CLEAR, final.path, UNKNOWN)
    code_node = majority(np.where(clear >= 0, index, UNKNOWN), clear, len(code_tuples))
    return minimal_record(code_tuples, code_node, final.counts, walks, trusted)


def minimal_record(
    code_tuples: Whole, code_node: Whole, counts: StateCounts, walks: Walks, trusted: Trust
) -> CognitiveMap:
    """The map of a hidden Markov model: its states as nodes, expected counts as support."""
    edges = np.flatnonzero(counts.count >= 0.5)
    row, count = counts.row[edges], counts.count[edges]
    total = np.bincount(row, weights=count, minlength=1)
    sights = np.flatnonzero(counts.seen_count >= 0.5)
    seen_at, seen_count = counts.seen_at[sights], counts.seen_count[sights]
    visits = counts.visits
    return CognitiveMap(
        kind="minimal",
        node_observation=_int32(counts.shows()),
        node_support=_int32(np.rint(visits)),
        edge_source=_int32(row // counts.num_actions),
        edge_action=_int32(row % counts.num_actions),
        edge_target=counts.target[edges],
        edge_support=_int32(np.rint(count)),
        code_tuples=_int32(code_tuples),
        code_node=_int32(code_node),
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=trusted.by_map,
        warnings=minimal_warnings(counts, trusted),
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
        edge_probability=count / total[row],
        seen_node=seen_at,
        seen_observation=counts.seen[sights],
        seen_probability=seen_count / np.bincount(seen_at, weights=seen_count, minlength=1)[seen_at],
        model_accuracy=trusted.by_model,
    )


def _paper(code_tuples: Whole, index: Whole, walks: Walks, t_ratio: float, cluster: Whole) -> CognitiveMap:
    """The paper's steps 2 and 3, from the clusters (J,) of step 1."""
    clusters = int(cluster.max(initial=-1)) + 1
    counts = count_transitions(spread(cluster, index), walks.actions, clusters, walks.num_actions)
    graph = threshold_edges(counts, t_ratio)  # step 2
    retained = well_connected(graph)
    node = merge_same_neighbours(graph, retained)  # (clusters,)
    edges = _edges_between_nodes(graph, node)
    code_node = spread(spread(node, nearest_retained(counts, retained)), cluster)  # (J,) step 3
    steps = spread(code_node, index)
    seen = count_sightings(steps, walks.observations, edges.num_codes, walks.num_observations)
    explained = explained_share(steps, walks, edges)
    usual, visits = usual_observation(seen.code, seen.observation, seen.count, edges.num_codes)
    return CognitiveMap(
        kind="paper",
        node_observation=_int32(usual),
        node_support=_int32(visits),
        edge_source=_int32(edges.source),
        edge_action=_int32(edges.action),
        edge_target=_int32(edges.target),
        edge_support=_int32(edges.count),
        code_tuples=_int32(code_tuples),
        code_node=_int32(code_node),
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=explained,
        warnings=paper_warnings(edges, explained),
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
    )


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


def _int32(values: Whole | Floats) -> Integers:
    return values.astype(np.int32)


def _check_choice(kind: str, t_ratio: float, d_hamming: float) -> None:
    if kind not in KINDS:
        raise BadConfig(f"`kind` must be one of {', '.join(KINDS)}, got {kind!r}")
    if not 0 < t_ratio <= 1:
        raise BadConfig(f"`t_ratio` (={t_ratio}) must be above 0 and at most 1")
    if not 0 <= d_hamming <= 1:
        raise BadConfig(f"`d_hamming` (={d_hamming}) must be from 0 to 1")
