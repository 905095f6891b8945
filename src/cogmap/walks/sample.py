"""Random walks in a world, all of them advancing together, one table look-up a step; noise and splices.

Noise: the paper replaces 10 % of the training observations by random ones.

Splices: walks are cut into pieces, and the pieces of each walk are put together in another order. To a predictor that
holds cuts impossible, a joint between two examples of a prompt is evidence against what it knew. One that expects them
can keep what lasts (the concept) and infer again what does not (where in it one is).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.room_family import RoomFamily
from cogmap.errors import BadConfig, BadWalks
from cogmap.records import Integers, TableWorld, Truth, Walks

Indices = NDArray[np.intp]  # what numpy looks up fastest with
MAX_WAYS = 2_000_000  # entries of the table of ways: 16 MB


def sample_walks(world: TableWorld, walks: int, steps: int, rng: np.random.Generator) -> tuple[Walks, Truth]:
    """`walks` walks of `steps` observations: a uniform start, then a uniform draw among the legal actions."""
    if walks < 1:
        raise BadWalks(f"`walks` (={walks}) must be at least 1")
    if steps < 2:
        raise BadWalks(f"`steps` (={steps}) must be at least 2, since a walk needs an action")
    positions, actions = _advance(world, rng.integers(world.num_positions, size=walks), steps, rng)
    observations = world.observation.take(positions)  # (B, N)
    for array in (positions, actions, observations):
        array.flags.writeable = False  # so the records need no copy of their own
    seen = Walks(
        observations=observations,
        actions=actions,
        lengths=np.full(walks, steps, dtype=np.int32),
        num_observations=world.num_observations,
        num_actions=world.num_actions,
        observation_labels=world.observation_labels,
        action_labels=world.action_labels,
    )
    return seen, Truth(positions, world)


def _advance(
    world: TableWorld, start: Indices, steps: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Positions (B, N) and actions (B, N - 1) of walks from the given first positions (B,).

    A number from 0 to W is drawn for every step at once, and is as good as an action: of the W ways to leave
    a position, each legal action has an equal share.
    """
    ways = _equal_ways(world)  # (P, W)
    if ways is None:
        return _advance_by_rank(world, start, steps, rng)
    width = ways.shape[1]
    arrival = np.take_along_axis(world.next_position, ways, axis=1).ravel().astype(np.intp)  # (P * W,)
    small = np.min_scalar_type(width - 1)  # a byte as a rule: the draws of all steps stay in the cache
    drawn = rng.integers(width, size=(len(start), steps - 1), dtype=small)
    positions = np.empty((len(start), steps), dtype=np.int32)
    positions[:, 0] = position = start
    for step in range(steps - 1):
        way = position * width + drawn[:, step]
        position = arrival.take(way, mode="clip")  # always inside: clip skips a check
        positions[:, step + 1] = position
    if world.legal is None:
        return positions, drawn.astype(np.int32)
    actions = np.empty(drawn.shape, dtype=np.int32)
    for first in range(0, len(start), 64):  # a few walks at a time: what is in between stays in the cache
        few = slice(first, first + 64)
        actions[few] = ways.take(positions[few, :-1] * width + drawn[few], mode="clip")
    return positions, actions


def _equal_ways(world: TableWorld) -> NDArray[np.int32] | None:
    """(P, W): actions such that a uniform column is a uniform legal action; None if that takes a vast table."""
    if world.legal is None:
        return np.tile(np.arange(world.num_actions, dtype=np.int32), (world.num_positions, 1))
    by_rank, counts = _legal_by_rank(world)  # (P, A), (P,)
    width = math.lcm(*set(counts.tolist()))
    if width * world.num_positions > MAX_WAYS:
        return None
    return np.take_along_axis(by_rank, np.arange(width) % counts[:, None], axis=1).astype(np.int32)


def _advance_by_rank(
    world: TableWorld, start: Indices, steps: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """As `_advance`, without its table: a draw is the rank of an action among the legal ones of its position."""
    by_rank, counts = _legal_by_rank(world)  # (P, A), (P,)
    arrival = np.take_along_axis(world.next_position, by_rank, axis=1).ravel().astype(np.intp)  # (P * A,)
    positions = np.empty((len(start), steps), dtype=np.int32)
    actions = np.empty((len(start), steps - 1), dtype=np.int32)
    positions[:, 0] = position = start
    for step in range(steps - 1):
        rank = (rng.random(len(start)) * counts.take(position)).astype(np.intp)
        cell = position * world.num_actions + rank
        actions[:, step] = by_rank.take(cell)
        positions[:, step + 1] = position = arrival.take(cell)
    return positions, actions


def _legal_by_rank(world: TableWorld) -> tuple[Indices, Indices]:
    """Each position's actions (P, A), the legal ones first in rising order, and how many are legal (P,)."""
    legal = world.legal_actions()  # (P, A)
    return np.argsort(~legal, axis=1, kind="stable"), legal.sum(axis=1)


def sample_family_walks(
    family: RoomFamily, walks: int, steps: int, rng: np.random.Generator
) -> tuple[Walks, Truth, Integers]:
    """Walks in rooms of a family, each in a room drawn at random.

    Returns: the walks; their truth, whose world is `family.base`, since all the rooms share its layout;
        and the room of each walk (B,).
    """
    base_walks, truth = sample_walks(family.base, walks, steps, rng)
    rooms = rng.integers(len(family), size=walks, dtype=np.int32)
    return family.paint(base_walks, rooms), truth, rooms


def add_noise(walks: Walks, share: float, rng: np.random.Generator) -> Walks:
    """Walks in which each observation is replaced, with probability `share`, by a uniformly random one.

    The random one may happen to be the one replaced. Actions, lengths and padding stay as they are.
    """
    if not 0 <= share <= 1:
        raise BadWalks(f"`share` of noise must be in [0, 1], got {share}")
    replaced = (rng.random(walks.observations.shape) < share) & walks.step_mask()  # (B, N)
    random = rng.integers(walks.num_observations, size=walks.observations.shape, dtype=np.int32)
    return replace(walks, observations=np.where(replaced, random, walks.observations))


def splice(walks: Walks, chance: float, rng: np.random.Generator) -> Walks:
    """The same walks, each cut before any of its later steps with `chance` and its pieces shuffled.

    Only for walks with a single action: what is done at a joint would otherwise be a lie.
    """
    if not 0 <= chance <= 1:
        raise BadConfig(f"`splice` (={chance}) must be from 0 to 1")
    if walks.num_actions > 1:
        raise BadConfig(f"only walks with a single action can be spliced, these have {walks.num_actions}")
    observations = walks.observations.copy()
    for row, length in enumerate(walks.lengths.tolist()):
        observations[row, :length] = _shuffled(observations[row, :length], chance, rng)
    return replace(walks, observations=observations)


def _shuffled(steps: Integers, chance: float, rng: np.random.Generator) -> Integers:
    cuts = np.flatnonzero(rng.random(len(steps) - 1) < chance) + 1
    pieces = np.split(steps, cuts)
    return np.concatenate([pieces[place] for place in rng.permutation(len(pieces))])
