"""Graph edit distance between a map and the world: NormGED, quickly with bounds, and by networkx.

Appendix H of the paper. Nodes are alike if they stand for the same true position, edges if their ends are, in
either direction. Deleting, inserting or turning a node or an edge into an unlike one costs 1. The graphs are
directed, with one edge from a node to a neighbour whatever the actions, and without self-loops: bumping into
a wall is not a way to anywhere, and whether walks hold bumps depends on how they were drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.oracle import true_edges
from cogmap.records import Booleans, CognitiveMap, Integers, TableWorld

_SWEEPS = 10

Keys = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PlaceGraph:
    """A graph whose nodes stand for positions."""

    position: Integers  # (V,) what each node stands for, -1 for nothing
    source: Integers  # (E,) distinct pairs of different nodes
    target: Integers  # (E,)

    @property
    def size(self) -> int:
        """Edits that would build the graph from nothing: its nodes and edges."""
        return len(self.position) + len(self.source)


@dataclass(frozen=True)
class EditDistance:
    """The distance lies between two bounds; the upper one is the cost of an edit path that was found."""

    lower: int
    upper: int
    size: int  # edits to delete one graph and insert the other, the most there can be

    @property
    def norm_ged(self) -> float:
        """The upper bound as a share of the most; the distance itself where `exact`."""
        return self.upper / self.size if self.size else 0.0

    @property
    def exact(self) -> bool:
        return self.lower == self.upper


def map_graph(cognitive_map: CognitiveMap, position: Integers) -> PlaceGraph:
    """A map as a graph of places, given the position that each node stands for (V,)."""
    return _graph(position, cognitive_map.edge_source, cognitive_map.edge_target)


def world_graph(world: TableWorld) -> PlaceGraph:
    """The world as a graph of places: node p stands for position p."""
    source, _, target = true_edges(world)
    return _graph(np.arange(world.num_positions, dtype=np.int32), source, target)


def _graph(position: Integers, source: Integers, target: Integers) -> PlaceGraph:
    nodes = len(position)
    keys = np.unique(_keys(source, target, nodes)[source != target])
    return PlaceGraph(
        position, (keys // max(nodes, 1)).astype(np.int32), (keys % max(nodes, 1)).astype(np.int32)
    )


def edit_distance(learned: PlaceGraph, true: PlaceGraph) -> EditDistance:
    """Bounds of the distance to a graph with exactly one node for each of its positions.

    Upper: each position's best node is matched to it, in sweeps that look at which neighbours are matched;
    what remains on both sides is paired so as to save most edges; the edits of that matching are counted.
    Lower: no edit path can keep more nodes, or more edges, than the two graphs have alike.
    """
    matched = _match_by_position(learned, true)
    upper = min(_cost(learned, true, _pair_the_rest(learned, true, choice)) for choice in matched)
    return EditDistance(_lower_bound(learned, true), upper, learned.size + true.size)


def _match_by_position(learned: PlaceGraph, true: PlaceGraph) -> list[Integers]:
    """Matchings to try, each (V,): the true node of each learned one, or -1; one node a position."""
    alike = np.isin(_place_keys(learned, true), _keys(true.source, true.target, len(true.position)))
    alike &= (learned.position[learned.source] >= 0) & (learned.position[learned.target] >= 0)
    chosen = np.ones(len(learned.position), dtype=bool)
    matchings: list[Integers] = []
    for _ in range(_SWEEPS):
        before, chosen = chosen, _best_of_each_place(learned, alike, chosen)
        matchings.append(np.where(chosen, learned.position, -1).astype(np.int32))
        if (before == chosen).all():
            break
    return matchings


def _best_of_each_place(learned: PlaceGraph, alike: Booleans, chosen: Booleans) -> Booleans:
    """(V,) for each position the node with the most edges that lead to chosen nodes and are in the world."""
    nodes = len(learned.position)
    out = np.bincount(learned.source, weights=alike & chosen[learned.target], minlength=nodes)
    into = np.bincount(learned.target, weights=alike & chosen[learned.source], minlength=nodes)
    score = out + into
    order = np.lexsort((np.arange(nodes), -score, learned.position))
    _, first = np.unique(learned.position[order], return_index=True)
    best = np.zeros(nodes, dtype=bool)
    best[order[first]] = True
    return best & (learned.position >= 0)


def _pair_the_rest(learned: PlaceGraph, true: PlaceGraph, matched: Integers) -> Integers:
    """(V,) the matching, with left-over nodes paired to left-over positions so as to save most edges.

    Turning a node into an unlike one costs 1, deleting one and inserting the other 2.
    """
    from scipy.optimize import linear_sum_assignment

    spare = np.flatnonzero(matched < 0)
    missing = np.setdiff1d(np.arange(len(true.position)), matched)
    if not spare.size or not missing.size:
        return matched
    saved = sum(
        _incidence(spare, learned, matched, len(true.position), outgoing)
        @ _incidence(missing, true, np.arange(len(true.position)), len(true.position), outgoing).T
        for outgoing in (True, False)
    )
    rows, columns = linear_sum_assignment(saved, maximize=True)
    paired = matched.copy()
    paired[spare[rows]] = missing[columns]
    return paired


def _incidence(
    nodes: NDArray[np.intp], graph: PlaceGraph, names: NDArray[Any], count: int, outgoing: bool
) -> NDArray[np.float64]:
    """(R, count): 1 where a node has an edge to, or from, a node of that name; -1 is no name."""
    near, far = (graph.source, graph.target) if outgoing else (graph.target, graph.source)
    row = np.full(len(graph.position), -1)
    row[nodes] = np.arange(len(nodes))
    counted = (row[near] >= 0) & (names[far] >= 0)
    incidence = np.zeros((len(nodes), count))
    incidence[row[near[counted]], names[far[counted]]] = 1
    return incidence


def _cost(learned: PlaceGraph, true: PlaceGraph, matched: Integers) -> int:
    """Edits of a matching (V,): deletions, insertions, and nodes and edges turned into unlike ones."""
    pairs = matched >= 0
    unlike_nodes = int((learned.position[pairs] != matched[pairs]).sum())
    nodes = len(learned.position) + len(true.position) - 2 * int(pairs.sum()) + unlike_nodes
    source, target = matched[learned.source], matched[learned.target]
    count = len(true.position)
    kept = (
        (source >= 0)
        & (target >= 0)
        & np.isin(_keys(source, target, count), _keys(true.source, true.target, count))
    )
    like = _place_keys(learned, true, either_way=True) == _either_way(source, target, count)
    unlike_edges = int((kept & ~like).sum())
    return nodes + len(learned.source) + len(true.source) - 2 * int(kept.sum()) + unlike_edges


def _lower_bound(learned: PlaceGraph, true: PlaceGraph) -> int:
    """What any edit path costs: the larger graph's parts, less those that have a like part in the other."""
    like_nodes = _alike(learned.position[learned.position >= 0], true.position)
    known = (learned.position[learned.source] >= 0) & (learned.position[learned.target] >= 0)
    ours = _place_keys(learned, true, either_way=True)[known]
    like_edges = _alike(ours, _either_way(true.source, true.target, len(true.position)))
    nodes = max(len(learned.position), len(true.position)) - like_nodes
    return nodes + max(len(learned.source), len(true.source)) - like_edges


def _alike(ours: NDArray[Any], theirs: NDArray[Any]) -> int:
    """The size of the intersection of two multisets."""
    both, which = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(both)) for part in np.split(which.reshape(-1), [len(ours)])]
    return int(np.minimum(*counts).sum())


def _place_keys(learned: PlaceGraph, true: PlaceGraph, either_way: bool = False) -> Keys:
    """(E,) a number for each learned edge's pair of positions."""
    make = _either_way if either_way else _keys
    return make(learned.position[learned.source], learned.position[learned.target], len(true.position))


def _either_way(source: Integers, target: Integers, count: int) -> Keys:
    return _keys(np.minimum(source, target), np.maximum(source, target), count)


def _keys(source: Integers, target: Integers, count: int) -> Keys:
    return source.astype(np.int64) * count + target


def networkx_edit_distance(learned: PlaceGraph, true: PlaceGraph, timeout: float) -> float | None:
    """The lowest cost that networkx found within `timeout` seconds, or None if it found no path at all.

    An upper bound like the quick one; only a search that ended by itself is exact.
    """
    import networkx

    best = None
    paths = networkx.optimize_edit_paths(
        to_networkx(learned),
        to_networkx(true),
        node_match=_like_nodes,
        edge_match=_like_edges,
        timeout=timeout,
    )
    for _, _, cost in paths:
        best = float(cost)
    return best


def to_networkx(graph: PlaceGraph) -> Any:
    """The graph with positions on nodes, and on edges too: networkx compares edges by what they carry."""
    import networkx

    result = networkx.DiGraph()
    for node, position in enumerate(graph.position.tolist()):
        result.add_node(node, position=position)
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        ends = graph.position[source], graph.position[target]
        result.add_edge(source, target, ends=tuple(sorted(int(end) for end in ends)))
    return result


def _like_nodes(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return bool(ours["position"] == theirs["position"] >= 0)


def _like_edges(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return bool(ours["ends"] == theirs["ends"] and min(ours["ends"]) >= 0)


def true_map(world: TableWorld) -> CognitiveMap:
    """One node a position, one edge a legal move, bumps included; the code of a position is its index."""
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
