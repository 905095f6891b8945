"""Synthetic data for reports: a room, a perfect map of it, and one that merges places with the same neighbours."""

from functools import cache

import networkx
import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.scores import score
from cogmap.records import Codes, CognitiveMap
from cogmap.report.material import Material, read_with
from cogmap.report.tables import Scored
from cogmap.walks.sample import sample_walks

ROOM = AliasedRoom(6, 8, observations=4, seed=0)
WALKS, TRUTH = sample_walks(ROOM, 20, 80, np.random.default_rng(0))
ROWS = [
    {
        "step": 100 * row,
        "loss": 2 / row,
        "train_accuracy": 1 - 1 / (row + 1),
        "validation_accuracy": 1 - 0.9 / (row + 1),
        "codes_in_use": [100 * row] if row > 2 else [],
        "perplexity": [50.0 * row] if row > 2 else [],
    }
    for row in range(1, 9)
]


def merged_map(world):
    """The map of a model that knows places by their own and their neighbours' observations; and each place's node."""
    around = np.concatenate(
        [world.observation[:, None], world.observation[world.next_position]], axis=1
    )  # (P, 1 + A)
    kinds, node = np.unique(around, axis=0, return_inverse=True)
    node = node.reshape(-1).astype(np.int32)
    source = np.repeat(node, world.num_actions)
    action = np.tile(np.arange(world.num_actions), world.num_positions)
    edges, support = np.unique(
        np.stack([source, action, node[world.next_position].ravel()], axis=1), axis=0, return_counts=True
    )
    found = CognitiveMap(
        kind="minimal",
        node_observation=kinds[:, 0],
        node_support=np.bincount(node),
        edge_source=edges[:, 0],
        edge_action=edges[:, 1],
        edge_target=edges[:, 2],
        edge_support=support,
        code_tuples=np.arange(world.num_positions)[:, None],
        code_node=node,
        num_observations=world.num_observations,
        num_actions=world.num_actions,
        explained=1.0,
        observation_labels=world.observation_labels,
        action_labels=world.action_labels,
    )
    return found, node


def spring_layout(found):
    graph = networkx.Graph()
    graph.add_nodes_from(range(found.num_nodes))
    graph.add_edges_from(zip(found.edge_source.tolist(), found.edge_target.tolist(), strict=True))
    placed = networkx.spring_layout(graph, seed=0)
    return np.array([placed[node] for node in range(found.num_nodes)])


def material(found, name="TDB(S=3, M=1)", steps_ahead=3, walks=WALKS, truth=TRUTH, config=None, reads=True):
    """The material of a perfect model, whose code is the position itself."""
    codes = Codes(TRUTH.positions[..., None], walks.lengths, ROOM.num_positions)
    predicted = walks.observations[:, 1:]
    scored = ()
    if truth is not None:
        scored = (Scored(name, "here", score(found, codes, predicted, walks, truth, context_length=20)),)
    return Material(
        name=name,
        config=config or {"name": name, "walks": 512, "model": {"prediction_steps": steps_ahead}},
        cognitive_map=found,
        layout=spring_layout(found),
        rows=ROWS,
        scored=scored,
        reading=read_with(found, walks, codes, predicted, truth) if reads else None,
    )


@cache
def perfect():
    return material(true_map(ROOM))


@cache
def merging():
    return material(merged_map(ROOM)[0], "TDB(S=1, M=1)", 1)
