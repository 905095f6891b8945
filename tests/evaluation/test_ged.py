"""Bounds against networkx's exact answer on small graphs, and what is known about large ones."""

import networkx
import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.evaluation.ged import (
    _edges_match,
    _graph,
    _nodes_match,
    edit_distance,
    map_graph,
    networkx_edit_distance,
    to_networkx,
    true_map,
    world_graph,
)


def exact(learned, true):
    return networkx.graph_edit_distance(
        to_networkx(learned), to_networkx(true), node_match=_nodes_match, edge_match=_edges_match
    )


def random_pair(rng, nodes):
    """A true graph, and one made from it by renaming, doubling, losing and adding."""
    true_edges = rng.random((nodes, nodes)) < 0.4
    true = _graph(np.arange(nodes, dtype=np.int32), *np.nonzero(true_edges))
    position = rng.permutation(nodes)[: rng.integers(2, nodes + 1)]
    position = np.append(position, rng.integers(-1, nodes, size=rng.integers(0, 6 - len(position) + 1)))
    learned_edges = np.where(
        (position[:, None] >= 0) & (position >= 0), true_edges[position[:, None], position], False
    )
    learned_edges ^= rng.random(learned_edges.shape) < 0.15
    return _graph(position.astype(np.int32), *np.nonzero(learned_edges)), true


@pytest.mark.parametrize("seed", range(40))
def test_bounds_hold_the_exact_distance(seed):
    rng = np.random.default_rng(seed)
    learned, true = random_pair(rng, int(rng.integers(2, 5)))
    bounds = edit_distance(learned, true)
    distance = exact(learned, true)
    assert bounds.lower <= distance <= bounds.upper
    assert networkx_edit_distance(learned, true, timeout=20) == distance
    assert bounds.size == learned.size + true.size


def test_bounds_are_equal_on_most_small_pairs():
    rng = np.random.default_rng(0)
    pairs = [edit_distance(*random_pair(rng, 4)) for _ in range(100)]
    assert np.mean([bounds.exact for bounds in pairs]) > 0.5
    assert max(bounds.upper - bounds.lower for bounds in pairs) <= 6


@pytest.mark.parametrize("world", [AliasedRoom(15, 20), torus(6, 8, one_way_doors=9)], ids=["room", "torus"])
def test_the_true_map_has_distance_zero_in_any_order(world):
    right = true_map(world)
    bounds = edit_distance(map_graph(right, np.arange(world.num_positions)), world_graph(world))
    assert (bounds.lower, bounds.upper, bounds.norm_ged) == (0, 0, 0.0)
    order = np.random.default_rng(0).permutation(world.num_positions).astype(np.int32)
    place = np.argsort(order)
    shuffled = _graph(order, place[right.edge_source], place[right.edge_target])
    assert edit_distance(shuffled, world_graph(world)).upper == 0


def test_self_loops_and_parallel_actions_do_not_count():
    world = AliasedRoom(3, 4, 4, patch=0)
    graph = world_graph(world)
    assert len(graph.source) == 2 * (3 * 3 + 2 * 4)  # in both directions across every shared side, no bumps
    assert graph.size == 12 + 34


def test_known_edits_are_counted_exactly():
    world = AliasedRoom(15, 20)
    true = world_graph(world)
    source, target = true.source, true.target
    # Three edges lost, one that is not there, and one node a second time with its four edges.
    twin = np.flatnonzero((source == 150) | (target == 150))
    source = np.concatenate([source[3:], [0], np.where(source[twin] == 150, 300, source[twin])])
    target = np.concatenate([target[3:], [299], np.where(target[twin] == 150, 300, target[twin])])
    learned = _graph(np.append(np.arange(300), 150).astype(np.int32), source, target)
    bounds = edit_distance(learned, true)
    # Delete the twin and its eight edges, delete one edge, insert three.
    assert bounds.upper == 1 + 8 + 1 + 3
    assert bounds.lower <= bounds.upper


def test_one_way_edges_differ_from_two_way_edges():
    one_way = _graph(np.array([0, 1], dtype=np.int32), np.array([0]), np.array([1]))
    both = _graph(np.array([0, 1], dtype=np.int32), np.array([0, 1]), np.array([1, 0]))
    back = _graph(np.array([0, 1], dtype=np.int32), np.array([1]), np.array([0]))
    assert edit_distance(one_way, both).upper == 1
    bounds = edit_distance(one_way, back)
    assert bounds.lower <= exact(one_way, back) == 2 == bounds.upper


def test_bounds_of_a_large_damaged_map_hold_what_undoing_the_damage_costs():
    world = AliasedRoom(15, 20)
    rng = np.random.default_rng(0)
    right = true_map(world)
    position = np.append(np.arange(300), rng.integers(300, size=100))  # a hundred nodes too many
    position[rng.choice(300, 30, replace=False)] = rng.integers(300, size=30)
    twin = position[right.edge_source % 400]
    learned = _graph(
        position.astype(np.int32), np.append(right.edge_source, twin), np.append(right.edge_target, twin)
    )
    bounds = edit_distance(learned, world_graph(world))
    undone = cost_of_keeping_the_first(learned, world_graph(world))
    assert 100 <= bounds.lower <= undone
    assert bounds.lower <= bounds.upper < 1.25 * undone  # the edits that were found are not the fewest


def cost_of_keeping_the_first(learned, true):
    """Edits where learned node p becomes true node p, and every further node is deleted, counted edge by edge."""
    first = len(true.position)
    ours = set(zip(learned.source.tolist(), learned.target.tolist(), strict=True))
    theirs = set(zip(true.source.tolist(), true.target.tolist(), strict=True))
    place = learned.position.tolist()
    renamed = sum(place[node] != node for node in range(first))
    changed = sum({place[source], place[target]} != {source, target} for source, target in ours & theirs)
    return (len(place) - first) + renamed + len(ours ^ theirs) + changed
