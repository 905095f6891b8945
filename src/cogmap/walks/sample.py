"""Random walks in a world, sampled in parallel with one table look-up per step; noise and splices.

Noise: the paper replaces 10 % of the training observations by random ones.

Splices: each walk is cut into pieces, and its pieces are shuffled. A predictor trained without cuts takes the joint
between two examples of a prompt as evidence against its belief. One trained with cuts can keep what stays the same (the
concept) and infer the rest (the state within the concept) again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.chance import with_slip, with_start
from cogmap.environments.room_family import RoomFamily
from cogmap.errors import BadConfig, BadWalks
from cogmap.records import ChanceWorld, Floats, Integers, TableWorld, Truth, Walks

Indices = NDArray[np.intp]  # the index type that numpy looks up fastest
MAX_WAYS = 2_000_000  # entries in the table of equally likely moves: 16 MB


@dataclass(frozen=True)
class Agent:
    """How an agent walks where it does not walk in the plainest way. A log does not tell any of this."""

    slip: float = 0.0  # probability that a random legal action is made; the log keeps the intended one
    sticky: float = 0.0  # probability of repeating the last action where it is legal
    start: int | None = None  # the first position of every walk; None is the world's own starts

    def __post_init__(self) -> None:
        for name in ("slip", "sticky"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadWalks(f"`{name}` must be in [0, 1], got {getattr(self, name)}")


PLAIN = Agent()


def sample_walks(
    world: TableWorld, walks: int, steps: int, rng: np.random.Generator, agent: Agent = PLAIN
) -> tuple[Walks, Truth]:
    """`walks` walks of `steps` observations, from the world's starts with uniformly drawn legal actions.

    agent: a known start, slips and repeated actions. The truth's world has the start and the slips in it.
    """
    if walks < 1:
        raise BadWalks(f"`walks` (={walks}) must be at least 1")
    if steps < 2:
        raise BadWalks(f"`steps` (={steps}) must be at least 2, because a walk needs an action")
    world = with_slip(world if agent.start is None else with_start(world, agent.start), agent.slip)
    start = _draw_starts(world, walks, rng)
    if isinstance(world, ChanceWorld) or agent.sticky:
        positions, actions = _advance_by_chance(world, start, steps, rng, agent.sticky)
    else:
        positions, actions = _advance(world, start, steps, rng)
    observations = _see(world, positions, rng)  # (B, N)
    for array in (positions, actions, observations):
        array.flags.writeable = False  # so that the records need no copy
    seen = Walks(
        observations=observations,
        actions=actions,
        lengths=np.full(walks, steps, dtype=np.int32),
        num_observations=world.num_observations,
        num_actions=world.num_actions,
        observation_labels=world.observation_labels,
        action_labels=world.action_labels,
        rewards=_rewards(world, positions, actions),
    )
    return seen, Truth(positions, world)


def _rewards(world: TableWorld, positions: Integers, actions: Integers) -> Floats | None:
    """(B, N - 1): the mean reward of each move, in a world that has rewards."""
    if not isinstance(world, ChanceWorld) or world.move_reward is None:
        return None
    size = np.int64(world.num_positions)
    key = world.move_row * size + world.move_target  # in ascending order
    row = positions[:, :-1].astype(np.int64) * world.num_actions + actions
    return world.move_reward[np.searchsorted(key, row * size + positions[:, 1:])]


def _draw_starts(world: TableWorld, walks: int, rng: np.random.Generator) -> Indices:
    """(B,): the first position of each walk."""
    if world.start_probability is None:
        return rng.integers(world.num_positions, size=walks)
    chances = world.start_probability / world.start_probability.sum()
    return rng.choice(world.num_positions, size=walks, p=chances)


def _advance(
    world: TableWorld, start: Indices, steps: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Positions (B, N) and actions (B, N - 1) of walks from the given first positions (B,).

    Each position has a row of W moves, in which every legal action occurs equally often. So one uniform number
    below W per step is a uniform legal action, and all numbers can be drawn at once.
    """
    ways = _equal_ways(world)  # (P, W)
    if ways is None:
        return _advance_by_rank(world, start, steps, rng)
    width = ways.shape[1]
    arrival = np.take_along_axis(world.next_position, ways, axis=1).ravel().astype(np.intp)  # (P * W,)
    small = np.min_scalar_type(width - 1)  # usually a byte, so that all draws fit in the cache
    drawn = rng.integers(width, size=(len(start), steps - 1), dtype=small)
    positions = np.empty((len(start), steps), dtype=np.int32)
    positions[:, 0] = position = start
    for step in range(steps - 1):
        way = position * width + drawn[:, step]
        position = arrival.take(way, mode="clip")  # always in range; "clip" only skips a check
        positions[:, step + 1] = position
    if world.legal is None:
        return positions, drawn.astype(np.int32)
    actions = np.empty(drawn.shape, dtype=np.int32)
    for first in range(0, len(start), 64):  # a few walks at a time, so that temporaries fit in the cache
        few = slice(first, first + 64)
        actions[few] = ways.take(positions[few, :-1] * width + drawn[few], mode="clip")
    return positions, actions


def _equal_ways(world: TableWorld) -> NDArray[np.int32] | None:
    """(P, W): actions such that a uniform column is a uniform legal action; None if the table would be too large."""
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
    """As `_advance`, without its table: draws the rank of an action among the legal actions of its position."""
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


def _advance_by_chance(
    world: TableWorld, start: Indices, steps: int, rng: np.random.Generator, sticky: float
) -> tuple[Integers, Integers]:
    """As `_advance`, for moves with chance and for an agent that repeats its last action."""
    by_rank, counts = _legal_by_rank(world)  # (P, A), (P,)
    legal = world.legal_actions()
    move = _Table(world.move_row, world.move_probability) if isinstance(world, ChanceWorld) else None
    positions = np.empty((len(start), steps), dtype=np.int32)
    actions = np.empty((len(start), steps - 1), dtype=np.int32)
    positions[:, 0] = position = start
    for step in range(steps - 1):
        rank = (rng.random(len(start)) * counts.take(position)).astype(np.intp)
        action = by_rank[position, rank]
        if sticky and step:
            last = actions[:, step - 1]
            repeats = (rng.random(len(start)) < sticky) & legal[position, last]
            action = np.where(repeats, last, action)
        if isinstance(world, ChanceWorld) and move is not None:
            arrival = world.move_target[move.draw(position * world.num_actions + action, rng)]
        else:
            arrival = world.next_position[position, action]
        actions[:, step] = action
        positions[:, step + 1] = position = arrival.astype(np.intp)
    return positions, actions


def _see(world: TableWorld, positions: Integers, rng: np.random.Generator) -> Integers:
    """(B, N): what is seen at each position (B, N)."""
    if not isinstance(world, ChanceWorld) or world.observation_probability is None:
        return world.observation.take(positions)
    row, observation = np.nonzero(world.observation_probability)
    table = _Table(row, world.observation_probability[row, observation])
    return observation[table.draw(positions.astype(np.intp), rng)].astype(np.int32)


class _Table:
    """Rows of chances, one row after the other: the cumulative sum of row r runs from r to r + 1."""

    def __init__(self, row: NDArray[np.int64], probability: Floats) -> None:
        """row: (E,) ascending, from 0 without gaps. probability: (E,)."""
        size = np.bincount(row)  # (R,)
        self._last = np.cumsum(size) - 1  # (R,) the last entry of each row
        before = np.concatenate([[0.0], np.cumsum(probability)])  # (E + 1,)
        within = before[1:] - before[self._last - size + 1][row]
        self._cumulative = row + within / within[self._last][row]

    def draw(self, row: Indices, rng: np.random.Generator) -> Indices:
        """An entry of each row, with the entries' probabilities."""
        place = np.searchsorted(self._cumulative, row + rng.random(row.shape), side="right")
        return np.minimum(place, self._last[row])  # rounding may pass the end of a row


def _legal_by_rank(world: TableWorld) -> tuple[Indices, Indices]:
    """Each position's actions (P, A), legal ones first in ascending order, and the number of legal ones (P,)."""
    legal = world.legal_actions()  # (P, A)
    return np.argsort(~legal, axis=1, kind="stable"), legal.sum(axis=1)


def sample_family_walks(
    family: RoomFamily, walks: int, steps: int, rng: np.random.Generator, agent: Agent = PLAIN
) -> tuple[Walks, Truth, Integers]:
    """Walks in rooms of a family, each in a room drawn at random.

    Returns: the walks; their truth, whose world is `family.base`, because all rooms share its layout; and the
        room of each walk (B,).
    """
    base_walks, truth = sample_walks(family.base, walks, steps, rng, agent)
    rooms = rng.integers(len(family), size=walks, dtype=np.int32)
    return family.paint(base_walks, rooms), truth, rooms


def add_noise(walks: Walks, share: float, rng: np.random.Generator) -> Walks:
    """Replace each observation with probability `share` by a uniformly random one.

    The random one may equal the original. Actions, lengths and padding do not change.
    """
    if not 0 <= share <= 1:
        raise BadWalks(f"`share` of noise must be in [0, 1], got {share}")
    replaced = (rng.random(walks.observations.shape) < share) & walks.step_mask()  # (B, N)
    random = rng.integers(walks.num_observations, size=walks.observations.shape, dtype=np.int32)
    return replace(walks, observations=np.where(replaced, random, walks.observations))


def splice(walks: Walks, chance: float, rng: np.random.Generator) -> Walks:
    """Cut each walk before every later step with probability `chance`, and shuffle its pieces.

    Only for walks with a single action: otherwise the action at a joint would be wrong.
    """
    if not 0 <= chance <= 1:
        raise BadConfig(f"`splice` (={chance}) must be from 0 to 1")
    if walks.num_actions > 1:
        raise BadConfig(f"only walks with a single action can be spliced, got {walks.num_actions} actions")
    observations = walks.observations.copy()
    for row, length in enumerate(walks.lengths.tolist()):
        observations[row, :length] = _shuffled(observations[row, :length], chance, rng)
    return replace(walks, observations=observations)


def _shuffled(steps: Integers, chance: float, rng: np.random.Generator) -> Integers:
    cuts = np.flatnonzero(rng.random(len(steps) - 1) < chance) + 1
    pieces = np.split(steps, cuts)
    return np.concatenate([pieces[place] for place in rng.permutation(len(pieces))])
