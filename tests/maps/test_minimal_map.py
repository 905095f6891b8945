"""The minimal map of codes drawn from known worlds has one node a place and every edge right."""

from __future__ import annotations

import numpy as np
import pytest
from coded_worlds import Coded, Coding, cube, encode, grid, true_edges_right

from cogmap.hmm.counts import unique_codes
from cogmap.maps.build import build_map
from cogmap.planning.shortest_paths import next_node_table
from cogmap.records import Codes, CognitiveMap, TableWorld, Walks


def assert_exact(coded: Coded) -> CognitiveMap:
    """One node a place; every legal move has its edge, every likeliest edge is right, and there is no other."""
    found = build_map(coded.codes, coded.walks)
    edges = next_node_table(found.deterministic())
    _, index = unique_codes(coded.codes)
    places, legal = coded.world.num_positions, int(coded.world.legal_actions().sum())
    assert true_edges_right(edges, found.code_node, index, coded) == (places, places, legal)
    assert (edges >= 0).sum() == legal
    return found


def room(seed: int) -> TableWorld:
    return grid(6, 8, 4, np.random.default_rng(seed), patch=3)


CODINGS = {
    "plain": Coding(),
    "fifteen codes a place": Coding(per_place=15),
    "codes that depend on the step before": Coding(by_history=1.0),
    "three in a hundred codes wrong": Coding(wrong=0.03),
    "one in ten codes wrong": Coding(wrong=0.1),
    "one in ten observations noise": Coding(noise=0.1),
    "four bottlenecks": Coding(bottlenecks=4, flips=0.03),
}
OFTEN_FLIPPED = Coding(bottlenecks=4, flips=0.2, per_place=15)
ALL_AT_ONCE = Coding(bottlenecks=4, flips=0.03, noise=0.1, wrong=0.03, per_place=15)


@pytest.mark.parametrize("name", CODINGS)
def test_a_room_of_48_places(name: str) -> None:
    assert_exact(encode(room(0), 160, 400, np.random.default_rng(1), CODINGS[name]))


@pytest.mark.learning
def test_a_room_of_48_places_with_four_bottlenecks_that_are_often_flipped() -> None:
    assert_exact(encode(room(0), 160, 400, np.random.default_rng(1), OFTEN_FLIPPED))


@pytest.mark.parametrize("coding", [Coding(), Coding(bottlenecks=4, noise=0.1)])
def test_a_torus_with_one_way_doors(coding: Coding) -> None:
    world = grid(7, 9, 4, np.random.default_rng(2), wrap=True, one_way=20)
    back = world.next_position[world.next_position[:, 1], 0]
    assert (back != np.arange(63)).any(), "no door is one-way"
    assert_exact(encode(world, 160, 400, np.random.default_rng(3), coding))


def test_the_cube_of_216_places() -> None:
    assert_exact(encode(cube(6, 12, np.random.default_rng(0)), 400, 300, np.random.default_rng(0)))


def test_the_room_of_300_places() -> None:
    world = grid(15, 20, 4, np.random.default_rng(0), patch=4)
    assert_exact(encode(world, 2048, 400, np.random.default_rng(0)))


@pytest.mark.learning
def test_the_room_of_300_places_with_noise_and_four_bottlenecks() -> None:
    world = grid(15, 20, 4, np.random.default_rng(0), patch=4)
    assert_exact(encode(world, 2048, 400, np.random.default_rng(0), ALL_AT_ONCE))


def test_moves_that_are_never_made_make_no_edges() -> None:
    """Who bumps draws another action instead, so that walls show only by what is never tried."""
    world = room(0)
    legal = world.next_position != np.arange(48)[:, None]
    resampled = TableWorld(world.next_position, world.observation, 4, legal=legal)
    assert_exact(encode(resampled, 160, 400, np.random.default_rng(0)))


def test_short_walks_and_few() -> None:
    assert_exact(encode(room(0), 1600, 40, np.random.default_rng(0)))
    assert_exact(encode(room(0), 100, 200, np.random.default_rng(0)))


def test_a_corridor_that_differs_only_at_its_end() -> None:
    """Twelve equal cells but the first: to distinguish two takes up to 11 steps of looking ahead."""
    cells = np.arange(12)
    table = np.stack((np.maximum(cells - 1, 0), np.minimum(cells + 1, 11)), axis=1)
    seen = (cells == 0).astype(int)
    assert_exact(encode(TableWorld(table, seen, 2), 256, 300, np.random.default_rng(0), Coding(uncertain=0)))


def test_places_that_walks_start_from_and_never_return_to() -> None:
    """Two porches, each with a door into a ring that has none back."""
    ring = np.arange(8)
    table = np.stack((np.append((ring + 1) % 8, [0, 4]), np.append((ring - 1) % 8, [2, 6])), axis=1)
    world = TableWorld(table, np.array([0, 1, 0, 0, 1, 1, 0, 1, 2, 3]), 4)
    assert_exact(encode(world, 400, 60, np.random.default_rng(0), Coding(uncertain=0)))


def test_codes_of_a_model_that_is_not_localised_have_no_node() -> None:
    coding = Coding(wrong=0.0)
    coded = encode(room(0), 160, 400, np.random.default_rng(0), coding)
    found = assert_exact(coded)
    _, index = unique_codes(coded.codes)
    first = np.unique(index[:, 0])  # what is known of the first step is one observation
    assert (found.code_node[first] == -1).all()


def merged_pairs(seed: int) -> Coded:
    """Codes of a model that merges places two by two, whatever follows, as one trained on single steps may."""
    coded = encode(room(seed), 200, 100, np.random.default_rng(seed), Coding(uncertain=0, wrong=0.0))
    alike = coded.world.observation
    same = np.arange(48)
    for value in range(4):
        places = np.flatnonzero(alike == value)
        half = len(places) // 2
        same[places[half : 2 * half]] = places[:half]
    codes = same[coded.positions][:, :, None]
    return Coded(Codes(codes, coded.codes.lengths, 48), coded.walks, coded.positions, coded.world)


@pytest.mark.parametrize("seed", range(3))
def test_places_that_share_their_codes_are_split_or_not_trusted(seed: int) -> None:
    """No partition of these codes is the room. What comes before and after a step may tell; if not, a warning does."""
    coded = merged_pairs(seed)
    model = np.array(coded.walks.observations[:, 1:])  # a model that predicts everything
    found = build_map(coded.codes, coded.walks, predicted=model)
    assert found.num_nodes > 24
    assert found.explained > 0.95 or "the map predicts" in found.warnings[0]


def textbook_minimum(table: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Moore's algorithm: the class of each state, numbered by first appearance."""
    classes = np.unique(seen, return_inverse=True)[1]
    while True:
        signature = np.column_stack((classes, classes[table]))
        finer = np.unique(signature, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == classes.max():
            return finer
        classes = finer


def machine(seed: int, states: int = 14, twins: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """A random machine in which some states are there twice, and are entered under either name by chance."""
    rng = np.random.default_rng(seed)
    table, seen = rng.integers(0, states, (states, 3)), rng.integers(0, 2, states)
    copied = rng.choice(states, twins, replace=False)
    table, seen = np.concatenate((table, table[copied])), np.concatenate((seen, seen[copied]))
    for twin, original in enumerate(copied):
        entering = (table == original) & (rng.random(table.shape) < 0.5)
        table[entering] = states + twin
    return table, seen


@pytest.mark.parametrize("seed", range(8))
def test_random_machines_as_the_textbook_minimises_them(seed: int) -> None:
    """Each state has codes of its own; equal states must merge, others must not, and rare ones must not vanish."""
    table, seen = machine(seed)
    coded = encode(
        TableWorld(table, seen, 2), 4000, 15, np.random.default_rng(seed), Coding(uncertain=0, wrong=0.0)
    )
    found = build_map(coded.codes, coded.walks)
    _, index = unique_codes(coded.codes)
    visits = np.bincount(coded.positions.ravel(), minlength=len(table))
    classes = textbook_minimum(table, seen)
    assert visits.min() > 100
    node = found.code_node[index]
    assert (node < 0).mean() < 0.001, "codes that were seen often have no node"
    pairs = np.unique(np.stack((classes[coded.positions], node))[:, node >= 0], axis=1)
    assert set(pairs[0]) == set(classes), "a state has no node"
    assert len(pairs[0]) == len(np.unique(pairs[0])) == len(np.unique(pairs[1])), (
        "classes and nodes are not one to one"
    )


@pytest.mark.parametrize("depth", [1, 2, 5, 10])
def test_near_duplicates_that_differ_only_some_steps_away(depth: int) -> None:
    """Two equal chains lead back to the start; only the observations at their ends differ."""
    length = depth + 1
    first, second = 1 + np.arange(length), 1 + length + np.arange(length)
    table = np.zeros((1 + 2 * length, 2), dtype=int)
    table[0] = first[0], second[0]
    for chain in (first, second):
        table[chain[:-1]] = chain[1:, None]
    seen = np.zeros(len(table), dtype=int)
    seen[0], seen[first[-1]], seen[second[-1]] = 1, 2, 3
    assert_exact(encode(TableWorld(table, seen, 4), 300, 120, np.random.default_rng(0), Coding(uncertain=0)))


def test_walks_of_unequal_length() -> None:
    """Padding is never a place: the map of cut walks is the map of walks that end there."""
    coded = encode(room(0), 400, 200, np.random.default_rng(0))
    lengths = np.random.default_rng(1).integers(100, 201, 400)
    real = np.arange(200) < lengths[:, None]
    walks = Walks(coded.walks.observations * real, coded.walks.actions * real[:, 1:], lengths, 4, 4)
    codes = Codes(coded.codes.codes * real[:, :, None], lengths, coded.codes.num_codes)
    cut = Coded(codes, walks, coded.positions, coded.world)
    assert_exact(cut)


def test_too_little_to_go_by_explains_little() -> None:
    coded = encode(room(0), 3, 10, np.random.default_rng(0))
    found = build_map(coded.codes, coded.walks)
    assert found.explained < 0.9
