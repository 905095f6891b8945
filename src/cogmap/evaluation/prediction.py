"""Accuracy of next-observation predictions: TestAccu, the accuracy by step, and its ceiling.

The ceiling is the accuracy of an exact Bayes filter that knows the world and sees what the model sees. Before step
n + 1 the filter has x_0, a_0, ..., x_n, a_n. Its prior is the world's `start_probability`, or uniform over positions.
An agent that draws only legal actions reveals information by the action itself: p(action | position) is one divided by
the number of legal actions there, and zero where the action is illegal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.bayes import check_match, filter_walks
from cogmap.errors import BadWalks
from cogmap.records import Booleans, ChanceWorld, Floats, Integers, TableWorld, Walks


@dataclass(frozen=True, eq=False)
class Ceiling:
    """How often the filter's likeliest next observation is the right one, and how surprised it is."""

    accuracy: float  # over all predicted steps of all walks
    by_step: Floats  # (N - 1,) over the walks that have a step n + 1, for n = 0, 1, ...
    log_loss: float | None = None  # minus the mean log of the probability of what was seen, in nats


def next_observation_accuracy(predicted: Integers, walks: Walks) -> float:
    """TestAccu: the share of steps predicted; `predicted[b, n]` is for `observations[b, n + 1]`."""
    right, asked = _right(predicted, walks)
    return float(right.sum() / asked.sum())


def accuracy_by_step(predicted: Integers, walks: Walks) -> Floats:
    """(N - 1,) at n, the share of walks whose observation n + 1 was predicted, among walks that have one."""
    right, asked = _right(predicted, walks)
    return right.sum(axis=0) / asked.sum(axis=0)


def ceiling(walks: Walks, world: TableWorld) -> Ceiling:
    """Accuracy on these walks of the filter that knows `world`; `BadWalks` if they are impossible in it."""
    if isinstance(world, ChanceWorld):
        return _ceiling_with_chance(walks, world)
    check_match(walks, world)
    likelihood = world.legal_actions() / world.legal_actions().sum(axis=1, keepdims=True)  # (P, A)
    actions, seen = walks.actions.T.copy(), walks.observations.T.copy()  # (N - 1, B), (N, B)
    is_step = walks.step_mask().T.copy()  # (N, B) false after the end of a walk
    belief = _start(seen[0], world)
    correct = np.zeros(walks.num_steps - 1)  # (N - 1,)
    surprise = 0.0
    for step in range(walks.num_steps - 1):
        belief = _act(belief, actions[step], is_step[step + 1], world, likelihood)
        correct[step], shares = _score(belief, seen[step + 1], is_step[step + 1], world)
        belief = _see(belief, seen[step + 1], world)
        _check_possible(belief, is_step[step + 1], step + 1)
        surprise -= float(np.log(shares).sum())
    predicted = is_step[1:].sum(axis=1)  # (N - 1,)
    total = predicted.sum()
    return Ceiling(float(correct.sum() / total), correct / predicted, surprise / float(total))


def _ceiling_with_chance(walks: Walks, world: TableWorld) -> Ceiling:
    found = filter_walks(walks, world)
    return Ceiling(found.accuracy, np.nanmean(found.correct, axis=0), found.mean_log_loss)


def _right(predicted: Integers, walks: Walks) -> tuple[Booleans, Booleans]:
    """(B, N - 1) where the prediction is right, and (B, N - 1) where there is an observation to predict."""
    predicted = np.asarray(predicted)
    if predicted.shape != walks.actions.shape:
        raise BadWalks(
            f"`predicted` must have shape (B, N - 1) = {walks.actions.shape}, got {predicted.shape}"
        )
    asked = walks.step_mask()[:, 1:]
    return (predicted == walks.observations[:, 1:]) & asked, asked


class _Belief(NamedTuple):
    """The possible positions of every walk in one list, which in a deterministic world can only shrink."""

    walk: NDArray[np.intp]  # (H,) hypotheses of all walks
    position: Integers  # (H,)
    weight: Floats  # (H,)


def _start(seen: Integers, world: TableWorld) -> _Belief:
    """All positions that show each walk's first observation (B,) and at which a walk may start."""
    prior = np.ones(world.num_positions) if world.start_probability is None else world.start_probability
    walk, position = np.nonzero((seen[:, None] == world.observation) & (prior > 0))
    belief = _Belief(walk, position.astype(np.int32), prior[position])
    _check_possible(belief, np.ones(seen.size, dtype=bool), 0)
    return belief


def _act(
    belief: _Belief, actions: Integers, is_step: Booleans, world: TableWorld, likelihood: Floats
) -> _Belief:
    """The belief after `actions` (B,), for the walks that have a next step (B,)."""
    action = actions[belief.walk]
    weight = belief.weight * likelihood[belief.position, action]
    alive = is_step[belief.walk] & (weight > 0)
    moved = world.next_position[belief.position[alive], action[alive]]
    return _merge(_Belief(belief.walk[alive], moved, weight[alive]), world.num_positions)


def _merge(belief: _Belief, num_positions: int) -> _Belief:
    """Merge hypotheses of one walk that are at the same position, so that no copies are kept."""
    if (np.diff(belief.walk) > 0).all():  # every walk has one hypothesis left
        return belief
    distinct, which = np.unique(belief.walk * num_positions + belief.position, return_inverse=True)
    weight = np.bincount(which, weights=belief.weight).astype(np.float64)
    return _Belief(distinct // num_positions, (distinct % num_positions).astype(np.int32), weight)


def _score(belief: _Belief, seen: Integers, is_step: Booleans, world: TableWorld) -> tuple[int, Floats]:
    """The number of walks whose likeliest next observation is the one seen, ties going to the lowest, and the
    probability of what was seen in each walk that has a next step."""
    shape = (seen.size, world.num_observations)
    cell = belief.walk * world.num_observations + world.observation[belief.position]
    mass = np.bincount(cell, weights=belief.weight, minlength=shape[0] * shape[1]).reshape(shape)  # (B, O)
    with np.errstate(invalid="ignore"):  # no position is left in an impossible walk, which is reported later
        share = mass[is_step, seen[is_step]] / mass[is_step].sum(axis=1)
    return int((mass.argmax(axis=1) == seen)[is_step].sum()), share


def _see(belief: _Belief, seen: Integers, world: TableWorld) -> _Belief:
    """The belief given the observations (B,); the weights of each walk sum to one."""
    agrees = world.observation[belief.position] == seen[belief.walk]
    walk, weight = belief.walk[agrees], belief.weight[agrees]
    total = np.bincount(walk, weights=weight, minlength=seen.size)  # (B,)
    return _Belief(walk, belief.position[agrees], weight / total[walk])


def _check_possible(belief: _Belief, is_step: Booleans, step: int) -> None:
    possible = np.zeros(is_step.size, dtype=bool)
    possible[belief.walk] = True
    if not possible[is_step].all():
        walk = int(np.flatnonzero(is_step & ~possible)[0])
        raise BadWalks(f"walks must be possible in the world, walk {walk} becomes impossible at step {step}")
