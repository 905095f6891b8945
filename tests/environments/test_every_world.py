"""One set of rules over every world there is."""

import networkx
import numpy as np
import pytest

from cogmap.environments import (
    AliasedCube,
    AliasedRoom,
    EgocentricRoom,
    TableWorld,
    check_environment,
    from_tables,
    maze_from_text,
    optimal_distances,
    restricted_families,
    room_families,
    street_network,
    torus,
)
from cogmap.errors import BadWorld
from cogmap.walks.sample import sample_walks

MAZE = """
    abcab
    b###v
    ac<ba
"""

WORLDS = {
    "room": lambda: AliasedRoom(seed=3),
    "small room": lambda: AliasedRoom(6, 8, seed=3),
    "room, resample": lambda: AliasedRoom(6, 8, bump="resample", seed=3),
    "room without a patch": lambda: AliasedRoom(6, 8, patch=0, seed=3),
    "room, 40 walls": lambda: AliasedRoom(walls=40, seed=3),
    "room, a tenth of walls": lambda: AliasedRoom(walls=0.1, bump="resample", seed=3),
    "room of two cells": lambda: AliasedRoom(1, 2, 2, seed=3),
    "cube": lambda: AliasedCube(seed=3),
    "cube of six cells": lambda: AliasedCube(edge=1, observations=2, seed=3),
    "room of a family": lambda: room_families(20, 5, seed=3)[0].room(7),
    "room of a restricted family": lambda: restricted_families(20, 5, seed=3)["D"].room(0),
    "torus": lambda: torus(seed=3),
    "torus with one-way doors": lambda: torus(one_way_doors=12, seed=3),
    "maze": lambda: maze_from_text(MAZE),
    "streets": lambda: street_network(120, 0.2, seed=3),
    "streets, stay": lambda: street_network(60, 0.1, bump="stay", seed=3),
    "three corners": lambda: street_network(3, 0, seed=3),
    "3D room": lambda: EgocentricRoom(seed=3),
    "3D room from a drawing": lambda: EgocentricRoom(drawing="..o\n.#.\n..."),
    "tables": lambda: from_tables([[1, 0], [2, 0], [0, 2]], [0, 1, 0]),
}


@pytest.fixture(params=WORLDS.values(), ids=WORLDS.keys())
def make(request):
    return request.param


def test_keeps_every_rule(make):
    """The rules that `check_environment` names, each counted here by itself."""
    world = make()
    places, actions = world.next_position.shape
    assert set(world.next_position.ravel().tolist()) == set(range(places))  # nobody is out of reach
    assert world.observation.shape == (places,)
    assert set(world.observation.tolist()) <= set(range(world.num_observations))
    legal = world.legal_actions()
    assert legal.any(axis=1).all()
    stays = np.broadcast_to(np.arange(places)[:, None], (places, actions))
    assert np.array_equal(world.next_position[~legal], stays[~legal])
    ways = networkx.DiGraph((int(p), int(world.next_position[p, a])) for p, a in np.argwhere(legal))
    assert networkx.is_strongly_connected(ways)
    assert ways.number_of_nodes() == places
    for table in (world.next_position, world.observation, world.legal, world.coordinates):
        assert table is None or not table.flags.writeable
    if world.coordinates is not None:
        assert len({tuple(point) for point in world.coordinates.tolist()}) == places
        assert np.isfinite(world.coordinates).all()
    for labels, count in (
        (world.observation_labels, world.num_observations),
        (world.action_labels, actions),
    ):
        assert labels is None or len(set(labels)) == count
    check_environment(world)


def test_two_seeded_copies_agree_step_by_step(make):
    first, second = make(), make()
    assert np.array_equal(first.legal_actions(), second.legal_actions())
    walks, truth = sample_walks(first, 8, 50, np.random.default_rng(1))
    same_walks, same_truth = sample_walks(second, 8, 50, np.random.default_rng(1))
    assert np.array_equal(walks.observations, same_walks.observations)
    assert np.array_equal(walks.actions, same_walks.actions)
    assert np.array_equal(truth.positions, same_truth.positions)


def test_walks_follow_the_tables_and_take_legal_actions_only(make):
    world = make()
    walks, truth = sample_walks(world, 16, 60, np.random.default_rng(0))
    before, after = truth.positions[:, :-1], truth.positions[:, 1:]
    assert np.array_equal(world.next_position[before, walks.actions], after)
    assert world.legal_actions()[before, walks.actions].all()
    assert np.array_equal(world.observation[truth.positions], walks.observations)


def test_a_step_changes_the_optimal_distance_by_at_most_one_per_move(make):
    world = make()
    distances = optimal_distances(world)  # (P, P)
    moves = distances[world.next_position]  # (P, A, P)
    legal = world.legal_actions()
    best = np.where(legal[..., None], moves, np.inf).min(axis=1)  # (P, P)
    off = ~np.eye(world.num_positions, dtype=bool)
    assert np.array_equal(distances[off], 1 + best[off])  # the equation that defines shortest distances


@pytest.mark.parametrize("seeded", ["room", "cube", "torus", "torus with one-way doors", "streets"])
def test_another_seed_is_another_world(seeded):
    makers = {
        "room": lambda seed: AliasedRoom(seed=seed),
        "cube": lambda seed: AliasedCube(seed=seed),
        "torus": lambda seed: torus(seed=seed),
        "streets": lambda seed: street_network(100, seed=seed),
        "torus with one-way doors": lambda seed: torus(one_way_doors=12, seed=seed),
    }
    first, second = makers[seeded](0), makers[seeded](1)
    assert not np.array_equal(first.observation, second.observation)


def _break(world, name, value):
    object.__setattr__(world, name, value)
    return world


def _frozen(array):
    array.flags.writeable = False
    return array


def _bad_worlds():
    # Two rooms joined by a one-way door: 0 -> 1 but never back.
    yield "no route leads from position 1 to position 0", from_tables([[1, 0], [1, 1]], [0, 1])
    yield "no route leads from position 0 to position 1", from_tables([[0, 0], [0, 1]], [0, 1])
    yield (
        "action 1 leads from position 0 to 1",
        TableWorld(
            np.array([[1, 1], [0, 0]]), np.array([0, 0]), 1, legal=np.array([[True, False], [True, True]])
        ),
    )
    twice = TableWorld(np.array([[1], [0]]), np.array([0, 0]), 1, coordinates=np.zeros((2, 2)))
    yield r"`coordinates` must be distinct, got \(0.0, 0.0\)", twice
    nowhere = TableWorld(
        np.array([[1], [0]]), np.array([0, 0]), 1, coordinates=np.array([[0, np.nan], [0, 1]])
    )
    yield "`coordinates` must be finite", nowhere
    yield "`observation` must be read-only", _break(AliasedRoom(6, 8), "observation", np.zeros(48, np.int32))
    yield (
        "`observation` must be in",
        _break(AliasedRoom(6, 8), "observation", _frozen(np.full(48, 9, np.int32))),
    )
    yield "`next_position` must be in", _break(AliasedRoom(6, 8), "next_position", np.full((48, 4), 48))
    yield "must be a TableWorld, got ndarray", np.zeros((2, 2))


@pytest.mark.parametrize(("message", "world"), list(_bad_worlds()))
def test_a_broken_rule_is_named(message, world):
    with pytest.raises(BadWorld, match=message):
        check_environment(world)
