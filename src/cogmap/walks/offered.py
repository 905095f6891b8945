"""Which actions there are: on a page without a button it is not pressed, however many sessions there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Booleans, Floats, Integers, Walks

WRONG = 0.02  # of the expected tries of an action: fewer are steps at wrong states
ENOUGH = 10  # expected tries, of which none was made, that are no chance
_CHANCE = 5.0  # standard deviations that are none, either
_WEIGHING = 50  # rounds that the weights of actions take to settle
_AT_RANDOM = 2.0  # times the deviance that chance gives: an agent with more has aims


def offered_actions(walks: Walks) -> Booleans:
    """(O, A) actions that there are at an observation: taken there, or too seldom expected to be missed."""
    tries = np.zeros((walks.num_observations, walks.num_actions))
    made = walks.step_mask()[:, 1:]
    np.add.at(tries, (walks.observations[:, :-1][made], walks.actions[made]), 1)
    return ~missing_actions(tries)


def missing_actions(tries: Floats) -> NDArray[np.bool_]:
    """Where an action was expected at least ten times in a row (n, A) of tries, and less than half a one counted."""
    share = tries.sum(axis=0) / max(tries.sum(), 1e-9)
    expected = tries.sum(axis=1, keepdims=True) * share
    return np.asarray((expected >= ENOUGH) & (tries < np.maximum(0.5, WRONG * expected)))


def offers_by_the_way(nodes: Integers, walks: Walks) -> int:
    """How many nodes have actions that were never taken after one way there, and often after others.

    In a game whose possible moves depend on what is hidden, no observation contradicts a node that stands for several
    places with different moves. A random agent tells: it takes whatever there is. One with aims does not, and one that
    hardly repeats or reverts an action does so everywhere: that is its habit.

    nodes: (B, N) of each step by what came before, -1 for none. What is done next must not have told which it is.
    """
    before, here = nodes[:, :-2].astype(np.int64), nodes[:, 1:-1]
    made = walks.step_mask()[:, 2:] & (before >= 0) & (here >= 0)
    if not made.any():
        return 0
    size, came = int(nodes.max()) + 1, walks.actions[:, :-1]
    key = (here * size + before) * walks.num_actions + came
    way, number = np.unique(key[made], return_inverse=True)
    tries = np.zeros((len(way), walks.num_actions))
    np.add.at(tries, (number.reshape(-1), walks.actions[:, 1:][made]), 1)
    if not _acts_at_random(tries):
        return 0
    node, last = way // (size * walks.num_actions), way % walks.num_actions
    habit = _shares(tries, last) / np.maximum(tries.sum(axis=0) / tries.sum(), 1e-9)
    usual = _shares(tries, node)[node] * np.minimum(habit[last], 1)
    usual /= np.maximum(usual.sum(axis=1, keepdims=True), 1e-9)
    return int(_never_by_chance(tries, usual, node).sum())


def _never_by_chance(tries: Floats, usual: Floats, node: Integers) -> Booleans:
    """(V,) nodes whose rows of tries (n, A) lack actions that are expected by their usual shares too often for chance.

    An action that is expected e times is missing with probability exp(-e): so much is due to chance.
    """
    expected = tries.sum(axis=1, keepdims=True) * usual
    missing = np.where(tries == 0, expected, 0).sum(axis=1)
    likely = np.exp(-expected)
    mean = (expected * likely).sum(axis=1)
    variance = (expected**2 * likely * (1 - likely)).sum(axis=1)
    missing, mean, variance = (np.bincount(node, weights=each) for each in (missing, mean, variance))
    return np.asarray(missing - mean >= ENOUGH + _CHANCE * np.sqrt(variance))


def _shares(tries: Floats, group: Integers) -> Floats:
    """(G, A) the share of each action in a group of rows (n,)."""
    total = np.zeros((int(group.max()) + 1, tries.shape[1]))
    np.add.at(total, group, tries)
    return total / np.maximum(total.sum(axis=1, keepdims=True), 1)


def _acts_at_random(tries: Floats) -> bool:
    """Whether actions are drawn by weights of their own from those that there are (Luce's rule), in each row (n, A)."""
    rows = tries[tries.sum(axis=1) >= 10 * (tries > 0).sum(axis=1)]
    there, times = rows > 0, rows.sum(axis=1, keepdims=True)
    free = int((there.sum(axis=1) - 1).sum())
    if not free:
        return False
    weights = np.ones(rows.shape[1])
    for _ in range(_WEIGHING):
        drawn = (there * times / (there @ weights)[:, None]).sum(axis=0)
        weights = rows.sum(axis=0) / np.maximum(drawn, 1e-9)
    expected = there * weights * times / np.maximum(there @ weights, 1e-9)[:, None]
    deviance = 2 * (rows[there] * np.log(rows[there] / expected[there])).sum()
    return bool(deviance <= _AT_RANDOM * free)
