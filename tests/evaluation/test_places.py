"""Nodes and the places that they stand for."""

import dataclasses

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import BadWalks
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.places import is_exact, node_places, true_places
from cogmap.records import Codes, TableWorld, Truth
from cogmap.walks.sample import sample_walks

LINE = TableWorld(
    next_position=np.array([[1], [2], [3], [0]]), observation=np.array([0, 0, 1, 1]), num_observations=2
)


def test_majority_purity_and_cover():
    nodes = np.array([[0, 0, 0, 1], [1, 2, -1, 4]])
    positions = np.array([[0, 0, 1, 1], [1, 1, 3, 0]])
    steps = np.array([[True] * 4, [True, True, True, False]])
    places = node_places(nodes, steps, 5, Truth(positions, LINE))
    assert places.position.tolist() == [0, 1, 1, -1, -1]
    assert places.purity == 5 / 6
    assert places.located == 6 / 7
    assert places.places_covered == 2 / 4
    assert places.nodes_per_place == 3 / 2


def test_exactness_sees_every_kind_of_mistake():
    world = torus(4, 5, one_way_doors=4)
    right, position = true_map(world), np.arange(20)
    assert is_exact(right, position, world)
    moves = np.flatnonzero(right.edge_source != right.edge_target)
    stays = np.flatnonzero(right.edge_source == right.edge_target)

    def keeping(edges):
        names = ("edge_source", "edge_action", "edge_target", "edge_support")
        return dataclasses.replace(
            right,
            edge_probability=None,
            edge_imagined=None,
            **{name: getattr(right, name)[edges] for name in names},
        )

    everything = np.arange(right.num_edges)
    assert is_exact(keeping(np.setdiff1d(everything, stays)), position, world)
    assert not is_exact(keeping(np.setdiff1d(everything, moves[:1])), position, world)
    swapped = right.edge_action.copy()
    swapped[moves[:2]] = swapped[moves[1::-1]]
    assert not is_exact(dataclasses.replace(right, edge_action=swapped), position, world)
    repainted = (right.node_observation + (position == 3)) % world.num_observations
    assert not is_exact(dataclasses.replace(right, node_observation=repainted), position, world)
    assert not is_exact(right, np.where(position == 3, 4, position), world)


def test_shapes_must_agree():
    with pytest.raises(BadWalks, match="must have one shape"):
        node_places(np.zeros((1, 3), int), np.ones((1, 3), bool), 1, Truth(np.zeros((1, 4), int), LINE))


def test_one_judgement_with_codes_and_without():
    """A perfect map: every node at its own place, from all walks with codes and from a few without."""
    room = AliasedRoom(5, 6)
    walks, truth = sample_walks(room, 200, 50, np.random.default_rng(0))
    codes = Codes(truth.positions[:, :, None], walks.lengths, room.num_positions)
    read, unread = true_places(true_map(room), walks, truth, codes), true_places(true_map(room), walks, truth)
    for places in (read, unread):
        assert places.position.tolist() == list(range(30))
        assert not places.merged.any()
        assert (places.purity, places.places_covered, places.nodes_per_place) == (1, 1, 1)
    assert read.nodes.shape == (200, 50)
    assert (read.nodes == truth.positions).all()
    assert unread.nodes.shape == (100, 50)  # 5,000 steps are enough for 30 nodes


def test_a_single_long_walk_is_read_whatever_its_length():
    room = AliasedRoom(3, 4)
    walks, truth = sample_walks(room, 2, 6000, np.random.default_rng(0))
    assert true_places(true_map(room), walks, truth).nodes.shape == (1, 6000)
