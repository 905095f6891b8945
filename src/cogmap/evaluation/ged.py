"""Graph edit distance between a map and the world: NormGED, as fast bounds and by networkx.

Appendix H of the paper. Two nodes match if they stand for the same true position, two edges if their ends match, in
either direction. Deleting, inserting or substituting a node or an edge that does not match costs 1. The graphs are
directed. They have one edge from a node to a neighbour whatever the actions, and no self-loops: bumping into a wall
leads nowhere, and whether walks contain bumps depends on how they were sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.oracle import true_edges
from cogmap.records import Booleans, CognitiveMap, Integers, TableWorld

_SWEEPS = 10  # of matching, at the most
Keys = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlaceGraph:
    """A graph whose nodes stand for positions."""

    position: Integers  # (V,) what each node stands for, -1 for nothing
    source: Integers  # (E,) distinct pairs of different nodes
    target: Integers  # (E,)

    @property
    def size(self) -> int:
        """Edits that build the graph from an empty one: its nodes and edges."""
        return len(self.position) + len(self.source)


@dataclass(frozen=True)
class EditDistance:
    """Two bounds of the distance; the upper one is the cost of an edit path that was found."""

    lower: int
    upper: int
    size: int  # edits to delete one graph and insert the other, the maximum

    @property
    def norm_ged(self) -> float:
        """The upper bound as a share of the maximum; the distance itself where `exact`."""
        return self.upper / self.size if self.size else 0.0

    @property
    def exact(self) -> bool:
        return self.lower == self.upper


def map_graph(cognitive_map: CognitiveMap, position: Integers) -> PlaceGraph:
    """A map as a graph of places, given the position that each node stands for (V,)."""
    cognitive_map = cognitive_map.deterministic()
    return _graph(position, cognitive_map.edge_source, cognitive_map.edge_target)


def world_graph(world: TableWorld) -> PlaceGraph:
    """The world as a graph of places: node p stands for position p."""
    source, _, target = true_edges(world)
    return _graph(np.arange(world.num_positions, dtype=np.int32), source, target)


def true_map(world: TableWorld) -> CognitiveMap:
    """The map with one node per position and one edge per legal move, bumps included; codes are positions."""
    source, action, target = true_edges(world, bumps=True)
    positions = np.arange(world.num_positions, dtype=np.int32)
    return CognitiveMap(
        kind="true",
        node_observation=world.observation,
        node_support=np.ones(world.num_positions, dtype=np.int32),
        edge_source=source,
        edge_action=action,
        edge_target=target,
        edge_support=np.ones(len(source), dtype=np.int32),
        code_tuples=positions[:, None],
        code_node=positions,
        num_observations=world.num_observations,
        num_actions=world.num_actions,
        explained=1.0,
        observation_labels=world.observation_labels,
        action_labels=world.action_labels,
    )


def edit_distance(learned: PlaceGraph, true: PlaceGraph) -> EditDistance:
    """Bounds of the distance to a graph with exactly one node for each of its positions.

    Upper: each position is matched to its best node, in sweeps that count matched neighbours. The nodes left
    on both sides are paired so that most edges are kept. Then the edits of that matching are counted.
    Lower: no edit path can keep more nodes, or more edges, than match in the two graphs.
    """
    matched = _match_by_position(learned, true)
    upper = min(_cost(learned, true, _pair_unmatched(learned, true, choice)) for choice in matched)
    return EditDistance(_lower_bound(learned, true), upper, learned.size + true.size)


def networkx_edit_distance(learned: PlaceGraph, true: PlaceGraph, timeout: float) -> float | None:
    """The lowest cost that networkx found within `timeout` seconds, or None if it found no edit path.

    It is an upper bound, and exact only if the search ended before the timeout.
    """
    import networkx

    best = None
    paths = networkx.optimize_edit_paths(
        to_networkx(learned),
        to_networkx(true),
        node_match=_nodes_match,
        edge_match=_edges_match,
        timeout=timeout,
    )
    for _, _, cost in paths:
        best = float(cost)
    return best


def to_networkx(graph: PlaceGraph) -> Any:
    """The graph with positions as attributes of nodes and of edges: networkx compares edges by their attributes."""
    import networkx

    result = networkx.DiGraph()
    for node, position in enumerate(graph.position.tolist()):
        result.add_node(node, position=position)
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        ends = graph.position[source], graph.position[target]
        result.add_edge(source, target, ends=tuple(sorted(int(end) for end in ends)))
    return result


def _graph(position: Integers, source: Integers, target: Integers) -> PlaceGraph:
    nodes = len(position)
    keys = np.unique(_keys(source, target, nodes)[source != target])
    return PlaceGraph(
        position, (keys // max(nodes, 1)).astype(np.int32), (keys % max(nodes, 1)).astype(np.int32)
    )


def _match_by_position(learned: PlaceGraph, true: PlaceGraph) -> list[Integers]:
    """Matchings to try, each (V,): the true node of each learned one, or -1; one node per position."""
    matching = np.isin(_place_keys(learned, true), _keys(true.source, true.target, len(true.position)))
    matching &= (learned.position[learned.source] >= 0) & (learned.position[learned.target] >= 0)
    chosen = np.ones(len(learned.position), dtype=bool)
    matchings: list[Integers] = []
    for _ in range(_SWEEPS):
        before, chosen = chosen, _best_of_each_place(learned, matching, chosen)
        matchings.append(np.where(chosen, learned.position, -1).astype(np.int32))
        if (before == chosen).all():
            break
    return matchings


def _best_of_each_place(learned: PlaceGraph, matching: Booleans, chosen: Booleans) -> Booleans:
    """(V,) for each position the node with the most matching edges (E,) to and from chosen nodes."""
    nodes = len(learned.position)
    out = np.bincount(learned.source, weights=matching & chosen[learned.target], minlength=nodes)
    into = np.bincount(learned.target, weights=matching & chosen[learned.source], minlength=nodes)
    score = out + into
    order = np.lexsort((np.arange(nodes), -score, learned.position))
    _, first = np.unique(learned.position[order], return_index=True)
    best = np.zeros(nodes, dtype=bool)
    best[order[first]] = True
    return best & (learned.position >= 0)


def _pair_unmatched(learned: PlaceGraph, true: PlaceGraph, matched: Integers) -> Integers:
    """(V,) the matching, with unmatched nodes paired to unmatched positions so that most edges are kept.

    Substituting a node costs 1, deleting it and inserting the other costs 2.
    """
    from scipy.optimize import linear_sum_assignment

    extra = np.flatnonzero(matched < 0)
    missing = np.setdiff1d(np.arange(len(true.position)), matched)
    if not extra.size or not missing.size:
        return matched
    kept = sum(
        _incidence(extra, learned, matched, len(true.position), outgoing)
        @ _incidence(missing, true, np.arange(len(true.position)), len(true.position), outgoing).T
        for outgoing in (True, False)
    )
    rows, columns = linear_sum_assignment(kept, maximize=True)
    paired = matched.copy()
    paired[extra[rows]] = missing[columns]
    return paired


def _incidence(
    nodes: NDArray[np.intp], graph: PlaceGraph, names: NDArray[Any], count: int, outgoing: bool
) -> NDArray[np.float64]:
    """(R, count) 1 where a node of `nodes` has an edge to, or from, a node of that name; -1 is no name."""
    near, far = (graph.source, graph.target) if outgoing else (graph.target, graph.source)
    row = np.full(len(graph.position), -1)
    row[nodes] = np.arange(len(nodes))
    counted = (row[near] >= 0) & (names[far] >= 0)
    incidence = np.zeros((len(nodes), count))
    incidence[row[near[counted]], names[far[counted]]] = 1
    return incidence


def _cost(learned: PlaceGraph, true: PlaceGraph, matched: Integers) -> int:
    """Edits of a matching (V,): deletions, insertions and substitutions of nodes and edges."""
    pairs = matched >= 0
    substituted_nodes = int((learned.position[pairs] != matched[pairs]).sum())
    nodes = len(learned.position) + len(true.position) - 2 * int(pairs.sum()) + substituted_nodes
    source, target = matched[learned.source], matched[learned.target]
    count = len(true.position)
    kept = (
        (source >= 0)
        & (target >= 0)
        & np.isin(_keys(source, target, count), _keys(true.source, true.target, count))
    )
    matching = _place_keys(learned, true, undirected=True) == _undirected_keys(source, target, count)
    substituted_edges = int((kept & ~matching).sum())
    return nodes + len(learned.source) + len(true.source) - 2 * int(kept.sum()) + substituted_edges


def _lower_bound(learned: PlaceGraph, true: PlaceGraph) -> int:
    """The least that any edit path costs: the larger graph's nodes and edges, less those that match."""
    matching_nodes = _intersection_size(learned.position[learned.position >= 0], true.position)
    known = (learned.position[learned.source] >= 0) & (learned.position[learned.target] >= 0)
    ours = _place_keys(learned, true, undirected=True)[known]
    theirs = _undirected_keys(true.source, true.target, len(true.position))
    nodes = max(len(learned.position), len(true.position)) - matching_nodes
    return nodes + max(len(learned.source), len(true.source)) - _intersection_size(ours, theirs)


def _intersection_size(ours: NDArray[Any], theirs: NDArray[Any]) -> int:
    """The size of the intersection of two multisets."""
    both, which = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(both)) for part in np.split(which.reshape(-1), [len(ours)])]
    return int(np.minimum(*counts).sum())


def _place_keys(learned: PlaceGraph, true: PlaceGraph, undirected: bool = False) -> Keys:
    """(E,) a number for each learned edge's pair of positions."""
    make = _undirected_keys if undirected else _keys
    return make(learned.position[learned.source], learned.position[learned.target], len(true.position))


def _undirected_keys(source: Integers, target: Integers, count: int) -> Keys:
    return _keys(np.minimum(source, target), np.maximum(source, target), count)


def _keys(source: Integers, target: Integers, count: int) -> Keys:
    return source.astype(np.int64) * count + target


def _nodes_match(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return bool(ours["position"] == theirs["position"] >= 0)


def _edges_match(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return bool(ours["ends"] == theirs["ends"] and min(ours["ends"]) >= 0)
