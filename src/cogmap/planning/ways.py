"""The way to a goal from everywhere."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cogmap.errors import NoPath
from cogmap.planning.problem import Goal
from cogmap.planning.roads import Roads
from cogmap.records import Floats, Integers


class Ways:
    """The shortest way to a goal from every node, so that a surprise costs no new search."""

    def __init__(self, roads: Roads, goals: tuple[int, ...], avoid: frozenset[int], blame: Floats) -> None:
        # A forbidden node costs more than any path without one: passed only where there is no way round.
        forbidden = roads.shows(avoid)
        forbidden[list(goals)] = False
        length = 1 + blame + forbidden[roads.target] * (len(forbidden) + blame.sum())
        size = (roads.num_nodes, roads.num_nodes)
        backwards = csr_array((length, (roads.target, roads.source)), shape=size)
        _, self._next, _ = dijkstra(backwards, indices=list(goals), min_only=True, return_predecessors=True)
        self._roads = roads
        self._goals = goals

    def path(self, node: int, goal: Goal) -> Integers:
        """(L + 1,) nodes from this one to the nearest goal."""
        nodes = [node]
        while nodes[-1] not in self._goals:
            if self._next[nodes[-1]] < 0:
                raise _no_path(node, goal)
            nodes.append(int(self._next[nodes[-1]]))
        return np.array(nodes, dtype=np.int32)

    def first_action(self, node: int, goal: Goal) -> int:
        """The action that leads from this node, which is no goal, to the next on the path."""
        following = self._next[node]
        if following < 0:
            raise _no_path(node, goal)
        return int(self._roads.action[self._roads.between(node, following)])


def _no_path(node: int, goal: Goal) -> NoPath:
    return NoPath(f"there must be a path on the map from node {node} to {goal}, found none")
