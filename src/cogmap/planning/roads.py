"""The roads of a map: its edges as sparse graphs on which shortest paths are found."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from cogmap.records import Booleans, CognitiveMap, Integers

_GRAPHS_KEPT = 64


class Graph(NamedTuple):
    """A graph to search. Its vertices are numbered so that neighbours lie close together in memory."""

    matrix: Any  # sparse (G, G), one where there is a road
    departure: Integers  # (V,) the vertex at which a path from each node starts
    arrival: Integers  # (V,) the vertex at which a path to each node ends
    node: Integers  # (G,) the node of each vertex


class Roads:
    """One road from each node to each neighbour, by the action with the most support.

    Self-loops are no roads: a shortest path never takes one.
    """

    def __init__(self, cognitive_map: CognitiveMap) -> None:
        # Arrays only, never the map itself: `roads_of` forgets the roads of a map that is gone.
        self.num_nodes = cognitive_map.num_nodes
        self.node_observation = cognitive_map.node_observation  # (V,)
        moves = np.flatnonzero(cognitive_map.edge_source != cognitive_map.edge_target)
        keys = self._key(cognitive_map.edge_source[moves], cognitive_map.edge_target[moves])
        support = cognitive_map.edge_support[moves].astype(np.int64)
        order = np.lexsort((cognitive_map.edge_action[moves], -support, keys))
        self._keys, first = np.unique(keys[order], return_index=True)  # (R,) rising, one a road
        best = moves[order[first]]
        self.source = cognitive_map.edge_source[best]  # (R,)
        self.target = cognitive_map.edge_target[best]  # (R,)
        self.action = cognitive_map.edge_action[best]  # (R,)
        self._graphs: dict[frozenset[int], Graph] = {}

    def between(self, source: ArrayLike, target: ArrayLike) -> NDArray[np.int64]:
        """(L,) the road from each source to each target; both must be ends of one."""
        return np.searchsorted(self._keys, self._key(np.asarray(source), np.asarray(target)))

    def graph(self, avoid: frozenset[int]) -> Graph:
        """A graph whose paths pass through no node that shows an observation of `avoid`.

        A path may start and end at such a node. So each has two vertices: an arrival, which is entered and
        never left, and a departure, which is left and never entered. One graph serves all starts and goals.
        """
        if avoid not in self._graphs:
            if len(self._graphs) >= _GRAPHS_KEPT:
                self._graphs.clear()
            self._graphs[avoid] = self._build(self.shows(avoid))
        return self._graphs[avoid]

    def shows(self, observations: frozenset[int]) -> Booleans:
        """(V,) whether each node shows one of these."""
        return np.isin(self.node_observation, list(observations))

    def _build(self, forbidden: Booleans) -> Graph:
        node = np.append(np.arange(self.num_nodes), np.flatnonzero(forbidden))  # (G,)
        departure = np.arange(self.num_nodes)
        departure[forbidden] = np.arange(self.num_nodes, len(node))
        # Weights are float64 because csgraph would convert anything else at every call.
        ones, size = np.ones(len(self.source)), (len(node), len(node))
        order = reverse_cuthill_mckee(csr_array((ones, (departure[self.source], self.target)), shape=size))
        rank = np.argsort(order).astype(np.int32)
        matrix = csr_array((ones, (rank[departure[self.source]], rank[self.target])), shape=size)
        return Graph(matrix, rank[departure], rank[: self.num_nodes], node[order].astype(np.int32))

    def _key(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[np.int64]:
        return source.astype(np.int64) * self.num_nodes + target


_ROADS: WeakKeyDictionary[CognitiveMap, Roads] = WeakKeyDictionary()


def roads_of(cognitive_map: CognitiveMap) -> Roads:
    """The roads of a map, made once and kept for as long as the map lives."""
    roads = _ROADS.get(cognitive_map)
    if roads is None:
        roads = _ROADS[cognitive_map] = Roads(cognitive_map)
    return roads
