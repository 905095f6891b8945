"""Shortest paths on a map, one or thousands in a call: to a node or to an observation, around what to avoid.

`TransitionGraph` is the map as a graph to search, made once for each map. `solve` and `solve_many` search forwards from
a start; `ShortestPathTree` searches backwards from a goal and then knows the next step from every node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra, reverse_cuthill_mckee

from cogmap.environments.graphs import SearchGraph, backtrack, search_graph
from cogmap.errors import NoPath, NotOnMap
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Labels, Plan

_MOST_SEARCH_GRAPHS = 64  # kept for each map, one for each set of observations to avoid
_MOST_SEARCHED = 1 << 22  # nodes of all searches that are kept for a map: of 300 nodes those from every start
_DIGITS = 18  # of an index: Python takes long to read thousands of them, and refuses


@dataclass(frozen=True)
class Showing:
    """A goal by observation: the nearest node that shows it."""

    observation: int | str


Goal = int | Sequence[int] | Showing


@dataclass(frozen=True)
class Problem:
    """A start, a goal and the observations to avoid.

    The path passes through no node that shows an observation of `avoid`; the start and the goal may show one.
    Where no such path exists the constraint is dropped, as in the paper, unless `strict`.
    """

    start: int
    goal: Goal
    avoid: tuple[int | str, ...] = ()
    strict: bool = False


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

    Problems with the same start and the same observations to avoid share one search.
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
    graph = transition_graph(cognitive_map)
    for (avoid, start), members in groups.items():
        search = graph.search(start, avoid)
        for index, goals in members:
            nodes = search.path(goals)
            if nodes is None and avoid and not problems[index].strict:
                nodes = graph.search(start, frozenset()).path(goals)
            outcomes[index] = _no_path(problems[index]) if nodes is None else plan_along(cognitive_map, nodes)
    return [outcome for outcome in outcomes if outcome is not None]


def plan_along(cognitive_map: CognitiveMap, nodes: Integers) -> Plan:
    """The plan that visits these nodes (L + 1,) in turn; there must be an edge from each to the next."""
    graph = transition_graph(cognitive_map)
    return Plan(
        actions=graph.action[graph.edges_between(nodes[:-1], nodes[1:])],
        observations=cognitive_map.node_observation[nodes],
        nodes=nodes,
        observation_labels=cognitive_map.observation_labels,
        action_labels=cognitive_map.action_labels,
    )


def next_node_table(cognitive_map: CognitiveMap) -> Integers:
    """(V, A) where each action leads from each node, by its edge with the most support; -1 where unknown."""
    table = np.full((cognitive_map.num_nodes, cognitive_map.num_actions), -1, dtype=np.int32)
    cognitive_map = cognitive_map.deterministic()
    rising = np.argsort(cognitive_map.edge_support, kind="stable")  # the last write has the most support
    source, action = cognitive_map.edge_source[rising], cognitive_map.edge_action[rising]
    table[source, action] = cognitive_map.edge_target[rising]
    return table


class TransitionGraph:
    """The map with one edge from each node to each neighbour, by the action with the most support.

    There are no self-loops: a shortest path never takes one.
    """

    def __init__(self, cognitive_map: CognitiveMap) -> None:
        # Arrays only, never the map itself, or `transition_graph` would keep every map alive.
        cognitive_map = cognitive_map.deterministic()  # a path must not count on a slip
        self.num_nodes = cognitive_map.num_nodes
        self.node_observation = cognitive_map.node_observation  # (V,)
        moves = np.flatnonzero(cognitive_map.edge_source != cognitive_map.edge_target)
        keys = self._key(cognitive_map.edge_source[moves], cognitive_map.edge_target[moves])
        support = cognitive_map.edge_support[moves].astype(np.int64)
        order = np.lexsort((cognitive_map.edge_action[moves], -support, keys))
        self._keys, first = np.unique(keys[order], return_index=True)  # (E,) rising, one for each edge
        best = moves[order[first]]
        self.source = cognitive_map.edge_source[best]  # (E,)
        self.target = cognitive_map.edge_target[best]  # (E,)
        self.action = cognitive_map.edge_action[best]  # (E,)
        self._search_graphs: dict[frozenset[int], SearchGraph] = {}
        self._searches: dict[tuple[frozenset[int], int], _Search] = {}

    def edges_between(self, source: ArrayLike, target: ArrayLike) -> NDArray[np.int64]:
        """(L,) the edge from each source to each target; there must be one."""
        return np.searchsorted(self._keys, self._key(np.asarray(source), np.asarray(target)))

    def has_edge(self, source: Integers, target: Integers) -> Booleans:
        """Whether there is an edge from each source to each target, for nodes of any shape; -1 has none."""
        known = (source >= 0) & (target >= 0)
        return known & np.isin(self._key(source, target), self._keys)

    def search_graph(self, avoid: frozenset[int]) -> SearchGraph:
        """The graph whose paths pass through no node that shows an observation of `avoid`."""
        kept = self._search_graphs.get(avoid)
        if kept is None:
            if len(self._search_graphs) >= _MOST_SEARCH_GRAPHS:
                self._search_graphs.clear()  # by any thread at any time: what is asked for is never looked up again
            kept = _neighbours_close_in_memory(search_graph(self.source, self.target, self.shows(avoid)))
            self._search_graphs[avoid] = kept
        return kept

    def search(self, start: int, avoid: frozenset[int]) -> _Search:
        """All shortest paths from a node that pass through no node that shows an observation of `avoid`."""
        kept = self._searches.get((avoid, start))
        if kept is None:
            if len(self._searches) * self.num_nodes >= _MOST_SEARCHED:
                self._searches.clear()
            kept = self._searches[avoid, start] = _Search(self, start, avoid)
        return kept

    def shows(self, observations: frozenset[int]) -> Booleans:
        """(V,) whether each node shows one of these."""
        return np.isin(self.node_observation, list(observations))

    def _key(self, source: NDArray[Any], target: NDArray[Any]) -> NDArray[np.int64]:
        return source.astype(np.int64) * self.num_nodes + target


_TRANSITION_GRAPHS: WeakKeyDictionary[CognitiveMap, TransitionGraph] = WeakKeyDictionary()


def transition_graph(cognitive_map: CognitiveMap) -> TransitionGraph:
    """The transition graph of a map, made once and kept for as long as the map lives."""
    graph = _TRANSITION_GRAPHS.get(cognitive_map)
    if graph is None:
        graph = _TRANSITION_GRAPHS[cognitive_map] = TransitionGraph(cognitive_map)
    return graph


class ShortestPathTree:
    """The shortest path to a goal from every node, so that an agent that strays needs no new search.

    penalty: (E,) extra length of each edge of the graph.
    """

    def __init__(
        self, graph: TransitionGraph, goals: tuple[int, ...], avoid: frozenset[int], penalty: Floats
    ) -> None:
        # A node to avoid costs more than any path without one: it is passed only where there is no detour.
        forbidden = graph.shows(avoid)
        forbidden[list(goals)] = False
        length = 1 + penalty + forbidden[graph.target] * (len(forbidden) + penalty.sum())
        size = (graph.num_nodes, graph.num_nodes)
        backwards = csr_array((length, (graph.target, graph.source)), shape=size)
        _, self._next, _ = dijkstra(backwards, indices=list(goals), min_only=True, return_predecessors=True)
        self._graph = graph
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
        return int(self._graph.action[self._graph.edges_between(node, following)])


def observation_index(name: int | str, count: int, labels: Labels | None, what: str = "observation") -> int:
    """The index of an observation given by its label or by the index itself."""
    if labels is not None and name in labels:
        return labels.index(str(name))
    if isinstance(name, str) and not name.isdecimal():
        known = "has no labels" if labels is None else f"knows {_first_labels(labels)}"
        raise NotOnMap(f"`{what}` must be an observation of the map, which {known}; got {name!r:.60}")
    if len(str(name)) > _DIGITS or not 0 <= int(name) < count:
        raise NotOnMap(f"`{what}` must be an observation of the map, 0 to {count - 1}, got {name!s:.60}")
    return int(name)


def avoided_observations(cognitive_map: CognitiveMap, avoid: Iterable[int | str]) -> frozenset[int]:
    """The indices of the observations to avoid."""
    if isinstance(avoid, str):
        avoid = (avoid,)
    count, labels = cognitive_map.num_observations, cognitive_map.observation_labels
    return frozenset(observation_index(name, count, labels, "avoid") for name in avoid)


def goal_nodes(cognitive_map: CognitiveMap, goal: Goal) -> tuple[int, ...]:
    """The nodes that count as the goal, in ascending order."""
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


class _Search:
    """All shortest paths from one start, found breadth first."""

    def __init__(self, graph: TransitionGraph, start: int, avoid: frozenset[int]) -> None:
        self._graph = graph.search_graph(avoid)
        self._start = start
        self._root = int(self._graph.departure[start])
        self._order, self._predecessors = breadth_first_order(self._graph.matrix, self._root)

    def path(self, goals: tuple[int, ...]) -> Integers | None:
        """(L + 1,) nodes from the start to the nearest goal, or None if none can be reached."""
        if self._start in goals:
            return np.array([self._start], dtype=np.int32)
        vertex = self._nearest(goals)
        vertices = None if vertex is None else backtrack(self._predecessors, self._root, vertex)
        return None if vertices is None else self._graph.node[vertices]

    def _nearest(self, goals: tuple[int, ...]) -> int | None:
        """The vertex of the nearest goal: breadth first reaches vertices in the order of their distance."""
        vertices = self._graph.arrival[list(goals)]
        if len(goals) == 1:
            return int(vertices[0])
        reached = np.flatnonzero(np.isin(self._order, vertices))
        return int(self._order[reached[0]]) if reached.size else None


def _neighbours_close_in_memory(graph: SearchGraph) -> SearchGraph:
    """The same graph with its vertices renumbered, which makes searches on a large map two to four times faster."""
    order = reverse_cuthill_mckee(graph.matrix)
    rank = np.argsort(order).astype(np.int32)
    edges = graph.matrix.tocoo()
    matrix = csr_array((edges.data, (rank[edges.row], rank[edges.col])), shape=edges.shape)
    return SearchGraph(matrix, rank[graph.departure], rank[graph.arrival], graph.node[order])


def _no_path(problem: Problem) -> NoPath:
    around = f" that avoids {', '.join(map(str, problem.avoid))}" if problem.strict and problem.avoid else ""
    goal = problem.goal
    end = f"a node that shows {goal.observation!r}" if isinstance(goal, Showing) else f"node {goal}"
    return NoPath(f"no path{around} on the map leads from node {problem.start} to {end}")


def _first_labels(labels: Labels, most: int = 12) -> str:
    return ", ".join(labels[:most]) + (", ..." if len(labels) > most else "")
