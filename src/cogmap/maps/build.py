"""Build a cognitive map from codes: the minimal map or the paper's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cogmap.errors import BadConfig
from cogmap.maps.cluster import (
    hamming_clusters,
    merge_same_neighbours,
    nearest_retained,
    threshold_edges,
    well_connected,
)
from cogmap.maps.counts import (
    Counts,
    Sightings,
    Whole,
    check_codes,
    count_sightings,
    count_transitions,
    unique_codes,
)
from cogmap.maps.evidence import leaders
from cogmap.maps.minimise import spread
from cogmap.maps.polish import find_places
from cogmap.maps.survey import survey
from cogmap.maps.trust import minimal_warnings, paper_warnings
from cogmap.records import Codes, CognitiveMap, Integers, Walks

KINDS = ("minimal", "paper")
D_HAMMING = 0.25  # the paper's


def build_map(
    codes: Codes,
    walks: Walks,
    kind: str = "minimal",
    t_ratio: float = 0.1,
    d_hamming: float = D_HAMMING,
    polished: bool = True,
    cluster: Callable[[Whole], Whole] | None = None,
) -> CognitiveMap:
    """The map of the world of `walks`, from their `codes`.

    kind: "minimal" has one node for every place that can be distinguished; its thresholds come from the data. "paper"
        is the paper's map, with its thresholds `t_ratio` and `d_hamming`.
    polished: smooth the walks on the map, which takes long with a thousand places.
    cluster: assigns tuples (J, M) to clusters (J,) before anything else. By default "paper" clusters tuples by
        Hamming distance, and "minimal" does not cluster.
    """
    _check_choice(kind, t_ratio, d_hamming)
    check_codes(codes, walks)
    code_tuples, index = unique_codes(codes)
    if kind == "minimal":
        joined = np.arange(len(code_tuples)) if cluster is None else cluster(code_tuples)
        return _minimal(code_tuples, index, walks, joined, polished)
    joined = hamming_clusters(code_tuples, d_hamming) if cluster is None else cluster(code_tuples)
    return _paper(code_tuples, index, walks, t_ratio, joined)


def _minimal(code_tuples: Whole, index: Whole, walks: Walks, cluster: Whole, polished: bool) -> CognitiveMap:
    found = find_places(spread(cluster, index), walks, int(cluster.max(initial=-1)) + 1, polished)
    code_node = spread(found.code_node, cluster)  # (J,)
    view = survey(walks, found.steps)
    flows = view.flows
    edges = flows.select(view.next_node[flows.source, flows.action] == flows.target)
    explained = explained_share(spread(code_node, index), walks, edges)
    warnings = minimal_warnings(view, explained_share(found.steps, walks, edges), found)
    return _record("minimal", code_tuples, code_node, edges, view.seen, walks, explained, warnings)


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
    warnings = paper_warnings(edges, explained)
    return _record("paper", code_tuples, code_node, edges, seen, walks, explained, warnings)


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


def _record(
    kind: str,
    code_tuples: Whole,
    code_node: Whole,
    edges: Counts,
    seen: Sightings,
    walks: Walks,
    explained: float,
    warnings: tuple[str, ...],
) -> CognitiveMap:
    lead = leaders(seen.code, seen.observation, seen.count, (edges.num_codes, seen.num_observations))
    return CognitiveMap(
        kind=kind,
        node_observation=_int32(np.maximum(lead.column, 0)),
        node_support=_int32(lead.total),
        edge_source=_int32(edges.source),
        edge_action=_int32(edges.action),
        edge_target=_int32(edges.target),
        edge_support=_int32(edges.count),
        code_tuples=_int32(code_tuples),
        code_node=_int32(code_node),
        num_observations=walks.num_observations,
        num_actions=walks.num_actions,
        explained=explained,
        warnings=warnings,
        observation_labels=walks.observation_labels,
        action_labels=walks.action_labels,
    )


def _int32(values: Whole) -> Integers:
    return values.astype(np.int32)


def _check_choice(kind: str, t_ratio: float, d_hamming: float) -> None:
    if kind not in KINDS:
        raise BadConfig(f"`kind` must be one of {', '.join(KINDS)}, got {kind!r}")
    if not 0 < t_ratio <= 1:
        raise BadConfig(f"`t_ratio` (={t_ratio}) must be above 0 and at most 1")
    if not 0 <= d_hamming <= 1:
        raise BadConfig(f"`d_hamming` (={d_hamming}) must be from 0 to 1")
