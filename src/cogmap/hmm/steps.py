"""One step of a belief over the states of a hidden Markov model, compiled: move, see, begin anew, keep what is likely.

The belief (V,) is zero but at the states that are `touched`. Functions are written into their callers: a call takes
longer than most of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cogmap.records import Floats

# A state this much less likely than the likeliest is dropped from the belief; a smaller share changes no map, and costs
# time in proportion to the states kept.
NEGLIGIBLE = 1e-5
# The likelihood of a step that no edge explains: the belief begins anew at every state that shows the observation. It
# is below any chance that one log can show, so that an edge is worth its description as soon as two steps need it.
UNEXPLAINED = 1e-6


class Model(NamedTuple):
    """Probabilities with the offsets of their rows."""

    first: Floats  # (V,)
    row_start: NDArray[np.int64]  # (V * A + 1,) where the edges of each row begin
    target: NDArray[np.int32]  # (E,)
    chance: Floats  # (E,)
    seen_at: NDArray[np.int32]  # (I,) the state
    seen: NDArray[np.int32]  # (I,) the observation
    seen_chance: Floats  # (I,)
    seen_start: NDArray[np.int64]  # (V + 1,)
    by_observation: NDArray[np.int64]  # (I,) the same entries by observation: where a walk may begin
    observation_start: NDArray[np.int64]  # (O + 1,)
    num_actions: int


@njit(cache=True, inline="always")
def seen_entry(state: int, observation: int, shown: Any, seen_start: Any) -> int:
    """The entry of an observation at a state, -1 if it is never seen there."""
    for entry in range(seen_start[state], seen_start[state + 1]):
        if shown[entry] == observation:
            return entry
    return -1


@njit(cache=True)
def anywhere(
    observation: int, first: Any, seen_at: Any, seen_chance: Any, by: Any, seen_from: Any, belief: Any,
    touched: Any,
) -> tuple[int, float]:  # fmt: skip
    """Fill the belief with every state that shows the observation; every state if none does.

    Returns how many, and their likelihood.
    """
    found, total = 0, 0.0
    for place in range(seen_from[observation], seen_from[observation + 1]):
        state = seen_at[by[place]]
        likelihood = first[state] * seen_chance[by[place]]
        if likelihood > 0:
            belief[state] = likelihood
            touched[found] = state
            found += 1
            total += likelihood
    if found > 0:
        return found, total
    for state in range(len(first)):
        belief[state] = UNEXPLAINED / len(first)
        touched[state] = state
    return len(first), UNEXPLAINED


@njit(cache=True, inline="always")
def move(
    states: Any, weights: Any, action: int, num_actions: int, row_start: Any, target: Any, chance: Any, belief: Any,
    touched: Any,
) -> int:  # fmt: skip
    """Fill the belief after an action, before the observation. Returns the number of states in it."""
    found = 0
    for index in range(len(states)):
        row = states[index] * num_actions + action
        for edge in range(row_start[row], row_start[row + 1]):
            state = target[edge]
            if belief[state] == 0:
                touched[found] = state
                found += 1
            belief[state] += weights[index] * chance[edge]
    return found


@njit(cache=True, inline="always")
def see(
    observation: int, found: int, shown: Any, seen_chance: Any, seen_start: Any, belief: Any, touched: Any
) -> float:
    """Weigh the belief by the observation. Returns its likelihood."""
    total = 0.0
    for index in range(found):
        state = touched[index]
        entry = seen_entry(state, observation, shown, seen_start)
        belief[state] = belief[state] * seen_chance[entry] if entry >= 0 else 0.0
        total += belief[state]
    return total


@njit(cache=True, inline="always")
def keep_likely(found: int, belief: Any, touched: Any, states: Any, weights: Any, start: int) -> int:
    """Store the likely states of the belief from `start` on, normalised, and clear it. Returns where they end."""
    most = 0.0
    for index in range(found):
        most = max(most, belief[touched[index]])
    end, total = start, 0.0
    for index in range(found):
        state = touched[index]
        if belief[state] > 0 and belief[state] >= NEGLIGIBLE * most:
            states[end], weights[end] = state, belief[state]
            total += belief[state]
            end += 1
        belief[state] = 0.0
    for index in range(start, end):
        weights[index] /= total
    return end


@njit(cache=True)
def highest(weights: Any, start: int, end: int) -> int:
    """The first index of the highest weight."""
    best = start
    for index in range(start, end):
        if weights[index] > weights[best]:
            best = index
    return best
