"""Shortest paths on a map, one or thousands in a call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from cogmap.errors import NoPath, NotOnMap
from cogmap.planning.problem import Goal, Problem, avoided_observations, check_node, goal_nodes
from cogmap.planning.roads import Roads, roads_of
from cogmap.records import CognitiveMap, Integers, Plan

Outcome = Plan | NoPath | NotOnMap


def solve(
    cognitive_map: CognitiveMap,
    start: int,
    goal: Goal,
    avoid: Iterable[int | str] = (),
    strict: bool = False,
) -> Plan:
    """A shortest path from a node to a goal, or NoPath; NotOnMap if an end of it is not on the map."""
    avoid = (avoid,) if isinstance(avoid, str) else tuple(avoid)
    (outcome,) = solve_many(cognitive_map, [Problem(start, goal, avoid, strict)])
    if isinstance(outcome, Plan):
        return outcome
    raise outcome


def solve_many(cognitive_map: CognitiveMap, problems: Sequence[Problem]) -> list[Outcome]:
    """A plan for each problem, in order, or the error that says why there is none.

    Problems that share a start and what is avoided share one search.
    """
    outcomes: list[Outcome | None] = [None] * len(problems)
    groups: dict[tuple[frozenset[int], int], list[tuple[int, tuple[int, ...]]]] = {}
    for index, problem in enumerate(problems):
        try:
            avoid = avoided_observations(cognitive_map, problem.avoid)
            start = check_node(cognitive_map, problem.start, "start")
            groups.setdefault((avoid, start), []).append((index, goal_nodes(cognitive_map, problem.goal)))
        except NotOnMap as error:
            outcomes[index] = error
    roads = roads_of(cognitive_map)
    for (avoid, start), members in groups.items():
        search = _Search(roads, start, avoid)
        unconstrained: _Search | None = None
        for index, goals in members:
            nodes = search.path(goals)
            if nodes is None and avoid and not problems[index].strict:
                unconstrained = unconstrained or _Search(roads, start, frozenset())
                nodes = unconstrained.path(goals)
            outcomes[index] = _no_path(problems[index]) if nodes is None else plan_along(cognitive_map, nodes)
    return [outcome for outcome in outcomes if outcome is not None]


class _Search:
    """All shortest paths from one start, found breadth first."""

    def __init__(self, roads: Roads, start: int, avoid: frozenset[int]) -> None:
        self._graph = roads.graph(avoid)
        self._start = start
        self._root = int(self._graph.departure[start])
        self._order, self._before = breadth_first_order(self._graph.matrix, self._root)

    def path(self, goals: tuple[int, ...]) -> Integers | None:
        """(L + 1,) nodes from the start to the nearest goal, or None if none can be reached."""
        if self._start in goals:
            return np.array([self._start], dtype=np.int32)
        vertex = self._nearest(goals)
        if vertex is None:
            return None
        backwards = [vertex]
        while vertex != self._root:
            vertex = self._before.item(vertex)
            backwards.append(vertex)
        return self._graph.node[backwards[::-1]]

    def _nearest(self, goals: tuple[int, ...]) -> int | None:
        """The vertex of the nearest goal: breadth first reaches vertices in the order of their distance."""
        vertices = self._graph.arrival[list(goals)]
        if len(goals) > 1:
            reached = np.flatnonzero(np.isin(self._order, vertices))
            return int(self._order[reached[0]]) if reached.size else None
        return int(vertices[0]) if self._before[vertices[0]] >= 0 else None


def plan_along(cognitive_map: CognitiveMap, nodes: Integers) -> Plan:
    """The plan that visits these nodes (L + 1,) in turn; there must be a road from each to the next."""
    roads = roads_of(cognitive_map)
    return Plan(
        actions=roads.action[roads.between(nodes[:-1], nodes[1:])],
        observations=cognitive_map.node_observation[nodes],
        nodes=nodes,
        observation_labels=cognitive_map.observation_labels,
        action_labels=cognitive_map.action_labels,
    )


def _no_path(problem: Problem) -> NoPath:
    around = f" that avoids {', '.join(map(str, problem.avoid))}" if problem.strict and problem.avoid else ""
    return NoPath(
        f"there must be a path{around} on the map from node {problem.start} to {problem.goal}, found none"
    )
