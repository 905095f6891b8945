"""A map as a world, and as a Gymnasium environment: an agent may train in it before it walks in the real one."""

from __future__ import annotations

from typing import Any

import numpy as np

from cogmap.environments.chance import chance_world
from cogmap.errors import BadWorld
from cogmap.records import ChanceWorld, CognitiveMap, TableWorld


def world_of_map(cognitive_map: CognitiveMap) -> ChanceWorld:
    """The map as a world with chance: nodes as positions, edges as moves, with observations and rewards.

    An action that was never taken at a node is not legal there, unless no action was: then all of them stay in place.
    """
    cognitive_map = cognitive_map.known()
    nodes, actions = cognitive_map.num_nodes, cognitive_map.num_actions
    if nodes == 0:
        raise BadWorld("a map must have at least one node to be a world, got 0")
    legal = np.zeros((nodes, actions), dtype=bool)
    legal[cognitive_map.edge_source, cognitive_map.edge_action] = True
    missing, action = (column.astype(np.int32) for column in np.nonzero(~legal))
    stays = np.tile(np.arange(nodes, dtype=np.int32)[:, None], (1, actions))
    legal[~legal.any(axis=1)] = True
    seen = np.zeros((nodes, cognitive_map.num_observations))
    seen[cognitive_map.seen_node, cognitive_map.seen_observation] = cognitive_map.seen_probability
    nowhere = seen.sum(axis=1) == 0  # nodes whose observations a file lacks
    seen[nowhere, cognitive_map.node_observation[nowhere]] = 1
    plain = TableWorld(
        next_position=stays,
        observation=seen.argmax(axis=1).astype(np.int32),
        num_observations=cognitive_map.num_observations,
        legal=legal,
        observation_labels=cognitive_map.observation_labels,
        action_labels=cognitive_map.action_labels,
        name="map",
        start_probability=cognitive_map.start_probability,
    )
    reward = cognitive_map.edge_reward
    found = chance_world(
        plain,
        np.concatenate([cognitive_map.edge_source, missing]),
        np.concatenate([cognitive_map.edge_action, action]),
        np.concatenate([cognitive_map.edge_target, missing]),
        np.concatenate([np.asarray(cognitive_map.edge_probability), np.ones(len(missing))]),
        None if reward is None else np.concatenate([reward, np.zeros(len(missing))]),
    )
    if (seen.max(axis=1) == 1).all():
        return found
    fields = {name: getattr(found, name) for name in ChanceWorld.__dataclass_fields__}
    return ChanceWorld(**fields | {"observation_probability": seen})


def environment_of_map(
    cognitive_map: CognitiveMap, goal: int | None = None, max_steps: int | None = None
) -> Any:
    """A `WorldEnv` on the map; it shows observations, never nodes. Its `position` is the node, for evaluation.

    goal: the node at which an episode ends with reward 1; None is the rewards of the map, and no end.
    max_steps: actions after which an episode is truncated; None is never.
    """
    from cogmap.environments.gym import WorldEnv

    return WorldEnv(world_of_map(cognitive_map), goal, max_steps)
