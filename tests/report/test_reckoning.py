"""Maps drawn by dead reckoning: to scale where the names of actions say how they move, and as before where not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cogmap.environments import AliasedRoom, EgocentricRoom, TableWorld, torus
from cogmap.evaluation.ged import true_map
from cogmap.records import CognitiveMap
from cogmap.report.layout import layout_map
from cogmap.report.reckoning import meaning_of, reckon

SEEN_AHEAD = EgocentricRoom(5, 6, seed=1, textures="painted")


def renamed(found: CognitiveMap, *names: str) -> CognitiveMap:
    return dataclasses.replace(found, action_labels=names)


def distances(points):
    one, other = np.triu_indices(len(points), 1)
    return np.linalg.norm(points[one] - points[other], axis=1)


def test_a_room_of_named_directions_is_drawn_to_scale():
    room = AliasedRoom(4, 5, patch=0)
    points = layout_map(true_map(room))
    cells = np.array(room.coordinates)[:, ::-1]  # column, row: x, y
    np.testing.assert_allclose(points, cells - cells.min(axis=0), atol=1e-5)


@pytest.mark.parametrize(
    "names",
    [
        ("forward", "left", "right"),
        ("move_forward", "turn-left", "Turn Right"),
        ("vorwärts", "links", "rechts"),
    ],
)
def test_turns_and_steps_ahead_draw_the_cells_and_each_node_looks_ahead(names):
    found = renamed(true_map(SEEN_AHEAD), *names)
    reckoned = reckon(found)
    assert reckoned is not None
    points, part = reckoned
    assert set(part.tolist()) == {0}
    row, column, heading = SEEN_AHEAD.places().astype(int).T
    ways = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])  # x, y of north, east, south, west
    true = np.stack([column, row], axis=1) + 0.3 * ways[heading]
    np.testing.assert_allclose(distances(points), distances(true), atol=1e-5)
    first = points[found.edge_target] - points[found.edge_source]
    ahead = (
        (found.edge_action == 0)
        & (found.edge_source != found.edge_target)
        & (found.edge_source % 4 == heading[0])
    )
    # The first looks up.
    np.testing.assert_allclose(first[ahead], np.tile([0.0, -1.0], (ahead.sum(), 1)), atol=1e-5)


def test_a_few_wrong_edges_bend_the_picture_and_do_not_break_it():
    found = true_map(SEEN_AHEAD)
    rng = np.random.default_rng(0)
    target = found.edge_target.copy()
    wrong = rng.choice(len(target), size=len(target) // 50, replace=False)
    target[wrong] = rng.integers(found.num_nodes, size=len(wrong))
    points, _ = reckon(dataclasses.replace(found, edge_target=target))
    true = SEEN_AHEAD.places()[:, :2].astype(float)
    assert np.corrcoef(distances(points), distances(true))[0, 1] > 0.9


def test_turns_by_a_sixth_of_a_circle():
    table = np.array([[place, (place + 1) % 6] for place in range(6)])  # one spot, six headings
    spot = TableWorld(table, np.arange(6), 6, action_labels=("forward", "right"))
    points, _ = reckon(true_map(spot))
    angles = np.unwrap(np.angle(points[:, 0] + 1j * points[:, 1]))
    np.testing.assert_allclose(np.diff(angles), np.pi / 3, atol=1e-6)


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (torus(5, 6), "who walks east in a circle comes back: no points on a plane agree"),
        (
            TableWorld(np.array([[1, 0], [1, 0]]), np.arange(2), 2, action_labels=("up", "open")),
            "a door is no way",
        ),
        (TableWorld(np.array([[1, 0], [1, 0]]), np.arange(2), 2), "actions without names"),
    ],
)
def test_where_names_do_not_say_it_the_layout_is_by_distances(world, why):
    assert reckon(true_map(world)) is None, why
    assert np.isfinite(layout_map(true_map(world))).all()


def test_left_and_right_are_ways_on_the_page_where_nothing_goes_forward():
    assert not meaning_of(true_map(AliasedRoom(3, 3, patch=0))).turns
    assert meaning_of(true_map(SEEN_AHEAD)).turns


def test_nodes_that_would_cover_each_other_stand_apart_and_parts_too():
    # Two copies of one place that "right" leads to from either side of a fork, and a part that nothing leads to.
    table = np.array([[1, 2], [1, 1], [2, 2], [3, 4], [4, 4]])
    world = TableWorld(table, np.arange(5), 5, action_labels=("right", "east"))
    points = layout_map(true_map(world))
    assert distances(points).min() > 0.2
    assert points[3:, 0].min() > points[:3, 0].max()
