"""Places that share a code are split, and the result is the exact world."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.maps.build import build_map
from cogmap.planning.shortest_paths import next_node_table
from cogmap.records import Codes, CognitiveMap, TableWorld, Truth
from cogmap.walks.sample import sample_walks


def ring(places: int = 7) -> TableWorld:
    """All places have different observations but two, which are not neighbours."""
    on = (np.arange(places) + 1) % places
    seen = np.array([0, 1, 2, 0, *range(3, places - 1)])
    return TableWorld(np.stack([on, np.argsort(on)], axis=1), seen, places - 1)


def is_the_world(found: CognitiveMap, codes: np.ndarray, truth: Truth) -> bool:
    """One node a place, and every move of every node leads where the world's does."""
    world, node = truth.world, found.code_node[np.unique(codes, return_inverse=True)[1].reshape(codes.shape)]
    at = np.zeros((found.num_nodes, world.num_positions), dtype=int)
    np.add.at(at, (node[node >= 0], truth.positions[node >= 0]), 1)
    place = at.argmax(axis=1)
    if sorted(place) != list(range(world.num_positions)):
        return False
    return bool((place[next_node_table(found)] == world.next_position[place]).all())


def test_a_code_shared_by_two_places_is_split_by_the_previous_node() -> None:
    world = ring()
    walks, truth = sample_walks(world, 60, 60, np.random.default_rng(0))
    shared = np.array([0, 1, 2, 0, 4, 5, 6])  # places 0 and 3 look alike and have the same code
    codes = shared[truth.positions]
    found = build_map(Codes(codes[..., None], walks.lengths, 7), walks)
    assert found.num_nodes == 7
    assert sorted(found.node_observation.tolist()) == sorted(world.observation.tolist())
    assert found.explained > 0.98  # all but some first steps


def confused_codes(
    world: TableWorld, positions: np.ndarray, pairs: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Three codes a place; places of a pair share theirs half of the time, as look-alike insides of a patch do."""
    same = np.arange(world.num_positions)
    same[pairs[:, 1]] = pairs[:, 0]
    confused = rng.random(positions.shape) < 0.5
    return 3 * np.where(confused, same[positions], positions) + rng.integers(3, size=positions.shape)


@pytest.mark.parametrize("kind", ["room", "torus"])
def test_confused_insides_of_a_patch_still_give_the_world(kind: str) -> None:
    if kind == "room":
        world: TableWorld = AliasedRoom(height=9, width=10, observations=4, patch=4, seed=1)
        (top, left), (low, right) = world.patch_corners  # type: ignore[attr-defined]
        inside = np.array([(row, column) for row in (1, 2) for column in (1, 2)])
        pairs = np.stack(
            [
                (top + inside[:, 0]) * 10 + left + inside[:, 1],
                (low + inside[:, 0]) * 10 + right + inside[:, 1],
            ],
            1,
        )
    else:
        world = torus(height=6, width=8, observations=4, one_way_doors=6, seed=0)
        alike = [np.flatnonzero(world.observation == seen)[:2] for seen in range(4)]
        pairs = np.array(alike)
    rng = np.random.default_rng(3)
    walks, truth = sample_walks(world, 400, 200, rng)
    codes = confused_codes(world, truth.positions, pairs, rng)
    record = Codes(codes[..., None], walks.lengths, 3 * world.num_positions)
    found = build_map(record, walks)
    assert found.num_nodes == world.num_positions
    assert found.warnings == ()
    assert is_the_world(found, codes, truth)
