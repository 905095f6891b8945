"""A layout of the nodes without true places: distances on the plane approximate distances in steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import coo_array, csgraph

from cogmap.records import CognitiveMap, Floats, Integers
from cogmap.report.reckoning import meaning_of, reckon
from cogmap.report.turns import find_turns, spot_graph, spread_turns

_SMALL = 400  # nodes; Kamada-Kawai takes seconds for more
_LARGE = 2000  # nodes; the matrix of all distances takes too much time and memory for more
_PIVOTS = 64  # nodes of a large map from which distances are measured
_GAP = 2.0  # between components


def layout_map(cognitive_map: CognitiveMap, polished: int = _SMALL) -> Floats:
    """(V, 2) x, y of each node; the same map gives the same layout, and an edge is about 1 long.

    By dead reckoning where the names of the actions say how they move the agent, and the map agrees. Otherwise by
    classical scaling of the distances in steps on the undirected graph. Kamada-Kawai improves components of at most
    `polished` nodes, and on a large map distances are measured from some nodes only. Components stand side by side,
    largest first. Where an action turns the agent, spots are laid out first, and the nodes of a spot around it.
    """
    cognitive_map = cognitive_map.deterministic()  # a slip is no neighbour
    reckoned = reckon(cognitive_map)
    if reckoned is not None:
        return _side_by_side(*reckoned)
    circles = find_turns(cognitive_map)
    if circles is not None:
        spots = _layout(spot_graph(cognitive_map, circles), polished)
        return spread_turns(cognitive_map, circles, spots)
    nodes = cognitive_map.num_nodes
    edges = (np.ones(cognitive_map.num_edges), (cognitive_map.edge_source, cognitive_map.edge_target))
    return _oriented(cognitive_map, _layout(coo_array(edges, shape=(nodes, nodes)).tocsr(), polished))


def _oriented(cognitive_map: CognitiveMap, points: Floats) -> Floats:
    """(V, 2) the layout turned and mirrored so that actions named by directions lead there, as far as they agree."""
    named = meaning_of(cognitive_map).way
    if len(np.unique(named[named != 0])) < 2:
        return points
    way = np.stack([named.real, named.imag], axis=1)
    moved = points[cognitive_map.edge_target] - points[cognitive_map.edge_source]  # (E, 2)
    wanted = way[cognitive_map.edge_action]
    counted = wanted.any(axis=1) & (cognitive_map.edge_source != cognitive_map.edge_target)
    left, _, right = np.linalg.svd(moved[counted].T @ wanted[counted])  # the orthogonal Procrustes problem
    turned = points @ (left @ right)
    return turned - turned.min(axis=0, initial=0.0)


def _layout(graph: Any, polished: int) -> Floats:
    """(V, 2) the components of a sparse graph (V, V) side by side."""
    places = np.zeros((graph.shape[0], 2))
    parts, part = csgraph.connected_components(graph, directed=False)
    for number in range(parts):
        members = np.flatnonzero(part == number)
        places[members] = _draw(graph[members][:, members], polished)
    return _side_by_side(places, part)


def _side_by_side(points: Floats, part: Integers) -> Floats:
    """(V, 2) the points, moved so that the components (V,) do not overlap, largest first."""
    places = np.zeros_like(points)
    left = 0.0
    for number in np.argsort(-np.bincount(part), kind="stable") if len(part) else ():
        members = np.flatnonzero(part == number)
        drawn = points[members] - points[members].min(axis=0)
        places[members] = drawn + np.array([left, 0.0])
        left += drawn[:, 0].max() + _GAP
    return places


def _draw(graph: Any, polished: int) -> Floats:
    """(V, 2) one component of a map, with edges as a sparse (V, V)."""
    if graph.shape[0] > _LARGE:
        return _scale_from_pivots(graph)
    apart = csgraph.shortest_path(graph, directed=False, unweighted=True)
    drawn = _scale(apart)
    return _polish(apart, drawn) if 2 < len(apart) <= polished else drawn


def _scale_from_pivots(graph: Any) -> Floats:
    """(V, 2) classical scaling by the distances from a few nodes far from each other (Brandes and Pich's pivots)."""
    both_ways = (graph + graph.T).tocsr()
    apart = np.empty((graph.shape[0], _PIVOTS))
    nearest, pivot = np.full(len(apart), np.inf), 0
    for column in range(_PIVOTS):
        apart[:, column] = csgraph.dijkstra(both_ways, unweighted=True, indices=pivot)
        nearest = np.minimum(nearest, apart[:, column])
        pivot = int(nearest.argmax())
    squares = -0.5 * apart**2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    values, vectors = eigh(squares.T @ squares, subset_by_index=(_PIVOTS - 2, _PIVOTS - 1))
    drawn = squares @ (_upright(vectors) / np.sqrt(np.maximum(values, 1e-12)))[:, ::-1]
    one, other = both_ways.nonzero()
    steps = np.linalg.norm(drawn[one] - drawn[other], axis=1)
    return drawn / max(float(steps[one != other].mean()), 1e-12)


def _upright(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eigenvectors with a fixed sign: the largest entry is positive, so that the same map gives the same layout."""
    return vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])


def _scale(apart: NDArray[np.float64]) -> Floats:
    """(V, 2) classical multidimensional scaling of distances (V, V)."""
    nodes = len(apart)
    if nodes < 3:
        return np.stack((np.arange(nodes, dtype=np.float64), np.zeros(nodes)), axis=1)
    squares = -0.5 * apart**2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    values, vectors = eigh(squares, subset_by_index=(nodes - 2, nodes - 1))
    return (_upright(vectors) * np.sqrt(np.maximum(values, 0)))[:, ::-1].copy()


def _polish(apart: NDArray[np.float64], start: Floats) -> Floats:
    """(V, 2) the Kamada-Kawai layout found from `start`, with a mean edge length of 1."""
    import networkx

    nodes = range(len(apart))
    graph = networkx.empty_graph(len(apart))
    distance = {one: dict(enumerate(apart[one].tolist())) for one in nodes}
    # Kamada-Kawai divides by distances, so no two points may coincide.
    apart_at_least = start + 1e-3 * np.random.default_rng(0).standard_normal(start.shape)
    drawn = networkx.kamada_kawai_layout(graph, dist=distance, pos=dict(enumerate(apart_at_least)))
    points = np.array([drawn[node] for node in nodes])
    one, other = np.nonzero(apart == 1)
    return points / np.linalg.norm(points[one] - points[other], axis=1).mean()
