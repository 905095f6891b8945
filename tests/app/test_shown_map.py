"""Which true place each node stands for, found by following walks on the map."""

import json
from dataclasses import replace

import numpy as np
from served_runs import ROOM, found_map

from cogmap.app.shown_map import cell_points, doubtful_edges, open_map, wrong_edges
from cogmap.evaluation.places import true_places
from cogmap.maps.store import save_map
from cogmap.records import CognitiveMap
from cogmap.report.colours import side_by_side
from cogmap.walks.sample import sample_walks

WALKS, TRUTH = sample_walks(ROOM, 30, 100, np.random.default_rng(0))


def places_of(found):
    return true_places(found, WALKS, TRUTH)


def relabelled(found, node, num_nodes):
    """The same map with its nodes renamed or merged: `node` (V,) gives the new number of each."""
    edges = np.stack([node[found.edge_source], found.edge_action, node[found.edge_target]], axis=1)
    edges, support = np.unique(edges, axis=0, return_counts=True)
    shown = np.zeros(num_nodes, dtype=int)
    shown[node] = found.node_observation
    return CognitiveMap(
        **{
            **{
                name: getattr(found, name)
                for name in ("kind", "num_observations", "num_actions", "explained")
            },
            "node_observation": shown,
            "node_support": np.bincount(node, minlength=num_nodes),
            "edge_source": edges[:, 0],
            "edge_action": edges[:, 1],
            "edge_target": edges[:, 2],
            "edge_support": support,
            "code_tuples": np.arange(num_nodes)[:, None],
            "code_node": np.arange(num_nodes),
        }
    )


def test_nodes_in_any_order_are_found():
    order = np.random.default_rng(5).permutation(48)
    shuffled = relabelled(found_map(), order, 48)
    places = places_of(shuffled)
    assert np.array_equal(places.position[order], np.arange(48))
    assert not places.merged.any()
    assert not wrong_edges(shuffled, places.position, ROOM).any()


def test_one_node_for_two_places_is_merged():
    """Two places that look alike, far apart, share a node: both are met there."""
    alike = np.flatnonzero(ROOM.observation == ROOM.observation[0])
    far = int(alike[-1])
    node = np.arange(48)
    node[far] = 0
    places = places_of(relabelled(found_map(), node, 48))
    assert places.merged[0]
    assert places.merged.sum() == 1
    assert places.position[0] in (0, far)


def test_two_nodes_for_one_place_lie_side_by_side():
    """A second copy of the room on the map: every place has two nodes, within its cell."""
    found = found_map()
    twice = {
        name: np.concatenate([getattr(found, name), getattr(found, name) + shift])
        for name, shift in (("edge_source", 48), ("edge_target", 48), ("edge_action", 0), ("edge_support", 0))
    }
    doubled = replace(
        found,
        edge_probability=None,
        edge_imagined=None,
        seen_node=None,
        node_observation=np.tile(found.node_observation, 2),
        node_support=np.tile(found.node_support, 2),
        code_tuples=np.arange(96)[:, None],
        code_node=np.arange(96),
        **twice,
    )
    places = places_of(doubled)
    assert np.array_equal(places.position, np.tile(np.arange(48), 2))
    points = side_by_side(cell_points(ROOM), places.position)
    apart = points[:48] - points[48:]
    assert (np.hypot(*apart.T) > 0.1).all()
    cells = ROOM.coordinates[:, 1::-1]
    assert (np.abs(points - np.tile(cells, (2, 1))) < 0.5).all()


def test_an_edge_that_the_world_does_not_have_is_wrong():
    """A one-way mistake: only that edge, not the one back."""
    found = found_map()
    edge = int(np.flatnonzero((found.edge_source == 20) & (found.edge_action == 3))[0])
    target, support = found.edge_target.copy(), found.edge_support.copy() * 5
    extra = {
        "edge_source": np.append(found.edge_source, 20),
        "edge_action": np.append(found.edge_action, 3),
        "edge_target": np.append(target, 40),
        "edge_support": np.append(support, 1),
    }
    wrong = replace(found, edge_probability=None, edge_imagined=None, **extra)
    outside = wrong_edges(wrong, places_of(wrong).position, ROOM)
    assert np.flatnonzero(outside).tolist() == [len(target)]
    assert not outside[edge]
    assert np.flatnonzero(doubtful_edges(wrong)).tolist() == [len(target)]


def test_guesses_are_shown_marked_and_lead_nowhere(tmp_path):
    found = found_map()
    edge = int(np.flatnonzero((found.edge_source == 20) & (found.edge_action == 3))[0])
    guesses = np.arange(found.num_edges) == edge
    save_map(tmp_path / "map.npz", replace(found, edge_guessed=guesses))
    shown = open_map(tmp_path / "map.npz", "minimal", early=False)
    edges = json.loads(shown.answer)["edges"]
    assert np.flatnonzero(edges["guessed"]).tolist() == [edge]
    assert len(edges["probability"]) == len(edges["source"]) == found.num_edges
    assert shown.next_node[20, 3] == -1


def test_hardly_supported_edges_are_doubtful():
    found = found_map()
    support = np.full(found.num_edges, 100)
    support[7] = 4
    assert np.flatnonzero(doubtful_edges(replace(found, edge_support=support))).tolist() == [7]
