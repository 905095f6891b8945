"""Maps of agents that turn: spots are found without knowing which action turns, and drawn like the room."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cogmap.environments import AliasedRoom, EgocentricRoom, TableWorld, torus
from cogmap.evaluation.ged import true_map
from cogmap.records import EDGE_FIELDS
from cogmap.report.layout import layout_map
from cogmap.report.turns import find_turns

ROOM = EgocentricRoom(5, 6, seed=1, textures="painted")


def test_spots_are_the_cells() -> None:
    circles = find_turns(true_map(ROOM))
    assert circles is not None
    assert circles.shape == (ROOM.num_positions // 4, 4)
    cells = ROOM.places()[circles][..., :2]  # (spots, turns, 2)
    assert (cells == cells[:, :1]).all()
    headings = ROOM.places()[circles][..., 2]
    assert (np.diff(headings, axis=1) % 4 == 3).all()  # `left` is the first action that turns


@pytest.mark.parametrize("world", [AliasedRoom(4, 5, patch=0), torus(5, 6)])
def test_worlds_without_turns(world: TableWorld) -> None:
    assert find_turns(true_map(world)) is None


def test_a_map_that_does_not_know_every_turn_is_drawn_as_any_other() -> None:
    whole = true_map(ROOM)
    kept = np.flatnonzero(whole.edge_action != 0)[1:]  # all turns but one, in each sense
    kept = np.concatenate([np.flatnonzero(whole.edge_action == 0), kept[kept != kept.max()]])
    edges = {name: getattr(whole, name) for name in EDGE_FIELDS if getattr(whole, name) is not None}
    partial = dataclasses.replace(whole, **{name: value[kept] for name, value in edges.items()})
    assert find_turns(partial) is None
    assert np.isfinite(layout_map(partial)).all()


def test_nodes_stand_around_their_spots_and_look_where_they_lead() -> None:
    found = true_map(ROOM)
    circles = find_turns(found)
    assert circles is not None
    points = layout_map(found)
    middle = points[circles].mean(axis=1)  # (spots, 2)
    assert np.allclose(np.linalg.norm(points[circles] - middle[:, None], axis=2), 0.3)
    spot = np.empty(ROOM.num_positions, dtype=int)
    spot[circles] = np.arange(len(circles))[:, None]
    forward = np.flatnonzero((found.edge_action == 0) & (found.edge_source != found.edge_target))
    source, target = found.edge_source[forward], found.edge_target[forward]
    looks = points[source] - middle[spot[source]]
    leads = middle[spot[target]] - middle[spot[source]]
    assert ((looks * leads).sum(axis=1) > 0).mean() > 0.95


def test_the_room_is_drawn_as_a_room() -> None:
    points = layout_map(true_map(ROOM))
    true = ROOM.places()[:, :2]
    pairs = np.triu_indices(len(points), 1)
    distances = [np.linalg.norm(places[pairs[0]] - places[pairs[1]], axis=1) for places in (points, true)]
    assert np.corrcoef(*distances)[0, 1] > 0.9
