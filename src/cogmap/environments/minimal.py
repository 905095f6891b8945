"""The minimal form of a world: places that no sequence of actions distinguishes are one.

A walk cannot distinguish such places, so no map of walks has both: FrozenLake's holes all lead back to the start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cogmap.environments.chance import chance_world, moves_of
from cogmap.environments.oracle import equivalent_positions
from cogmap.records import ChanceWorld, Integers, TableWorld, Truth


def minimal_world(world: TableWorld) -> TableWorld:
    """The world of classes of positions, in which walks look as they do in `world`; without chance a plain one."""
    group = equivalent_positions(world)
    if int(group.max()) + 1 == world.num_positions and not isinstance(world, ChanceWorld):
        return world
    return _of_classes(world, group)


def minimal_truth(truth: Truth) -> Truth:
    """The truth of a log by the places that walks can distinguish: a map that has one node for each of them is exact.

    A world with coordinates, which are drawn, and one with chance stay as they are.
    """
    world = truth.world
    if isinstance(world, ChanceWorld) or world.coordinates is not None:
        return truth
    group = equivalent_positions(world)
    if int(group.max()) + 1 == world.num_positions:
        return truth
    return Truth(group[truth.positions], _of_classes(world, group))


def _of_classes(world: TableWorld, group: Integers) -> TableWorld:
    """The world whose positions are classes (P,) of those of another."""
    first = np.unique(group, return_index=True)[1]  # (classes,) a position of each
    start = world.start_probability
    plain = TableWorld(
        next_position=group[world.next_position[first]],
        observation=world.observation[first],
        num_observations=world.num_observations,
        legal=None if world.legal is None else world.legal[first],
        coordinates=None if world.coordinates is None else world.coordinates[first],
        observation_labels=world.observation_labels,
        action_labels=world.action_labels,
        name=world.name,
        start_probability=None if start is None else np.bincount(group, start).astype(np.float64),
    )
    return _with_chance(plain, world, group, first) if isinstance(world, ChanceWorld) else plain


def _with_chance(plain: TableWorld, world: ChanceWorld, group: Any, first: Any) -> TableWorld:
    source, action, target, probability, reward = moves_of(world)
    kept = np.isin(source, first)
    moves = (group[source[kept]], action[kept], group[target[kept]], probability[kept])
    merged = chance_world(plain, *moves, None if reward is None else reward[kept])
    if world.observation_probability is not None:
        return replace(merged, observation_probability=world.observation_probability[first])
    return plain if (merged.move_probability == 1).all() else merged
