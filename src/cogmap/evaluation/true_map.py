"""The map that a perfect learner would draw: the world itself, in the form of a cognitive map."""

from __future__ import annotations

import numpy as np

from cogmap.environments.oracle import true_edges
from cogmap.records import CognitiveMap, TableWorld


def true_map(world: TableWorld) -> CognitiveMap:
    """One node a position, one edge a legal move, bumps included; the code of a position is its index."""
    source, action, target = true_edges(world, bumps=True)
    positions = np.arange(world.num_positions, dtype=np.int32)
    return CognitiveMap(
        kind="true",
        node_observation=world.observation,
        node_support=np.ones(world.num_positions, dtype=np.int32),
        edge_source=source,
        edge_action=action,
        edge_target=target,
        edge_support=np.ones(len(source), dtype=np.int32),
        code_tuples=positions[:, None],
        code_node=positions,
        num_observations=world.num_observations,
        num_actions=world.num_actions,
        explained=1.0,
        observation_labels=world.observation_labels,
        action_labels=world.action_labels,
    )
