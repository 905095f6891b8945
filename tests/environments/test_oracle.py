from collections import deque

import networkx
import numpy as np
import pytest

from cogmap.environments import (
    AliasedCube,
    AliasedRoom,
    TableWorld,
    from_tables,
    maze_from_text,
    optimal_distances,
    optimal_route,
    torus,
    true_edges,
    true_graph,
)
from cogmap.errors import BadWorld, NoPath

WORLDS = [
    AliasedRoom(6, 8, seed=1),
    AliasedRoom(6, 8, walls=8, bump="resample", seed=2),
    AliasedCube(3, 4, seed=1),
    torus(4, 5, one_way_doors=12, seed=1),
    from_tables([[1, 2], [1, 3], [2, 2], [3, 0]], [0, 1, 2, 1]),  # position 2 is a trap
]
each_world = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)


def lengths_by_hand(world, start, avoid=()):
    """Breadth-first search over legal moves that expands no forbidden position except the start."""
    found, queue = {start: 0}, deque([start])
    while queue:
        position = queue.popleft()
        if position != start and world.observation[position] in avoid:
            continue
        for action in np.flatnonzero(world.legal_actions()[position]):
            target = int(world.next_position[position, action])
            if target not in found:
                found[target] = found[position] + 1
                queue.append(target)
    return [found.get(goal, np.inf) for goal in range(world.num_positions)]


@each_world
@pytest.mark.parametrize("avoid", [(), (1,), (0, 2)])
def test_distances_against_a_plain_search(world, avoid):
    strict = optimal_distances(world, avoid, strict=True)
    expected = np.array([lengths_by_hand(world, start, avoid) for start in range(world.num_positions)])
    assert np.array_equal(strict, expected)
    plain = np.array([lengths_by_hand(world, start) for start in range(world.num_positions)])
    when_possible = optimal_distances(world, avoid)
    assert np.array_equal(when_possible, np.where(np.isinf(expected), plain, expected))


@each_world
@pytest.mark.parametrize("avoid", [(), (1,)])
@pytest.mark.parametrize("strict", [True, False])
def test_routes_are_walkable_and_as_long_as_the_distance(world, avoid, strict):
    distances = optimal_distances(world, avoid, strict)
    possible = optimal_distances(world, avoid, strict=True)
    for start in range(0, world.num_positions, 3):
        for goal in range(world.num_positions):
            if np.isinf(distances[start, goal]):
                with pytest.raises(NoPath, match=f"from position {start} to {goal}"):
                    optimal_route(world, start, goal, avoid, strict)
                continue
            route = optimal_route(world, start, goal, avoid, strict)
            here, there = route.positions[:-1], route.positions[1:]
            assert len(route) == distances[start, goal] == len(here)
            assert (route.positions[0], route.positions[-1]) == (start, goal)
            assert np.array_equal(world.next_position[here, route.actions], there)
            assert world.legal_actions()[here, route.actions].all()
            if np.isfinite(possible[start, goal]):
                assert not np.isin(world.observation[route.positions[1:-1]], avoid).any()


def test_a_one_way_door_has_a_direction():
    ring = from_tables([[1], [2], [3], [0]], [0, 0, 0, 0])
    assert optimal_distances(ring)[0].tolist() == [0, 1, 2, 3]
    assert optimal_distances(ring)[:, 0].tolist() == [0, 3, 2, 1]


def test_illegal_moves_are_not_taken():
    tables = np.array([[1, 0], [2, 0], [2, 1]])
    legal = np.array([[True, True], [False, True], [True, True]])
    world = TableWorld(tables, np.zeros(3, int), 1, legal=legal)
    assert np.isinf(optimal_distances(world)[0, 2])
    assert optimal_distances(world)[2, 0] == 2


def test_avoiding_by_hand():
    """A ring: the short way round shows `x`, the long way does not."""
    maze = maze_from_text("axa\na#a\naaa")
    a, x = 0, 1
    assert maze.observation_labels == ("a", "x")
    assert len(optimal_route(maze, 0, 2)) == 2
    around = optimal_route(maze, 0, 2, avoid=[x])
    assert len(around) == 6
    assert x not in maze.observation[around.positions]
    assert len(optimal_route(maze, 0, 1, avoid=[x])) == 1  # the goal itself may be seen
    assert len(optimal_route(maze, 1, 6, avoid=[x])) == 4  # and the start
    assert len(optimal_route(maze, 0, 2, avoid=[a])) == 2  # `x` lies between, so this can be done
    assert len(optimal_route(maze, 0, 7, avoid=[a])) == 4  # this cannot: the shortest of all
    with pytest.raises(NoPath, match=r"no route that avoids \[0\] leads from position 0 to 7"):
        optimal_route(maze, 0, 7, avoid=[a], strict=True)


def test_start_is_goal():
    route = optimal_route(AliasedRoom(6, 8), 5, 5)
    assert len(route) == 0
    assert route.positions.tolist() == [5]


@each_world
def test_true_graph_has_the_legal_moves_and_no_others(world):
    graph = true_graph(world, bumps=True)
    edges = {(source, data["action"], target) for source, target, data in graph.edges(data=True)}
    legal = world.legal_actions()
    expected = {
        (position, action, int(world.next_position[position, action]))
        for position, action in np.ndindex(*world.next_position.shape)
        if legal[position, action]
    }
    assert edges == expected
    assert [graph.nodes[position]["observation"] for position in graph] == world.observation.tolist()
    without = true_graph(world)
    assert networkx.number_of_selfloops(without) == 0
    assert without.number_of_edges() == true_edges(world)[0].size == sum(s != t for s, _, t in expected)


def test_bad_questions():
    room = AliasedRoom(6, 8)
    with pytest.raises(BadWorld, match=r"`goal` must be a position in \[0, 48\), got 48"):
        optimal_route(room, 0, 48)
    with pytest.raises(BadWorld, match=r"`start` must be a position in \[0, 48\), got -1"):
        optimal_route(room, -1, 3)
    with pytest.raises(BadWorld, match=r"`avoid` must hold observations in \[0, 4\), got 4"):
        optimal_distances(room, avoid=[4])
