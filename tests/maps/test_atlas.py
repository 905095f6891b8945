"""Atlas and maps of new rooms, from codes that a perfect model would give: a place and an order, each tuple unique."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import RoomFamily, room_families
from cogmap.maps.atlas import build_atlas, room_map
from cogmap.planning.localise import nodes_by_code
from cogmap.records import Codes, CognitiveMap, Truth, Walks
from cogmap.walks.sample import sample_family_walks, sample_walks

BASE = AliasedRoom(height=3, width=4, observations=3, patch=0, seed=1)
PLACES, ORDERS, COLOURS = 12, 6, 7


def families() -> tuple[RoomFamily, RoomFamily]:
    return room_families(60, 20, BASE, COLOURS)


def perfect_codes(family: RoomFamily, walks: Walks, truth: Truth, rooms: np.ndarray, variants: int) -> Codes:
    """A tuple for each place, order of the room's colours, and a variant drawn at random: many tuples a place."""
    orders = [list(order) for order in permutations(range(3))]
    order = np.array([orders.index(np.argsort(row).tolist()) for row in family.colours])[rooms]  # (B,)
    rng = np.random.default_rng(0)
    second = order[:, None] * variants + rng.integers(variants, size=truth.positions.shape)
    return Codes(np.stack([truth.positions, second], axis=2).astype(np.int32), walks.lengths, 100)


@pytest.fixture(scope="module")
def atlas() -> CognitiveMap:
    train, _ = families()
    walks, truth, rooms = sample_family_walks(train, 400, 120, np.random.default_rng(0))
    return build_atlas(perfect_codes(train, walks, truth, rooms, variants=3), walks, num_targets=3)


def new_room(
    atlas: CognitiveMap, room: int, walks: int, steps: int, seed: int = 5, inferred: bool = True
) -> tuple[CognitiveMap, Walks, Truth, Codes]:
    _, test = families()
    base_walks, truth = sample_walks(BASE, walks, steps, np.random.default_rng(seed))
    rooms = np.full(walks, room)
    seen = test.paint(base_walks, rooms)
    codes = perfect_codes(test, seen, truth, rooms, variants=3)
    return room_map(atlas, nodes_by_code(atlas, codes), codes, seen, inferred), seen, truth, codes


def edges_of(found: CognitiveMap, position: np.ndarray) -> set[tuple[int, int, int]]:
    return set(
        zip(
            position[found.edge_source].tolist(),
            found.edge_action.tolist(),
            position[found.edge_target].tolist(),
            strict=True,
        )
    )


def positions_of(found: CognitiveMap, codes: Codes) -> np.ndarray:
    """The place of each node, by the tuples that stand for it; they must all agree."""
    position = np.full(found.num_nodes, -1)
    for (place, _), node in zip(found.code_tuples.tolist(), found.code_node.tolist(), strict=True):
        if node >= 0:
            assert position[node] in (-1, place)
            position[node] = place
    return position


def test_the_atlas_has_one_node_for_each_place_in_each_order(atlas: CognitiveMap) -> None:
    assert atlas.num_nodes == PLACES * ORDERS
    assert atlas.num_observations == 3
    assert atlas.warnings == ()


@pytest.mark.parametrize("room", [0, 7, 13])
def test_a_new_room_is_mapped_exactly(atlas: CognitiveMap, room: int) -> None:
    _, test = families()
    found, _, _, codes = new_room(atlas, room, walks=4, steps=200)
    position = positions_of(found, codes)
    assert sorted(position.tolist()) == list(range(PLACES))
    np.testing.assert_array_equal(found.node_observation, test.colours[room][BASE.observation[position]])
    true = {(p, a, int(BASE.next_position[p, a])) for p in range(PLACES) for a in range(4)}
    assert edges_of(found, position) == true
    assert found.warnings == ()


def test_places_that_a_short_walk_did_not_visit_have_no_support(atlas: CognitiveMap) -> None:
    found, walks, truth, _ = new_room(atlas, 3, walks=1, steps=40)
    assert (found.num_nodes, found.num_edges) == (PLACES, 4 * PLACES)
    visited = len(np.unique(truth.positions))
    assert visited < PLACES  # or the test says nothing
    assert (found.node_support > 0).sum() == visited
    made = {(int(p), int(a)) for p, a in zip(truth.positions[0, :-1], walks.actions[0], strict=True)}
    assert (found.edge_support > 0).sum() == len(made)
    assert found.edge_support.sum() == 39


def test_without_inference_the_map_has_only_what_the_walk_visited(atlas: CognitiveMap) -> None:
    found, _, truth, _ = new_room(atlas, 3, walks=1, steps=40, inferred=False)
    assert found.num_nodes == len(np.unique(truth.positions))
    assert (found.edge_support > 0).all()


def test_codes_of_two_rooms_at_once_give_a_warning(atlas: CognitiveMap) -> None:
    _, test = families()
    order = test.colours.argsort(axis=1)
    other = next(room for room in range(len(test)) if (order[room] != order[0]).any())
    base_walks, truth = sample_walks(BASE, 4, 100, np.random.default_rng(0))
    rooms = np.array([0, 0, other, other])
    seen = test.paint(base_walks, rooms)
    codes = perfect_codes(test, seen, truth, rooms, variants=1)
    found = room_map(atlas, nodes_by_code(atlas, codes), codes, seen)
    assert len(found.warnings) == 1
    assert "do not determine which room of the family this is: 50%" in found.warnings[0]
