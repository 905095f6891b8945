"""Compiled passes over walks under a hidden Markov model: forward and backward, and the filter.

At each step only the likely states are kept, one after the other in two flat arrays; `starts[n]` is where those of step
n begin. As matrix products with every state at every step these loops took hundreds of times as long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cogmap.hmm.steps import UNEXPLAINED, anywhere, highest, keep_likely, move, see, seen_entry
from cogmap.records import Floats

_RARE = 1e-2  # below it three terms of the series of -log(1 - share) are right to a millionth


class Expected(NamedTuple):
    """What a pass forward and backward adds up."""

    first: Floats  # (V,)
    edge_count: Floats  # (E,)
    need: Floats  # (E,)
    seen_count: Floats  # (I,)
    path: NDArray[np.int32]  # (B, N)
    sure: NDArray[np.float32]  # (B, N)


# Tuples are handed on once a walk, not once a step: compiled code counts references to each of their arrays.


@njit(cache=True)
def forward_backward(
    observations: Any, actions: Any, lengths: Any, model: Any, expected: Any
) -> tuple[float, int]:
    """Fill in `expected`. Returns the log-likelihood, and the number of steps that no edge explains."""
    num_states, num_steps = len(model.first), observations.shape[1]
    belief, touched = np.zeros(num_states), np.empty(num_states, dtype=np.int32)
    later, earlier = np.zeros(num_states), np.zeros(num_states)
    starts, anew = np.zeros(num_steps + 1, dtype=np.int64), np.zeros(num_steps, dtype=np.bool_)
    states, weights = np.empty(4096, dtype=np.int32), np.empty(4096)
    total, unexplained = 0.0, 0
    for walk in range(len(lengths)):
        seen, done = observations[walk, : lengths[walk]], actions[walk]
        states, weights, likelihood = _forward(
            seen, done, model, starts, anew, states, weights, belief, touched
        )
        total += likelihood
        unexplained += anew[: len(seen)].sum()
        path, sure = expected.path[walk], expected.sure[walk]
        _backward(seen, done, model, starts, anew, states, weights, later, earlier, expected, path, sure)
    return total, unexplained


@njit(cache=True)
def _forward(
    seen: Any, done: Any, model: Any, starts: Any, anew: Any, states: Any, weights: Any, belief: Any, touched: Any
) -> Any:  # fmt: skip
    """The likely states of each step given the steps up to it, in arrays that grow, and the walk's log-likelihood."""
    row_start, target, chance, num_actions = model.row_start, model.target, model.chance, model.num_actions
    first, seen_at, shown, seen_chance = model.first, model.seen_at, model.seen, model.seen_chance
    seen_start, by, seen_from = model.seen_start, model.by_observation, model.observation_start
    total = 0.0
    for step in range(len(seen)):
        found, likelihood = 0, 0.0
        if step > 0:
            span = slice(starts[step - 1], starts[step])
            found = move(
                states[span], weights[span], done[step - 1], num_actions, row_start, target, chance, belief, touched
            )  # fmt: skip
            likelihood = see(seen[step], found, shown, seen_chance, seen_start, belief, touched)
        anew[step] = step > 0 and likelihood < UNEXPLAINED
        if step == 0 or anew[step]:
            for index in range(found):
                belief[touched[index]] = 0.0
            found, likelihood = anywhere(
                seen[step], first, seen_at, seen_chance, by, seen_from, belief, touched
            )
        total += np.log(UNEXPLAINED if anew[step] else max(likelihood, 1e-300))
        if starts[step] + found > len(states):
            size = 2 * (starts[step] + found)
            states = np.append(states[: starts[step]], np.empty(size, dtype=np.int32))
            weights = np.append(weights[: starts[step]], np.empty(size))
        starts[step + 1] = keep_likely(found, belief, touched, states, weights, starts[step])
    return states, weights, total


@njit(cache=True)
def _backward(
    seen: Any, done: Any, model: Any, starts: Any, anew: Any, states: Any, weights: Any, later: Any, earlier: Any,
    expected: Any, path: Any, sure: Any,
) -> None:  # fmt: skip
    """Count the states and edges of each step given the whole walk. later, earlier: (V,) zeros, before and after."""
    row_start, target, chance, num_actions = model.row_start, model.target, model.chance, model.num_actions
    shown, seen_chance, seen_start = model.seen, model.seen_chance, model.seen_start
    first, edge_count, need, seen_count, _, _ = expected
    last = len(seen) - 1
    for index in range(starts[last], starts[last + 1]):
        later[states[index]] = 1.0
    for step in range(last, -1, -1):
        now = slice(starts[step], starts[step + 1])
        if step < last:
            if anew[step + 1]:  # the step says nothing
                earlier[states[now]] = 1.0
            else:
                after = states[starts[step + 1] : starts[step + 2]]
                _weigh(after, seen[step + 1], shown, seen_chance, seen_start, later)
                _count_edges(
                    states[now], weights[now], done[step], num_actions, row_start, target, chance, later, earlier,
                    edge_count, need,
                )  # fmt: skip
            for index in range(starts[step + 1], starts[step + 2]):
                later[states[index]] = 0.0
            for index in range(starts[step], starts[step + 1]):
                later[states[index]] = earlier[states[index]]
        best, share = _count_sights(
            states[now], weights[now], seen[step], shown, seen_start, later, seen_count, first, step == 0
        )
        path[step], sure[step] = best, share
    for index in range(starts[0], starts[1]):
        later[states[index]] = 0.0


@njit(cache=True, inline="always")
def _weigh(states: Any, observation: int, shown: Any, seen_chance: Any, seen_start: Any, later: Any) -> None:
    """Weigh how likely what comes later is from each state by what is seen there."""
    for state in states:
        entry = seen_entry(state, observation, shown, seen_start)
        if entry >= 0:
            later[state] *= seen_chance[entry]


@njit(cache=True, inline="always")
def _count_edges(
    states: Any, weights: Any, action: int, num_actions: int, row_start: Any, target: Any, chance: Any, later: Any,
    earlier: Any, edge_count: Any, need: Any,
) -> None:  # fmt: skip
    """Count the edges of a step, and fill in how likely what comes later is from each of its states.

    later: (V,) how likely what is seen after the step, and all that comes then, is from each state.
    """
    norm = 0.0
    for index in range(len(states)):
        row, likelihood = states[index] * num_actions + action, 0.0
        for edge in range(row_start[row], row_start[row + 1]):
            likelihood += chance[edge] * later[target[edge]]
        earlier[states[index]] = likelihood
        norm += weights[index] * likelihood
    if norm <= 0:
        earlier[states] = 1.0
        return
    for index in range(len(states)):
        if earlier[states[index]] <= 0:
            continue
        row, weight = states[index] * num_actions + action, weights[index] / norm
        for edge in range(row_start[row], row_start[row + 1]):
            share = weight * chance[edge] * later[target[edge]]
            if share > 0:
                edge_count[edge] += share
                # Most shares are small, and logarithms take long.
                if share < _RARE:
                    need[edge] += share * (1 + share * (0.5 + share / 3))
                else:
                    need[edge] -= np.log(max(1 - share, UNEXPLAINED))
        earlier[states[index]] /= norm


@njit(cache=True, inline="always")
def _count_sights(
    states: Any, weights: Any, observation: int, shown: Any, seen_start: Any, later: Any, seen_count: Any, first: Any,
    is_first: bool,
) -> tuple[int, float]:  # fmt: skip
    """Count the states of a step. Returns the likeliest one, and its probability."""
    norm, most, best = 0.0, -1.0, -1
    for index in range(len(states)):
        norm += weights[index] * later[states[index]]
    for index in range(len(states)):
        state = states[index]
        share = weights[index] * later[state] / norm if norm > 0 else 0.0
        entry = seen_entry(state, observation, shown, seen_start)
        if entry >= 0:
            seen_count[entry] += share
        if is_first:
            first[state] += share
        if share > most:
            most, best = share, state
    return best, most


@njit(cache=True)
def filter_walks(
    observations: Any, actions: Any, lengths: Any, model: Any, state_of: Any, predicted: Any, log_likelihood: Any
) -> None:  # fmt: skip
    """Fill in the likeliest state of each step given the steps up to it, the next observation, and its likelihood."""
    row_start, target, chance, num_actions = model.row_start, model.target, model.chance, model.num_actions
    first, seen_at, shown, seen_chance = model.first, model.seen_at, model.seen, model.seen_chance
    seen_start, by, seen_from = model.seen_start, model.by_observation, model.observation_start
    num_states = len(first)
    belief, touched = np.zeros(num_states), np.empty(num_states, dtype=np.int32)
    states, weights = np.empty(num_states, dtype=np.int32), np.empty(num_states)
    ahead = np.zeros(len(seen_from) - 1)
    for walk in range(len(lengths)):
        end = 0
        for step in range(lengths[walk]):
            observation = observations[walk, step]
            if step == 0:
                found, _ = anywhere(observation, first, seen_at, seen_chance, by, seen_from, belief, touched)
            else:
                found = move(
                    states[:end], weights[:end], actions[walk, step - 1], num_actions, row_start, target, chance,
                    belief, touched,
                )  # fmt: skip
                predicted[walk, step - 1] = _likeliest_sight(
                    found, shown, seen_chance, seen_start, belief, touched, ahead
                )
                likelihood = see(observation, found, shown, seen_chance, seen_start, belief, touched)
                if likelihood < UNEXPLAINED:
                    for index in range(found):
                        belief[touched[index]] = 0.0
                    found, _ = anywhere(
                        observation, first, seen_at, seen_chance, by, seen_from, belief, touched
                    )
                    likelihood = UNEXPLAINED
                log_likelihood[walk, step - 1] = np.log(likelihood)
            end = keep_likely(found, belief, touched, states, weights, 0)
            state_of[walk, step] = states[highest(weights, 0, end)]


@njit(cache=True, inline="always")
def _likeliest_sight(
    found: int, shown: Any, seen_chance: Any, seen_start: Any, belief: Any, touched: Any, ahead: Any
) -> int:
    """The likeliest observation of a belief, -1 if there is none. ahead: (O,) zeros, before and after."""
    most, likeliest = 0.0, -1
    for index in range(found):
        state = touched[index]
        for entry in range(seen_start[state], seen_start[state + 1]):
            ahead[shown[entry]] += belief[state] * seen_chance[entry]
            if ahead[shown[entry]] > most:
                most, likeliest = ahead[shown[entry]], shown[entry]
    for index in range(found):
        for entry in range(seen_start[touched[index]], seen_start[touched[index] + 1]):
            ahead[shown[entry]] = 0.0
    return likeliest
