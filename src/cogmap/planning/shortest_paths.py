"""Shortest paths on a map, one or thousands in a call: to a node or an observation, past what to avoid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra, reverse_cuthill_mckee

from cogmap.errors import NoPath, NotOnMap
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Labels, Plan


@dataclass(frozen=True)
class Showing:
    """A goal by sight: any node that shows this observation, the nearest one first."""

    observation: int | str


Goal = int | Sequence[int] | Showing


@dataclass(frozen=True)
class Problem:
    """One question to the planner.

    A path keeps off nodes that show an observation of `avoid`; the start and the goal themselves may show
    one. Where no such path exists the constraint is dropped, as in the paper, unless `strict`.
    """

    start: int
    goal: Goal
    avoid: tuple[int | str, ...] = ()
    strict: bool = False


def observation_index(name: int | str, count: int, labels: Labels | None, what: str = "observation") -> int:
    """The index of an observation given by its label or by the index itself."""
    if labels is not None and name in labels:
        return labels.index(str(name))
    if isinstance(name, str) and not name.isdecimal():
        known = "has no labels" if labels is None else f"knows {_some(labels)}"
        raise NotOnMap(f"`{what}` must be an observation of the map, which {known}; got {name!r}")
    if not 0 <= int(name) < count:
        raise NotOnMap(f"`{what}` must be an observation of the map, 0 to {count - 1}, got {name}")
    return int(name)


def avoided_observations(cognitive_map: CognitiveMap, avoid: Iterable[int | str]) -> frozenset[int]:
    """The indices of the observations to keep away from."""
    if isinstance(avoid, str):
        avoid = (avoid,)
    count, labels = cognitive_map.num_observations, cognitive_map.observation_labels
    return frozenset(observation_index(name, count, labels, "avoid") for name in avoid)


def goal_nodes(cognitive_map: CognitiveMap, goal: Goal) -> tuple[int, ...]:
    """The nodes that would each do as a goal, in rising order."""
    if isinstance(goal, Showing):
        count, labels = cognitive_map.num_observations, cognitive_map.observation_labels
        index = observation_index(goal.observation, count, labels, "goal")
        nodes = tuple(np.flatnonzero(cognitive_map.node_observation == index).tolist())
        if not nodes:
            raise NotOnMap(f"`goal` must be shown by a node of the map, no node shows {goal.observation!r}")
        return nodes
    chosen = (goal,) if isinstance(goal, int | np.integer) else tuple(goal)
    if not chosen:
        raise NotOnMap("`goal` must name at least one node of the map, got none")
    return tuple(sorted({check_node(cognitive_map, node, "goal") for node in chosen}))


def check_node(cognitive_map: CognitiveMap, node: int, what: str) -> int:
    """The node itself, if the map has it."""
    if not 0 <= node < cognitive_map.num_nodes:
        raise NotOnMap(f"`{what}` must be a node of the map, 0 to {cognitive_map.num_nodes - 1}, got {node}")
    return int(node)


def _some(labels: Labels, most: int = 12) -> str:
    return ", ".join(labels[:most]) + (", ..." if len(labels) > most else "")


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
                raise _no_path(Problem(node, goal))
            nodes.append(int(self._next[nodes[-1]]))
        return np.array(nodes, dtype=np.int32)

    def first_action(self, node: int, goal: Goal) -> int:
        """The action that leads from this node, which is no goal, to the next on the path."""
        following = self._next[node]
        if following < 0:
            raise _no_path(Problem(node, goal))
        return int(self._roads.action[self._roads.between(node, following)])


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
