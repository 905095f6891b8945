"""Places that share a code are split, walks are smoothed on the map, and the result is the exact world."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cogmap.maps.polish import find_places
from cogmap.maps.smooth import SLIP, smooth
from cogmap.maps.split import minimise_and_split
from cogmap.maps.survey import survey

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.maps.build import build_map
from cogmap.records import Codes, TableWorld, Walks
from cogmap.walks.sample import sample_walks


def ring(places: int = 7) -> TableWorld:
    """All places have different observations but two, which are not neighbours."""
    on = (np.arange(places) + 1) % places
    seen = np.array([0, 1, 2, 0, *range(3, places - 1)])
    return TableWorld(np.stack([on, np.argsort(on)], axis=1), seen, places - 1)


def is_the_world(steps: np.ndarray, walks: Walks, positions: np.ndarray, world: TableWorld) -> bool:
    """One node a place, and every move of every node leads where the world's does."""
    view = survey(walks, steps)
    at = np.zeros((view.num_nodes, world.num_positions), dtype=int)
    np.add.at(at, (steps[steps >= 0], positions[steps >= 0]), 1)
    place = at.argmax(axis=1)
    if sorted(place) != list(range(world.num_positions)):
        return False
    return bool((place[view.next_node] == world.next_position[place]).all())


def test_a_code_shared_by_two_places_is_split_by_the_previous_node() -> None:
    world = ring()
    walks, truth = sample_walks(world, 60, 60, np.random.default_rng(0))
    shared = np.array([0, 1, 2, 0, 4, 5, 6])  # places 0 and 3 look alike and have the same code
    index = shared[truth.positions]
    found = minimise_and_split(index, walks, 7)
    assert found.steps.max() + 1 == 7
    assert is_the_world(found.steps, walks, truth.positions, world)


def brute_force_posterior(walks: Walks, next_node: np.ndarray, sees: np.ndarray) -> np.ndarray:
    """(N, V) by adding up the probabilities of all paths through the nodes."""
    nodes, steps = len(sees), walks.num_steps
    posterior = np.zeros((steps, nodes))
    for path in itertools.product(range(nodes), repeat=steps):
        chance = 1.0
        for step, node in enumerate(path):
            right = sees[node] == walks.observations[0, step]
            chance *= 0.98 if right else 0.02 / (walks.num_observations - 1)
            if step:
                target = next_node[path[step - 1], walks.actions[0, step - 1]]
                follows = 1 / nodes if target < 0 else float(target == node)
                chance *= (1 - SLIP) * follows + SLIP / nodes
        for step, node in enumerate(path):
            posterior[step, node] += chance
    return posterior / posterior.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_smoothing_agrees_with_adding_up_all_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    next_node, sees = rng.integers(-1, 4, size=(4, 2)), rng.integers(2, size=4)
    walks = Walks(rng.integers(2, size=(1, 6)), rng.integers(2, size=(1, 5)), np.array([6]), 2, 2)
    posterior = brute_force_posterior(walks, next_node, sees)
    placed = smooth(walks, next_node, sees)
    assert placed is not None
    for step in range(6):
        best = posterior[step].argmax()
        clear = abs(posterior[step].max() - 0.9) > 1e-3
        if clear:
            assert placed[0, step] == (best if posterior[step, best] >= 0.9 else -1)


def test_padding_is_not_placed_and_does_not_count() -> None:
    world = ring()
    walks, truth = sample_walks(world, 5, 30, np.random.default_rng(0))
    lengths = np.array([30, 20, 10, 30, 2])
    short = Walks(walks.observations, walks.actions, lengths, walks.num_observations, walks.num_actions)
    placed = smooth(short, world.next_position, world.observation)
    assert placed is not None
    assert ((placed >= 0) <= short.step_mask()).all()
    long = short.step_mask() & (lengths[:, None] > 5)
    np.testing.assert_array_equal(placed[long], truth.positions[long])


def test_a_map_too_large_to_smooth_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ring()
    walks, truth = sample_walks(world, 60, 60, np.random.default_rng(0))
    monkeypatch.setattr("cogmap.maps.smooth._MOST_WORK", 10)
    assert smooth(walks, world.next_position, world.observation) is None
    assert is_the_world(find_places(truth.positions, walks, 7).steps, walks, truth.positions, world)
    shared = np.array([0, 1, 2, 0, 4, 5, 6])[truth.positions]  # one code must be split
    assert find_places(shared, walks, 7).code_node.shape == (7,)


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
    cognitive_map = build_map(record, walks)
    assert cognitive_map.num_nodes == world.num_positions
    assert cognitive_map.warnings == ()
    found = find_places(codes, walks, 3 * world.num_positions)
    assert is_the_world(found.steps, walks, truth.positions, world)
