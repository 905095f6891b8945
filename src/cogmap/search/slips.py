"""Chance that all moves have in common: an action does what another one does, or nothing, as often everywhere.

In a room where one move in five slips every move has its own four targets, but a slip leads where another action would
have led. So it is enough to say once how often each action does what another does, and of each state where its actions
lead. Neither is seen alone, as where a move goes to either side as often as ahead: they are fitted in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.states import LEAST_COUNT, StateCounts, offsets, sum_equal
from cogmap.records import Floats, Integers

_ROUNDS = 20  # of fitting at the most; five are usual. And of the shares, in the end
_ROUNDS_OF_SHARES = 3  # of expectation-maximisation, for each of them
_SWEEPS = 3  # over the pairs of actions of a state
_SURE = 0.9  # chance at first that an action does what it should
_TINY = 1e-6  # chance of a target that no action leads to


@dataclass(frozen=True, eq=False)
class Slips:
    """How often each action does what another does, and where that leads."""

    does: Floats  # (A, A + 1) the chance that an action does what each one does, or nothing
    leads: Integers  # (V, A) where each action leads from each state, -1 if it was never tried there

    def chances(self, counts: StateCounts) -> Floats:
        """(E,) the probability of each edge of the counts."""
        source, action = np.divmod(counts.row, counts.num_actions)
        stays = np.arange(len(self.leads), dtype=self.leads.dtype)[:, None]
        leads = np.concatenate([self.leads, stays], axis=1)[source]  # (E, A + 1)
        return np.asarray(((leads == counts.target[:, None]) * self.does[action]).sum(axis=1))

    def added_to(self, counts: StateCounts) -> StateCounts:
        """The counts with as many again as they are tries, by the slips."""
        states, actions = self.leads.shape
        tries = counts.tries.reshape(states, actions, 1) * self.does  # (V, A, A + 1)
        stays = np.arange(states, dtype=self.leads.dtype)[:, None]
        leads = np.broadcast_to(np.concatenate([self.leads, stays], axis=1)[:, None], tries.shape)
        row = np.broadcast_to(np.arange(states * actions).reshape(states, actions, 1), tries.shape)
        there = (leads >= 0) & (tries > LEAST_COUNT)
        key, count = sum_equal(
            np.concatenate([counts.row * states + counts.target, row[there] * states + leads[there]]),
            np.concatenate([counts.count, tries[there]]),
        )
        return replace(counts, row=key // states, target=(key % states).astype(np.int32), count=count)


def fit_slips(counts: StateCounts, likeliest: Integers) -> Slips:
    """The slips under which the counts are likeliest. likeliest: (V, A) the first guess where each action leads."""
    actions = counts.num_actions
    does = np.full((actions, actions + 1), (1 - _SURE) / actions)
    np.fill_diagonal(does, _SURE)
    leads = likeliest.copy()
    start = offsets(counts.row, counts.num_states * actions)
    # Only states with chance in their moves say what slips; of the others the guess is right already.
    several = np.bincount(counts.row, minlength=len(start) - 1).reshape(-1, actions).max(axis=1) > 1
    _fit(start, counts.target, counts.count, np.flatnonzero(several), leads, does)
    return Slips(does, leads)


@njit(cache=True)
def _fit(start: Any, target: Any, count: Any, unsure: Any, leads: Any, does: Any) -> None:
    """Better `leads` and `does` in turn, in place, until no action is led elsewhere."""
    for _ in range(_ROUNDS):
        for _ in range(_ROUNDS_OF_SHARES):
            _share(start, target, count, leads, does)
        changed = 0
        for state in unsure:
            changed += _lead(state, start, target, count, leads, does)
        if changed == 0:
            break
    for _ in range(_ROUNDS):
        _share(start, target, count, leads, does)


@njit(cache=True)
def _share(start: Any, target: Any, count: Any, leads: Any, does: Any) -> None:
    """One round of expectation-maximisation of `does`."""
    states, actions = leads.shape
    expected = np.zeros_like(does)
    for state in range(states):
        for action in range(actions):
            row = state * actions + action
            for edge in range(start[row], start[row + 1]):
                stays = target[edge] == state
                total = does[action, actions] if stays else 0.0
                for other in range(actions):
                    if leads[state, other] == target[edge]:
                        total += does[action, other]
                if total <= 0:
                    continue
                for other in range(actions):
                    if leads[state, other] == target[edge]:
                        expected[action, other] += count[edge] * does[action, other] / total
                if stays:
                    expected[action, actions] += count[edge] * does[action, actions] / total
    for action in range(actions):
        total = expected[action].sum()
        if total > 0:
            does[action] = expected[action] / total


@njit(cache=True)
def _lead(state: int, start: Any, target: Any, count: Any, leads: Any, does: Any) -> int:
    """Lead the actions of a state elsewhere, one at a time or two exchanged, where that is likelier. Returns how many.

    Two must be exchanged at once where targets are as likely as each other: without one of them its steps are
    impossible.
    """
    actions = leads.shape[1]
    first = start[state * actions]
    options = np.unique(np.append(target[first : start[(state + 1) * actions]], np.int32(state)))
    taken = np.zeros((actions, len(options)))  # how often, and how likely
    chance = np.full((actions, len(options)), _TINY)
    way = np.full(actions, -1)
    for action in range(actions):
        for edge in range(start[state * actions + action], start[state * actions + action + 1]):
            taken[action, np.searchsorted(options, target[edge])] += count[edge]
        if leads[state, action] >= 0:
            way[action] = np.searchsorted(options, leads[state, action])
            chance[:, way[action]] += does[:, action]
    chance[:, np.searchsorted(options, state)] += does[:, actions]
    changed = 0
    for action in range(actions):
        if way[action] < 0:
            continue
        best, where = 1e-6, -1
        for other in range(len(options)):
            if other != way[action]:
                gain = _gain(taken, chance, does[:, action], way[action], other)
                if gain > best:
                    best, where = gain, other
        if where >= 0:
            chance[:, way[action]] -= does[:, action]
            chance[:, where] += does[:, action]
            way[action] = where
            changed += 1
    for _ in range(_SWEEPS):
        before = changed
        for action in range(actions):
            for other in range(action):
                if way[action] < 0 or way[other] < 0 or way[action] == way[other]:
                    continue
                moved = does[:, action] - does[:, other]
                if _gain(taken, chance, moved, way[action], way[other]) > 1e-6:
                    chance[:, way[action]] -= moved
                    chance[:, way[other]] += moved
                    way[action], way[other] = way[other], way[action]
                    changed += 1
        if changed == before:
            break
    for action in range(actions):
        if way[action] >= 0:
            leads[state, action] = options[way[action]]
    return changed


@njit(cache=True)
def _gain(taken: Any, chance: Any, moved: Any, source: int, target: int) -> float:
    """Nats that the steps from a state (A, targets) gain if a chance (A,) is moved from one target to another."""
    gain = 0.0
    for action in range(len(moved)):
        if taken[action, source] > 0:
            left = max(chance[action, source] - moved[action], _TINY)
            gain += taken[action, source] * np.log(left / max(chance[action, source], _TINY))
        if taken[action, target] > 0:
            more = max(chance[action, target] + moved[action], _TINY)
            gain += taken[action, target] * np.log(more / max(chance[action, target], _TINY))
    return gain
