"""The likeliest path of walks through the states of a hidden Markov model (Viterbi), compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.steps import NEGLIGIBLE, UNEXPLAINED, anywhere, highest, seen_entry


@njit(cache=True)
def viterbi(observations: Any, actions: Any, lengths: Any, model: Any, path: Any) -> float:
    """Fill in the likeliest path (B, N). Returns its log-likelihood."""
    row_start, target, chance, num_actions = model.row_start, model.target, model.chance, model.num_actions
    first, seen_at, shown, seen_chance = model.first, model.seen_at, model.seen, model.seen_chance
    seen_start, by, seen_from = model.seen_start, model.by_observation, model.observation_start
    num_states, total = len(first), 0.0
    best, where = np.zeros(num_states), np.zeros(num_states, dtype=np.int64)  # of the states of one step
    touched = np.empty(num_states, dtype=np.int32)
    starts = np.zeros(observations.shape[1] + 1, dtype=np.int64)
    states, weights, back = np.empty(4096, dtype=np.int32), np.empty(4096), np.empty(4096, dtype=np.int64)
    for walk in range(len(lengths)):
        last = lengths[walk] - 1
        for step in range(last + 1):
            observation, found, most = observations[walk, step], 0, 0.0
            before = starts[max(step - 1, 0)]
            if step > 0:
                action = actions[walk, step - 1]
                found, most = _best_moves(
                    before, starts[step], states, weights, action, num_actions, observation, row_start, target, chance,
                    shown, seen_chance, seen_start, best, where, touched,
                )  # fmt: skip
            total += np.log(most) if most >= UNEXPLAINED else 0.0
            if most < UNEXPLAINED:  # the path begins anew, after the likeliest one so far
                for index in range(found):
                    best[touched[index]] = 0.0
                found, _ = anywhere(observation, first, seen_at, seen_chance, by, seen_from, best, touched)
                most, likeliest = 0.0, highest(weights, before, starts[step])
                for index in range(found):
                    most = max(most, best[touched[index]])
                    where[touched[index]] = likeliest
                total += np.log(UNEXPLAINED) if step > 0 else np.log(most)
            if starts[step] + found > len(states):
                size = 2 * (starts[step] + found)
                states = np.append(states[: starts[step]], np.empty(size, dtype=np.int32))
                weights = np.append(weights[: starts[step]], np.empty(size))
                back = np.append(back[: starts[step]], np.empty(size, dtype=np.int64))
            end = starts[step]
            for index in range(found):
                state = touched[index]
                if best[state] >= NEGLIGIBLE * most:
                    states[end], weights[end], back[end] = state, best[state] / most, where[state]
                    end += 1
                best[state] = 0.0
            starts[step + 1] = end
        likeliest = highest(weights, starts[last], starts[last + 1])
        for step in range(last, -1, -1):
            path[walk, step] = states[likeliest]
            likeliest = back[likeliest]
    return total


@njit(cache=True)
def _best_moves(
    start: int, end: int, states: Any, weights: Any, action: int, num_actions: int, observation: int, row_start: Any,
    target: Any, chance: Any, shown: Any, seen_chance: Any, seen_start: Any, best: Any, where: Any, touched: Any,
) -> tuple[int, float]:  # fmt: skip
    """Fill in the best way to each state after an action, and where it comes from. Returns how many, and the best."""
    found, most = 0, 0.0
    for index in range(start, end):
        row = states[index] * num_actions + action
        for edge in range(row_start[row], row_start[row + 1]):
            state = target[edge]
            entry = seen_entry(state, observation, shown, seen_start)
            if entry < 0:
                continue
            weight = weights[index] * chance[edge] * seen_chance[entry]
            if best[state] == 0 and weight > 0:
                touched[found] = state
                found += 1
            if weight > best[state]:
                best[state], where[state] = weight, index
            most = max(most, weight)
    return found, most
