"""The ground truth of a world: its graph, shortest routes, and how aliased it is.

Illegal moves are never taken. Distances count actions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.graphs import SearchGraph, backtrack, search_graph
from cogmap.errors import BadWorld, NoPath
from cogmap.records import Booleans, ChanceWorld, Floats, Integers, TableWorld

if TYPE_CHECKING:
    import networkx

_EQUAL = 1e-7  # probabilities that differ by less are equal


@dataclass(frozen=True, eq=False)
class Route:
    """A route through the world: `actions[i]` leads from `positions[i]` to `positions[i + 1]`."""

    actions: Integers  # (L,)
    positions: Integers  # (L + 1,)

    def __len__(self) -> int:
        return self.actions.shape[0]


def true_edges(world: TableWorld, bumps: bool = False) -> tuple[Integers, Integers, Integers]:
    """Source, action and target of every legal move, each (E,). `bumps` includes moves that stay in place."""
    taken = world.legal_actions().copy()  # (P, A)
    if not bumps:
        taken &= world.next_position != np.arange(world.num_positions)[:, None]
    source, action = np.nonzero(taken)
    return source.astype(np.int32), action.astype(np.int32), world.next_position[source, action]


def true_graph(world: TableWorld, bumps: bool = False) -> networkx.MultiDiGraph:
    """The world as a networkx graph. Nodes have an `observation`, edges an `action`, which is also their key."""
    import networkx

    graph = networkx.MultiDiGraph(name=world.name)
    graph.add_nodes_from(
        (position, {"observation": int(seen)}) for position, seen in enumerate(world.observation)
    )
    for source, action, target in zip(*(column.tolist() for column in true_edges(world, bumps)), strict=True):
        graph.add_edge(source, target, key=action, action=action)
    return graph


def optimal_distances(world: TableWorld, avoid: Collection[int] = (), strict: bool = False) -> Floats:
    """(P, P): number of actions on a shortest route between each pair of positions; inf where there is none.

    avoid: observations that the route must not pass; the start and the goal may show them. Where no such
        route exists, the shortest route of all counts, unless `strict`.
    """
    from scipy.sparse.csgraph import shortest_path

    graph = _graph_around(world, avoid)
    steps = shortest_path(graph.matrix, unweighted=True, indices=graph.departure)  # (P, G)
    distances = steps[:, graph.arrival]  # (P, P)
    np.fill_diagonal(distances, 0.0)
    if avoid and not strict:
        distances = np.where(np.isinf(distances), optimal_distances(world), distances)
    return distances


def optimal_route(
    world: TableWorld, start: int, goal: int, avoid: Collection[int] = (), strict: bool = False
) -> Route:
    """A shortest route, as measured by `optimal_distances`. Raises `NoPath` if there is none."""
    for name, position in [("start", start), ("goal", goal)]:
        if not 0 <= position < world.num_positions:
            raise BadWorld(f"`{name}` must be a position in [0, {world.num_positions}), got {position}")
    if start == goal:
        return Route(actions=np.empty(0, np.int32), positions=np.array([start], np.int32))
    visited = _shortest_route(world, start, goal, avoid)
    if visited is None and avoid and not strict:
        visited = _shortest_route(world, start, goal, ())
    if visited is None:
        around = f" that avoids {sorted(avoid)}" if avoid else ""
        raise NoPath(f"no route{around} leads from position {start} to {goal}")
    source, target = visited[:-1], visited[1:]
    moves = world.legal_actions()[source] & (world.next_position[source] == target[:, None])  # (L, A)
    return Route(actions=moves.argmax(axis=1).astype(np.int32), positions=visited)


def follow(world: TableWorld, start: Integers | int, actions: Integers) -> Integers:
    """(..., T + 1): the positions visited by taking `actions` (..., T) from each `start` (...), including the start."""
    visited = np.empty((*actions.shape[:-1], actions.shape[-1] + 1), dtype=np.int32)
    visited[..., 0] = start
    for step in range(actions.shape[-1]):
        visited[..., step + 1] = world.next_position[visited[..., step], actions[..., step]]
    return visited


def unreachable(next_position: Integers, legal: Booleans | None = None) -> tuple[int, int] | None:
    """A start and a goal without a route between them, or None if every position reaches every other."""
    taken = np.ones(next_position.shape, dtype=bool) if legal is None else legal
    source, action = np.nonzero(taken)
    return unreachable_by(source.astype(np.int32), next_position[source, action], len(next_position))


def unreachable_by(source: Integers, target: Integers, positions: int) -> tuple[int, int] | None:
    """The same for a world given by its moves from `source` (E,) to `target` (E,)."""
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    graph = search_graph(source, target, np.zeros(positions, dtype=bool)).matrix
    number, component = connected_components(graph, connection="strong")
    if number == 1:
        return None
    # Of two strongly connected components at most one reaches the other, so one direction has no route.
    start, goal = 0, int(np.flatnonzero(component != component[0])[0])
    reached = breadth_first_order(graph, start, return_predecessors=False)
    return (goal, start) if goal in reached else (start, goal)


def reachable_from(starts: Booleans, source: Integers, target: Integers) -> Booleans:
    """(P,): whether moves from `source` (E,) to `target` (E,) lead to a position from one of the `starts` (P,)."""
    from scipy.sparse.csgraph import dijkstra

    graph = search_graph(source, target, np.zeros(starts.size, dtype=bool)).matrix
    found: Booleans = np.isfinite(
        dijkstra(graph, indices=np.flatnonzero(starts), min_only=True, unweighted=True)
    )
    return found


def _forbidden(world: TableWorld, avoid: Collection[int]) -> Booleans:
    """(P,): true where an observation to avoid is seen."""
    for seen in avoid:
        if not 0 <= seen < world.num_observations:
            raise BadWorld(f"`avoid` must hold observations in [0, {world.num_observations}), got {seen}")
    return np.isin(world.observation, list(avoid))


def _graph_around(world: TableWorld, avoid: Collection[int]) -> SearchGraph:
    source, _, target = true_edges(world)
    return search_graph(source, target, _forbidden(world, avoid))


def _shortest_route(world: TableWorld, start: int, goal: int, avoid: Collection[int]) -> Integers | None:
    """(L + 1,): the positions along a shortest route that passes through no observation of `avoid`, or None."""
    from scipy.sparse.csgraph import breadth_first_order

    graph = _graph_around(world, avoid)
    root = int(graph.departure[start])
    _, predecessors = breadth_first_order(graph.matrix, root)
    vertices = backtrack(predecessors, root, int(graph.arrival[goal]))
    return None if vertices is None else graph.node[vertices]


@dataclass(frozen=True)
class Aliasing:
    """How many places share an observation."""

    places: int
    seen: int  # observations that occur
    shared: int  # observations that several places show
    places_sharing: int  # places that show a shared observation
    most: int  # places of the most common observation
    told_apart: int  # places that actions can distinguish; a column of stored results has this name

    def sentence(self) -> str:
        text = (
            f"{self.places} places show {self.seen} observations: {self.shared} observations are shared, "
            f"by {self.places_sharing} places, up to {self.most} places per observation"
        )
        lost = self.places - self.told_apart
        return text + (f"; {lost} places can never be distinguished from others" if lost else "")


def aliasing(world: TableWorld) -> Aliasing:
    places = np.bincount(world.observation, minlength=world.num_observations)  # (O,)
    return Aliasing(
        places=world.num_positions,
        seen=int((places > 0).sum()),
        shared=int((places > 1).sum()),
        places_sharing=int(places[places > 1].sum()),
        most=int(places.max()),
        told_apart=int(equivalent_positions(world).max()) + 1,
    )


def equivalent_positions(world: TableWorld) -> Integers:
    """(P,): the class of each position. No sequence of actions distinguishes two positions of one class.

    Moore's partition refinement: equal classes show the same observation and lead to equal classes, with the same
    probabilities in a world with chance.
    """
    if isinstance(world, ChanceWorld) and world.observation_probability is not None:
        group = np.unique(world.observation_probability, axis=0, return_inverse=True)[1].reshape(-1)
    else:
        group = np.unique(world.observation, return_inverse=True)[1].reshape(-1)
    while True:
        described = np.column_stack([group, _targets_by_class(world, group)])  # (P, 1 + A)
        finer = np.unique(described, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == group.max():
            return group.astype(np.int32)
        group = finer


def _targets_by_class(world: TableWorld, group: NDArray[Any]) -> NDArray[Any]:
    """(P, A): the class to which each action leads, or a number of its distribution over classes."""
    if not isinstance(world, ChanceWorld):
        # What an action that is not offered would do is never seen: it counts as staying.
        return np.where(world.legal_actions(), group[world.next_position], group[:, None])
    classes = int(group.max()) + 1
    cell, which = np.unique(world.move_row * classes + group[world.move_target], return_inverse=True)
    chance = np.bincount(which.reshape(-1), world.move_probability)
    row, target = np.divmod(cell, classes)
    # Rounded, because equal probabilities may be sums of different numbers.
    parts = zip(
        row.tolist(), target.tolist(), np.rint(chance / _EQUAL).astype(np.int64).tolist(), strict=True
    )
    listed: list[list[tuple[int, int]]] = [[] for _ in range(world.next_position.size)]
    for at, *part in parts:
        listed[at].append((part[0], part[1]))
    number: dict[tuple[tuple[int, int], ...], int] = {}
    numbered = [number.setdefault(tuple(each), len(number)) for each in listed]
    return np.array(numbered).reshape(world.next_position.shape)
