"""Small maps and worlds that the tests of planning share."""

from __future__ import annotations

import dataclasses

import numpy as np

from cogmap.records import CognitiveMap


def map_from_edges(
    edges: list[tuple[int, int, int] | tuple[int, int, int, int]],
    observation: list[int],
    num_observations: int | None = None,
    **fields: object,
) -> CognitiveMap:
    """A map from (source, action, target[, support]) rows; the code of a node is its index."""
    rows = np.array([(*edge, 1)[:4] for edge in edges], dtype=np.int32).reshape(-1, 4)
    nodes = np.arange(len(observation))
    return CognitiveMap(
        kind="minimal",
        node_observation=np.array(observation),
        node_support=np.ones(len(observation), dtype=np.int32),
        edge_source=rows[:, 0],
        edge_action=rows[:, 1],
        edge_target=rows[:, 2],
        edge_support=rows[:, 3],
        code_tuples=nodes[:, None],
        code_node=nodes,
        num_observations=num_observations or max(observation) + 1,
        num_actions=int(rows[:, 1].max()) + 1,
        explained=1.0,
        **fields,
    )


def damaged(cognitive_map: CognitiveMap, wrong: int, missing: int, rng: np.random.Generator) -> CognitiveMap:
    """The map with some edges led elsewhere and some removed."""
    moves = np.flatnonzero(cognitive_map.edge_source != cognitive_map.edge_target)
    chosen = rng.choice(moves, wrong + missing, replace=False)
    target = cognitive_map.edge_target.copy()
    target[chosen[:wrong]] = rng.integers(cognitive_map.num_nodes, size=wrong)
    kept = np.setdiff1d(np.arange(cognitive_map.num_edges), chosen[wrong:])
    return dataclasses.replace(
        cognitive_map,
        edge_source=cognitive_map.edge_source[kept],
        edge_action=cognitive_map.edge_action[kept],
        edge_target=target[kept],
        edge_support=cognitive_map.edge_support[kept],
        edge_probability=None,
        edge_imagined=None,
    )
