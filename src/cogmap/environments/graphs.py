"""Graphs for path search: a path may start and end at a forbidden node, but not pass through one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Booleans, Integers


class SearchGraph(NamedTuple):
    """A graph in which each forbidden node has two vertices, so that one graph serves all starts and goals.

    The arrival vertex is entered and never left, the departure vertex is left and never entered.
    """

    matrix: Any  # sparse (G, G), above zero where there is an edge
    departure: Integers  # (V,) the vertex at which a path from each node starts
    arrival: Integers  # (V,) the vertex at which a path to each node ends
    node: Integers  # (G,) the node of each vertex


def search_graph(source: NDArray[Any], target: NDArray[Any], forbidden: Booleans) -> SearchGraph:
    """The graph of edges from `source` (E,) to `target` (E,) around the nodes that are `forbidden` (V,)."""
    from scipy.sparse import csr_array

    nodes = forbidden.size
    node = np.append(np.arange(nodes), np.flatnonzero(forbidden)).astype(np.int32)  # (G,)
    arrival = np.arange(nodes, dtype=np.int32)
    departure = arrival.copy()
    departure[forbidden] = np.arange(nodes, len(node))
    # Weights are float64 because csgraph would convert anything else at every call.
    weights = np.ones(len(source))
    matrix = csr_array((weights, (departure[source], target)), shape=(len(node), len(node)))
    return SearchGraph(matrix, departure, arrival, node)


def backtrack(predecessors: Integers, root: int, vertex: int) -> list[int] | None:
    """The vertices from `root` to `vertex`, or None where the search (G,) did not reach it."""
    path = [vertex]
    while path[-1] != root:
        before = predecessors.item(path[-1])
        if before < 0:
            return None
        path.append(before)
    return path[::-1]
