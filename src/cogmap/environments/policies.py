"""Optimal policies of worlds with chance: fewest expected steps to a goal, or the highest discounted value.

Policy iteration on sparse matrices: a policy is evaluated by one sparse solve and improved in every position, until
nothing improves. The functions take arrays, so that they serve worlds and learned maps alike.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from cogmap.environments.chance import moves_of
from cogmap.errors import BadConfig, BadWorld
from cogmap.records import Booleans, Floats, Integers, TableWorld

_BETTER = (
    1e-9  # an action must be better by this share of the value to replace another, or rounding never ends
)


class Policy(NamedTuple):
    """An action for every position, and what it is worth."""

    action: Integers  # (P,) -1 at the goal and where the goal cannot be reached for sure
    value: (
        Floats  # (P,) expected steps to the goal (inf where it may never be reached), or discounted rewards
    )


class Moves(NamedTuple):
    """The moves of a world or a map for the functions here."""

    probability: Any  # sparse (P * A, P), row source * A + action
    allowed: Booleans  # (P, A) actions that may be chosen

    @property
    def num_positions(self) -> int:
        return self.allowed.shape[0]

    @property
    def num_actions(self) -> int:
        return self.allowed.shape[1]


def moves_of_world(world: TableWorld) -> Moves:
    from scipy.sparse import csr_array

    source, action, target, probability, _ = moves_of(world)
    row = source.astype(np.int64) * world.num_actions + action
    shape = (world.num_positions * world.num_actions, world.num_positions)
    return Moves(csr_array((probability, (row, target)), shape=shape), world.legal_actions())


def mean_rewards(world: TableWorld) -> Floats:
    """(P, A): the mean reward of each action; 0 everywhere in a world without rewards."""
    source, action, _, probability, reward = moves_of(world)
    mean = np.zeros(world.next_position.shape)
    if reward is not None:
        np.add.at(mean, (source, action), probability * reward)
    return mean


def quickest_policy(world: TableWorld, goal: int | Collection[int]) -> Policy:
    """The policy of an agent that knows its position and the world, with the fewest expected steps to the goal.

    goal: a position or several.
    """
    return fewest_steps(moves_of_world(world), goal_mask(world, goal))


def best_policy(world: TableWorld, discount: float) -> Policy:
    """The policy with the highest discounted sum of the world's rewards."""
    return highest_value(moves_of_world(world), mean_rewards(world), discount)


def goal_mask(world: TableWorld, goal: int | Collection[int]) -> Booleans:
    """(P,): true at the goal."""
    positions = [goal] if isinstance(goal, int | np.integer) else list(goal)
    wrong = [position for position in positions if not 0 <= position < world.num_positions]
    if wrong or not positions:
        got = wrong[0] if wrong else "none"
        raise BadWorld(f"`goal` must hold positions in [0, {world.num_positions}), got {got}")
    mask = np.zeros(world.num_positions, dtype=bool)
    mask[positions] = True
    return mask


def fewest_steps(moves: Moves, goal: Booleans) -> Policy:
    """The policy with the fewest expected steps to the goal (P,), from where it can be reached for sure."""
    sure, safe = _reached_for_sure(moves, goal)
    action = _first_policy(moves, goal, safe)
    inside = np.flatnonzero(sure & ~goal)
    steps = np.where(goal, 0.0, np.inf)
    while inside.size:
        steps[inside] = _solve(moves, action, inside, np.ones(inside.size), 1.0)
        reachable = np.where(np.isfinite(steps), steps, 0.0)
        cost = 1 + (moves.probability @ reachable).reshape(moves.allowed.shape)  # (P, A)
        cost[~safe] = np.inf
        better = cost.min(axis=1) < steps * (1 - _BETTER)
        better[goal | ~sure] = False
        if not better.any():
            break
        action[better] = cost.argmin(axis=1)[better]
    return Policy(action, steps)


def highest_value(moves: Moves, reward: Floats, discount: float) -> Policy:
    """The policy with the highest discounted sum of mean rewards (P, A). It never ends, so `discount` is below 1."""
    check_discount(discount)
    everywhere = np.arange(moves.num_positions)
    action = moves.allowed.argmax(axis=1).astype(np.int32)
    scale = 1 + np.abs(reward).max() / (1 - discount)
    while True:
        value = _solve(moves, action, everywhere, reward[everywhere, action], discount)
        worth = reward + discount * (moves.probability @ value).reshape(reward.shape)
        worth[~moves.allowed] = -np.inf
        better = worth.max(axis=1) > value + _BETTER * scale
        if not better.any():
            return Policy(action, value)
        action[better] = worth.argmax(axis=1)[better]


def steps_under(moves: Moves, action: Integers, goal: Booleans) -> Floats:
    """(P,): expected steps to the goal under any policy (P,); inf where it may never arrive. -1 is no action."""
    chosen = np.zeros_like(moves.allowed)
    acts = (action >= 0) & ~goal
    chosen[acts, action[acts]] = True
    sure, _ = _reached_for_sure(moves._replace(allowed=chosen), goal)
    inside = np.flatnonzero(sure & ~goal)
    steps = np.where(goal, 0.0, np.inf)
    if inside.size:
        steps[inside] = _solve(moves, action, inside, np.ones(inside.size), 1.0)
    return steps


def value_under(moves: Moves, action: Integers, reward: Floats, discount: float) -> Floats:
    """(P,): the discounted sum of mean rewards (P, A) under any policy (P,)."""
    check_discount(discount)
    everywhere = np.arange(moves.num_positions)
    return _solve(moves, action, everywhere, reward[everywhere, action], discount)


def check_discount(discount: float) -> None:
    if not 0 <= discount < 1:
        rule = "`discount` must be at least 0 and below 1, because rewards without an end have no sum"
        raise BadConfig(f"{rule}, got {discount}")


def _solve(moves: Moves, action: Integers, inside: Any, gain: Floats, discount: float) -> Floats:
    """(I,): x = gain + discount * P x over the positions `inside` (I,), with x = 0 elsewhere."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import spsolve

    chosen = moves.probability[inside * moves.num_actions + action[inside]][:, inside]
    system = (eye_array(len(inside)) - discount * chosen).tocsc()
    return np.atleast_1d(spsolve(system, gain))


def _reached_for_sure(moves: Moves, goal: Booleans) -> tuple[Booleans, Booleans]:
    """(P,) from where some policy reaches the goal with probability one, and (P, A) the actions that keep that.

    Positions that cannot reach the goal are removed with all actions that may lead to them, until none is left.
    """
    sure = np.ones(moves.num_positions, dtype=bool)
    while True:
        strays = (moves.probability @ (~sure).astype(np.float64) > 0).reshape(moves.allowed.shape)
        safe = moves.allowed & ~strays & sure[:, None]
        reaches = np.isfinite(_distance(moves, goal, safe))
        if np.array_equal(reaches & sure, sure):
            return sure, safe
        sure &= reaches


def _distance(moves: Moves, goal: Booleans, safe: Booleans) -> Floats:
    """(P,): the number of safe actions to the goal if chance were kind; inf where there is no way."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    row, target = moves.probability.nonzero()
    source, action = np.divmod(row, moves.num_actions)
    taken = safe[source, action]
    shape = (moves.num_positions, moves.num_positions)
    back = csr_array((np.ones(int(taken.sum())), (target[taken], source[taken])), shape=shape)
    back.data[:] = 1  # several actions may join two positions
    if not goal.any():
        return np.full(moves.num_positions, np.inf)
    return dijkstra(back, indices=np.flatnonzero(goal), min_only=True)


def _first_policy(moves: Moves, goal: Booleans, safe: Booleans) -> Integers:
    """(P,): an action that may lead one step nearer to the goal; under this policy it is reached for sure."""
    distance = _distance(moves, goal, safe)
    row, target = moves.probability.nonzero()
    source, action = np.divmod(row, moves.num_actions)
    nearer = safe[source, action] & (distance[target] < distance[source])
    chosen = np.full(moves.num_positions, -1, dtype=np.int32)
    chosen[source[nearer]] = action[nearer]
    chosen[goal] = -1
    return chosen
