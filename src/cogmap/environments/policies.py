"""Optimal policies of worlds with chance: fewest expected steps to a goal, or the highest discounted value.

Policy iteration on sparse matrices: a policy is evaluated by one sparse solve and improved in every position, until
nothing improves. The functions take arrays, so that they serve worlds and learned maps alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from cogmap.environments.chance import moves_of
from cogmap.errors import BadConfig, BadWorld
from cogmap.records import Booleans, Floats, Integers, TableWorld

_BETTER = 1e-10  # share of the values by which an action must be better to replace another: above rounding
_SWEEPS = 50  # of value iteration between two solves


class Policy(NamedTuple):
    """An action for every position, and what it is worth."""

    action: Integers  # (P,) -1 at the goal and where the goal cannot be reached for sure
    value: Floats  # (P,) expected steps (inf where the goal may never be reached), or discounted rewards


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


def fewest_steps(moves: Moves, goal: Booleans, cost: Floats | None = None) -> Policy:
    """The policy with the fewest expected steps to the goal (P,), from where it can be reached for sure.

    cost: (P, A) of each action, above 0; then it has the lowest expected cost. None is 1 everywhere.
    """
    cost = np.ones(moves.allowed.shape) if cost is None else cost
    sure, safe = _reached_for_sure(moves, goal)
    action = _first_policy(moves, goal, safe)
    inside = np.flatnonzero(sure & ~goal)
    steps = np.where(goal, 0.0, np.inf)
    if not inside.size:
        return Policy(action, steps)

    def solve() -> Floats:
        value = np.zeros(moves.num_positions)
        value[inside] = -_solve(moves, action, inside, cost[inside, action[inside]], 1.0)
        return value

    def worth(value: Floats) -> Floats:
        of_action = -cost + (moves.probability @ value).reshape(moves.allowed.shape)  # (P, A)
        of_action[~safe] = -np.inf
        of_action[~sure | goal] = 0.0  # they keep their value, 0
        return of_action

    steps[inside] = -_improve(action, solve, worth)[inside]
    return Policy(action, steps)


def surest(moves: Moves, goal: Booleans) -> Policy:
    """The policy with the highest probability of ever reaching the goal (P,), which is its value.

    It has no action at the goal and where the goal is out of reach.
    """
    action = _first_policy(moves, goal, moves.allowed)
    inside = np.flatnonzero(action >= 0)
    if not inside.size:
        return Policy(action, arrival_of(goal))

    def solve() -> Floats:
        into = (moves.probability @ arrival_of(goal))[inside * moves.num_actions + action[inside]]
        value = arrival_of(goal)
        value[inside] = _solve(moves, action, inside, into, 1.0)
        return value

    def worth(value: Floats) -> Floats:
        of_action = (moves.probability @ value).reshape(moves.allowed.shape)
        of_action[~moves.allowed] = -np.inf
        of_action[action < 0] = value[action < 0, None]  # they keep their value, 1 or 0
        return of_action

    return Policy(action, np.clip(_improve(action, solve, worth), 0, 1))


def arrival_of(goal: Booleans) -> Floats:
    """(P,): 1 at the goal, 0 elsewhere."""
    return goal.astype(np.float64)


def arriving_under(moves: Moves, action: Integers, goal: Booleans) -> tuple[Floats, Floats]:
    """(P,) the probability of ever reaching the goal under any policy (P,), and (P,) the expected steps if it does.

    -1 is no action. The steps are inf where the goal is never reached.
    """
    chosen = np.zeros_like(moves.allowed)
    acts = (action >= 0) & ~goal
    chosen[acts, action[acts]] = True
    reaches = np.isfinite(_ways(moves, goal, chosen).cost)
    inside = np.flatnonzero(reaches & ~goal)
    arrival, steps = arrival_of(goal), np.where(goal, 0.0, np.inf)
    if inside.size:
        into = (moves.probability @ arrival)[inside * moves.num_actions + action[inside]]
        arrival[inside] = np.clip(_solve(moves, action, inside, into, 1.0), 0, 1)
        # The chance to arrive is counted once at every step on the way.
        steps[inside] = _solve(moves, action, inside, arrival[inside], 1.0) / arrival[inside]
    return arrival, steps


def highest_value(moves: Moves, reward: Floats, discount: float) -> Policy:
    """The policy with the highest discounted sum of mean rewards (P, A). It never ends, so `discount` is below 1."""
    check_discount(discount)
    everywhere = np.arange(moves.num_positions)
    action = moves.allowed.argmax(axis=1).astype(np.int32)

    def solve() -> Floats:
        return _solve(moves, action, everywhere, reward[everywhere, action], discount)

    def worth(value: Floats) -> Floats:
        of_action = reward + discount * (moves.probability @ value).reshape(reward.shape)
        of_action[~moves.allowed] = -np.inf
        return of_action

    return Policy(action, _improve(action, solve, worth))


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


def _improve(action: Integers, solve: Callable[[], Floats], worth: Callable[[Floats], Floats]) -> Floats:
    """Policy iteration, which changes `action` (P,) in place until it is optimal. Returns: its value (P,).

    Between two exact values there are sweeps of value iteration: they only raise the value of a policy that can be
    followed, cost little, and spare most of the solves.

    solve: the value (P,) of the present actions.
    worth: the value (P, A) of each action, given that of each position.
    """
    value = solve()
    while True:
        better = _raises(worth(value), action, value)
        if not better.any():
            return value
        swept = value
        for _ in range(_SWEEPS):
            swept = worth(swept).max(axis=1)
        ahead = worth(swept)
        changed = _raises(ahead, action, swept)
        before = action.copy()
        action[changed] = ahead.argmax(axis=1)[changed]
        raised = solve()
        if raised.sum() <= value.sum():  # rounding has the last word
            action[:] = before
            return value
        value = raised


def _raises(worth: Floats, action: Integers, value: Floats) -> Booleans:
    """(P,): where some action is better than the present one by more than rounding."""
    # Where there is no action, -1 picks the last column: all are 0 there.
    present = worth[np.arange(len(action)), action]
    return worth.max(axis=1) > present + _BETTER * (1 + np.abs(value).max())


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
        reaches = np.isfinite(_ways(moves, goal, safe).cost)
        if np.array_equal(reaches & sure, sure):
            return sure, safe
        sure &= reaches


class _Ways(NamedTuple):
    """Every safe move that has a chance, and the cost of the best way to the goal if one insists on single moves."""

    source: Any  # (E,)
    action: Any  # (E,)
    target: Any  # (E,)
    tries: Floats  # (E,) of the action until it makes this move, on average
    cost: Floats  # (P,) the fewest tries to the goal; inf where there is no way


def _ways(moves: Moves, goal: Booleans, safe: Booleans) -> _Ways:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    listed = moves.probability.tocoo()
    source, action = np.divmod(listed.row, moves.num_actions)
    taken = safe[source, action] & (listed.col != source)
    source, action, target = source[taken], action[taken], listed.col[taken]
    tries = 1 / listed.data[taken]
    if not goal.any():
        return _Ways(source, action, target, tries, np.full(moves.num_positions, np.inf))
    # Of several actions that join two positions the likeliest counts: sorted, the first of each pair is kept.
    pair = target.astype(np.int64) * moves.num_positions + source
    order = np.lexsort((tries, pair))
    best = order[np.unique(pair[order], return_index=True)[1]]
    shape = (moves.num_positions, moves.num_positions)
    back = csr_array((tries[best], (target[best], source[best])), shape=shape)
    cost = dijkstra(back, indices=np.flatnonzero(goal), min_only=True)
    return _Ways(source, action, target, tries, cost)


def _first_policy(moves: Moves, goal: Booleans, safe: Booleans) -> Integers:
    """(P,): the action of the best way. It may lead nearer from everywhere, so the goal is reached for sure."""
    ways = _ways(moves, goal, safe)
    with np.errstate(invalid="ignore"):  # inf - inf where there is no way
        worst_first = np.argsort(-(ways.tries + ways.cost[ways.target]), kind="stable")
    nearer = worst_first[(ways.cost[ways.target] < ways.cost[ways.source])[worst_first]]
    chosen = np.full(moves.num_positions, -1, dtype=np.int32)
    chosen[ways.source[nearer]] = ways.action[nearer]  # the last one written is the best
    chosen[goal] = -1
    return chosen
