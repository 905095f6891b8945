"""Drawings without truth: neighbours near each other, the same each time, parts side by side."""

from __future__ import annotations

import numpy as np
from coded_worlds import grid
from edgeless_maps import edgeless_map

from cogmap.records import CognitiveMap, TableWorld
from cogmap.report.layout import layout_map


def map_of(world: TableWorld) -> CognitiveMap:
    """The map that has the world's own places and moves."""
    places, actions = world.next_position.shape
    source, action = np.divmod(np.arange(places * actions), actions)
    return CognitiveMap(
        kind="minimal",
        node_observation=world.observation,
        node_support=np.ones(places, int),
        edge_source=source,
        edge_action=action,
        edge_target=world.next_position.ravel(),
        edge_support=np.ones(places * actions, int),
        code_tuples=np.arange(places)[:, None],
        code_node=np.arange(places),
        num_observations=world.num_observations,
        num_actions=actions,
        explained=1.0,
    )


def test_a_room_is_drawn_as_a_room() -> None:
    """Up to turning and mirroring, distances on paper follow distances in the room."""
    room = grid(5, 7, 3, np.random.default_rng(0))
    drawn = layout_map(map_of(room))
    true = np.stack(np.divmod(np.arange(35), 7), axis=1).astype(float)
    pairs = np.triu_indices(35, 1)
    distances = [np.linalg.norm(points[pairs[0]] - points[pairs[1]], axis=1) for points in (drawn, true)]
    assert np.corrcoef(*distances)[0, 1] > 0.98


def test_a_large_room_is_measured_from_some_of_its_places() -> None:
    """Not all pairs of places, and yet a straight line in the room is close to one on paper."""
    room = grid(50, 60, 3, np.random.default_rng(0))
    drawn = layout_map(map_of(room))
    true = np.stack(np.divmod(np.arange(3000), 60), axis=1).astype(float)
    ones = np.ones((3000, 1))
    fit, *_ = np.linalg.lstsq(np.hstack((true, ones)), drawn, rcond=None)
    left = drawn - np.hstack((true, ones)) @ fit
    assert (left**2).sum() < 0.02 * ((drawn - drawn.mean(axis=0)) ** 2).sum()
    steps = np.linalg.norm(drawn[room.next_position] - drawn[:, None], axis=2)
    assert 0.5 < np.median(steps[steps > 0]) < 1.5


def test_the_same_map_is_drawn_the_same() -> None:
    found = map_of(grid(5, 7, 3, np.random.default_rng(0)))
    assert np.array_equal(layout_map(found), layout_map(found))


def test_parts_that_no_edge_joins_stand_side_by_side() -> None:
    room = grid(3, 4, 3, np.random.default_rng(0)).next_position
    two = TableWorld(np.concatenate((room, room + 12, [[24] * 4])), np.zeros(25, int), 1)
    drawn = layout_map(map_of(two))
    assert np.isfinite(drawn).all()
    assert drawn[:12, 0].max() < drawn[12:24, 0].min()
    assert drawn[12:24, 0].max() < drawn[24, 0]


def test_one_way_doors_do_not_tear_a_map_apart() -> None:
    line = TableWorld(np.array([[1], [2], [3], [3]]), np.zeros(4, int), 1)
    drawn = layout_map(map_of(line))
    order = np.argsort(drawn[:, 0]).tolist()
    assert order in ([0, 1, 2, 3], [3, 2, 1, 0])


def test_no_nodes_one_node_two_nodes() -> None:
    for places, drawn in ((1, [[0, 0]]), (2, [[0, 0], [1, 0]])):
        table = np.full((places, 1), places - 1)
        found = layout_map(map_of(TableWorld(table, np.zeros(places, int), 1)))
        np.testing.assert_allclose(found, drawn, atol=1e-9)
    assert layout_map(edgeless_map([])).shape == (0, 2)
