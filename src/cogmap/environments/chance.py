"""Worlds with chance: from tables of probabilities, or from any world by making its moves slip."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cogmap.errors import BadWorld
from cogmap.records import ChanceWorld, Floats, Integers, TableWorld

_TIE = 1e-9  # probabilities that differ by less are equal: sums of the same thirds in another order


def from_probabilities(
    moves: ArrayLike, observations: ArrayLike, rewards: ArrayLike | None = None, **others: Any
) -> ChanceWorld:
    """A world from the probabilities of its moves (P, A, P) and of its observations (P, O) or (P,).

    observations: probabilities (P, O), or the one observation (P,) of each position.
    rewards: the mean reward of each move (P, A, P).
    others: other fields of `ChanceWorld`; `num_observations` is needed where a (P,) does not show all of them.
    """
    table = np.asarray(moves, dtype=np.float64)
    if table.ndim != 3 or table.shape[0] != table.shape[2]:
        raise BadWorld(f"`moves` must have shape (P, A, P), got {table.shape}")
    source, action, target = (column.astype(np.int32) for column in np.nonzero(table))
    seen = np.asarray(observations)
    if seen.ndim == 2:
        others |= {"observation_probability": seen, "num_observations": seen.shape[1]}
        seen = seen.argmax(axis=1)
    elif "num_observations" not in others:
        others["num_observations"] = int(seen.max()) + 1
    return ChanceWorld(
        next_position=table.argmax(axis=2).astype(np.int32),
        observation=seen.astype(np.int32),
        move_source=source,
        move_action=action,
        move_target=target,
        move_probability=table[source, action, target],
        move_reward=None if rewards is None else np.asarray(rewards)[source, action, target],
        **others,
    )


def with_slip(world: TableWorld, slip: float) -> TableWorld:
    """The world in which, with probability `slip`, the move made is that of a uniformly random legal action."""
    if not 0 <= slip <= 1:
        raise BadWorld(f"`slip` must be in [0, 1], got {slip}")
    if slip == 0:
        return world
    source, action, target, probability, reward = moves_of(world)
    legal = world.legal_actions()
    share = slip / legal.sum(axis=1)  # (P,) of each legal action in a slip
    is_legal = legal[source, action]
    # Every legal action b of a position may be made instead of every legal action a.
    made, intended = np.nonzero(legal[source] & is_legal[:, None])  # of E moves and A actions
    own = np.where(is_legal, 1 - slip, 1.0)
    return chance_world(
        world,
        np.concatenate([source, source[made]]),
        np.concatenate([action, intended.astype(np.int32)]),
        np.concatenate([target, target[made]]),
        np.concatenate([own * probability, share[source[made]] * probability[made]]),
        None if reward is None else np.concatenate([reward, reward[made]]),
    )


def chance_world(
    world: TableWorld,
    source: Integers,
    action: Integers,
    target: Integers,
    probability: Floats,
    reward: Floats | None = None,
) -> ChanceWorld:
    """`world` with other moves (E,). Probabilities of the same move are added, and rewards weighted by them.

    Its `next_position` stays where it is among the likeliest targets.
    """
    shape = (world.num_positions, world.num_actions, world.num_positions)
    key = np.ravel_multi_index((source, action, target), shape)
    distinct, which = np.unique(key, return_inverse=True)
    which = which.reshape(-1)
    total = np.bincount(which, probability).astype(np.float64)
    kept = total > 0
    from_here, by, to = (column.astype(np.int32) for column in np.unravel_index(distinct[kept], shape))
    mean = None if reward is None else np.bincount(which, probability * reward)[kept] / total[kept]
    return ChanceWorld(
        **table_fields(world)
        | {"next_position": _likeliest(from_here, by, to, total[kept], world.next_position)},
        move_source=from_here,
        move_action=by,
        move_target=to,
        move_probability=total[kept],
        move_reward=mean,
        observation_probability=getattr(world, "observation_probability", None),
    )


def with_start(world: TableWorld, position: int) -> TableWorld:
    """The world in which every walk starts at `position`."""
    if not 0 <= position < world.num_positions:
        raise BadWorld(f"`start` must be a position in [0, {world.num_positions}), got {position}")
    first = np.zeros(world.num_positions)
    first[position] = 1
    kind = ChanceWorld if isinstance(world, ChanceWorld) else TableWorld
    return kind(
        **{each.name: getattr(world, each.name) for each in fields(kind)} | {"start_probability": first}
    )


def take_step(world: TableWorld, position: int, action: int, rng: np.random.Generator) -> int:
    """Where an action leads from a position, by chance where the world has some."""
    if not isinstance(world, ChanceWorld):
        return int(world.next_position[position, action])
    row = position * world.num_actions + action
    first, last = np.searchsorted(world.move_row, [row, row + 1])
    chances = world.move_probability[first:last]
    return int(rng.choice(world.move_target[first:last], p=chances / chances.sum()))


def reward_of(world: TableWorld, position: int, action: int, target: int) -> float:
    """The mean reward of a move; 0 in a world without rewards."""
    if not isinstance(world, ChanceWorld) or world.move_reward is None:
        return 0.0
    row = position * world.num_actions + action
    first, last = np.searchsorted(world.move_row, [row, row + 1])
    return float(world.move_reward[first + np.searchsorted(world.move_target[first:last], target)])


def look(world: TableWorld, position: int, rng: np.random.Generator) -> int:
    """What is seen at a position, by chance where the world has some."""
    if not isinstance(world, ChanceWorld) or world.observation_probability is None:
        return int(world.observation[position])
    chances = world.observation_probability[position]
    return int(rng.choice(world.num_observations, p=chances / chances.sum()))


def moves_of(world: TableWorld) -> tuple[Integers, Integers, Integers, Floats, Floats | None]:
    """Source, action, target, probability and reward (E,) of every move of any world."""
    if isinstance(world, ChanceWorld):
        moves = (world.move_source, world.move_action, world.move_target)
        return *moves, world.move_probability, world.move_reward
    source, action = (
        column.astype(np.int32) for column in np.indices(world.next_position.shape).reshape(2, -1)
    )
    return source, action, world.next_position.ravel(), np.ones(source.size), None


def table_fields(world: TableWorld) -> dict[str, Any]:
    """The fields of a plain `TableWorld`, by name."""
    return {each.name: getattr(world, each.name) for each in fields(TableWorld)}


def _likeliest(
    source: Integers, action: Integers, target: Integers, probability: Floats, given: Integers
) -> NDArray[np.int32]:
    """(P, A): the likeliest target, the `given` one (P, A) where it is among them."""
    highest = np.zeros(given.shape)
    np.maximum.at(highest, (source, action), probability)
    among = probability >= highest[source, action] - _TIE
    order = np.argsort(target[among] == given[source[among], action[among]], kind="stable")  # given ones last
    chosen = np.flatnonzero(among)[order]
    likeliest = given.copy()
    likeliest[source[chosen], action[chosen]] = target[chosen]
    return likeliest
