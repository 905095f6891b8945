"""Moves of a world without chance, led to another state that looks like their target, until the walks contradict less.

A rare move to a wrong state may agree with all steps but one, and what follows it is then learned at wrong states. A
hidden Markov model hedges: it lets an earlier move be a matter of chance. Without chance the walks say where they
contradict the moves, and which other target of an earlier move would not have been contradicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.counts import Whole
from cogmap.records import Integers, Walks

_AHEAD = 60  # steps that a wrong move may stay unnoticed
_MOST_CHANGES = 100
WITHOUT_CHANCE = 0.02  # of the steps: where more contradict the likeliest moves, there is chance or noise


def reroute(walks: Walks, table: Integers, shows: Whole, path: Whole) -> Integers | None:
    """The moves (V, A) with some led elsewhere, or None if that does not help.

    table: the likeliest target of each move, -1 if it has none. shows: (V,) what is seen at each state. path: (B, N)
    the state of each step, where a walk begins and goes on after a contradiction.
    """
    table = table.copy()
    order = np.argsort(shows, kind="stable")  # states that look alike stand together
    start = np.searchsorted(shows[order], np.arange(walks.num_observations + 1))
    changed = False
    steps = (walks.observations, walks.actions, walks.lengths)
    for _ in range(_MOST_CHANGES):
        state, wrong = _follow(*steps, path, table, shows)
        if not wrong.any() or wrong.sum() > WITHOUT_CHANCE * walks.lengths.sum():
            break
        gain = _gains(*steps, shows, order, start, table, state, wrong, np.diff(start).max(initial=1))
        row, best = np.unravel_index(gain.argmax(), gain.shape)
        if gain[row, best] <= 0:
            break
        here, action = divmod(int(row), table.shape[1])
        looks = shows[table[here, action]]
        table[here, action] = order[start[looks] + best]
        changed = True
    return table if changed else None


def share_contradicted(walks: Walks, table: Integers, shows: Whole, path: Whole) -> float:
    """The share of the steps that contradict the moves (V, A)."""
    _, wrong = _follow(walks.observations, walks.actions, walks.lengths, path, table, shows)
    return float(wrong.sum() / walks.lengths.sum())


@njit(cache=True)
def _follow(
    observations: Any, actions: Any, lengths: Any, path: Any, table: Any, shows: Any
) -> tuple[Any, Any]:
    """(B, N) the state of each step by the moves, and whether its observation contradicts them."""
    state = np.full(path.shape, -1, dtype=np.int32)
    wrong = np.zeros(path.shape, dtype=np.bool_)
    for walk in range(len(lengths)):
        state[walk, 0] = path[walk, 0]
        for step in range(1, lengths[walk]):
            after = table[state[walk, step - 1], actions[walk, step - 1]]
            wrong[walk, step] = after < 0 or shows[after] != observations[walk, step]
            state[walk, step] = path[walk, step] if wrong[walk, step] else after
    return state, wrong


@njit(cache=True)
def _gains(
    observations: Any, actions: Any, lengths: Any, shows: Any, order: Any, start: Any, table: Any,
    state: Any, wrong: Any, alike: int,
) -> Any:  # fmt: skip
    """(V * A, alike) contradictions less if a move led to each state that looks like its target."""
    num_actions = table.shape[1]
    gain = np.zeros((len(table) * num_actions, alike), dtype=np.int32)
    for walk in range(len(lengths)):
        next_wrong = lengths[walk] + _AHEAD  # the first step from here on that contradicts the moves
        for step in range(lengths[walk] - 2, -1, -1):
            if wrong[walk, step + 1]:
                next_wrong = step + 1
                continue
            row = state[walk, step] * num_actions + actions[walk, step]
            looks = observations[walk, step + 1]
            contradicted = next_wrong <= step + _AHEAD
            last = min(lengths[walk] - 1, step + _AHEAD)
            for place in range(start[looks], start[looks + 1]):
                other = order[place]
                if other == state[walk, step + 1]:
                    continue
                met = _meets(
                    observations[walk], actions[walk], state[walk], table, shows, step + 1, last, other
                )
                if contradicted:  # it helps if it is not contradicted where the move is
                    gain[row, place - start[looks]] += met >= next_wrong
                else:
                    gain[row, place - start[looks]] -= met < 0
    return gain


@njit(cache=True)
def _meets(
    observations: Any, actions: Any, state: Any, table: Any, shows: Any, step: int, last: int, other: int
) -> int:
    """The step where another state leads to the walk's own, the last one if it never does, -1 if it is contradicted."""
    while step < last:
        other = table[other, actions[step]]
        step += 1
        if other < 0 or shows[other] != observations[step]:
            return -1
        if other == state[step]:
            return step
    return last
