"""Compiled passes over walks under a hidden Markov model: forward and backward, filter, likeliest path.

At each step only the likely states are kept, one after the other in two flat arrays; `starts[n]` is where those of step
n begin. As matrix products with every state at every step these loops took hundreds of times as long.
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
            found = _move(
                states[span], weights[span], done[step - 1], num_actions, row_start, target, chance, belief, touched
            )  # fmt: skip
            likelihood = _see(seen[step], found, shown, seen_chance, seen_start, belief, touched)
        anew[step] = step > 0 and likelihood < UNEXPLAINED
        if step == 0 or anew[step]:
            for index in range(found):
                belief[touched[index]] = 0.0
            found, likelihood = _anywhere(
                seen[step], first, seen_at, seen_chance, by, seen_from, belief, touched
            )
        total += np.log(UNEXPLAINED if anew[step] else max(likelihood, 1e-300))
        if starts[step] + found > len(states):
            size = 2 * (starts[step] + found)
            states = np.append(states[: starts[step]], np.empty(size, dtype=np.int32))
            weights = np.append(weights[: starts[step]], np.empty(size))
        starts[step + 1] = _keep(found, belief, touched, states, weights, starts[step])
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
                _count_edges(
                    states[now], weights[now], done[step], num_actions, seen[step + 1], row_start, target, chance,
                    shown, seen_chance, seen_start, later, earlier, edge_count, need,
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
def _count_edges(
    states: Any, weights: Any, action: int, num_actions: int, observation: int, row_start: Any, target: Any,
    chance: Any, shown: Any, seen_chance: Any, seen_start: Any, later: Any, earlier: Any, edge_count: Any, need: Any,
) -> None:  # fmt: skip
    """Count the edges of a step, and fill in how likely what comes later is from each of its states."""
    norm = 0.0
    for index in range(len(states)):
        row, likelihood = states[index] * num_actions + action, 0.0
        for edge in range(row_start[row], row_start[row + 1]):
            if later[target[edge]] > 0:
                entry = _seen_entry(target[edge], observation, shown, seen_start)
                likelihood += chance[edge] * seen_chance[entry] * later[target[edge]]
        earlier[states[index]] = likelihood
        norm += weights[index] * likelihood
    if norm <= 0:
        earlier[states] = 1.0
        return
    for index in range(len(states)):
        row = states[index] * num_actions + action
        for edge in range(row_start[row], row_start[row + 1]):
            if later[target[edge]] > 0:
                entry = _seen_entry(target[edge], observation, shown, seen_start)
                share = weights[index] * chance[edge] * seen_chance[entry] * later[target[edge]] / norm
                edge_count[edge] += share
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
        entry = _seen_entry(state, observation, shown, seen_start)
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
                found, _ = _anywhere(observation, first, seen_at, seen_chance, by, seen_from, belief, touched)
            else:
                found = _move(
                    states[:end], weights[:end], actions[walk, step - 1], num_actions, row_start, target, chance,
                    belief, touched,
                )  # fmt: skip
                predicted[walk, step - 1] = _likeliest_sight(
                    found, shown, seen_chance, seen_start, belief, touched, ahead
                )
                likelihood = _see(observation, found, shown, seen_chance, seen_start, belief, touched)
                if likelihood < UNEXPLAINED:
                    for index in range(found):
                        belief[touched[index]] = 0.0
                    found, _ = _anywhere(
                        observation, first, seen_at, seen_chance, by, seen_from, belief, touched
                    )
                    likelihood = UNEXPLAINED
                log_likelihood[walk, step - 1] = np.log(likelihood)
            end = _keep(found, belief, touched, states, weights, 0)
            state_of[walk, step] = states[_highest(weights, 0, end)]


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
                found, _ = _anywhere(observation, first, seen_at, seen_chance, by, seen_from, best, touched)
                most, likeliest = 0.0, _highest(weights, before, starts[step])
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
        likeliest = _highest(weights, starts[last], starts[last + 1])
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
            entry = _seen_entry(state, observation, shown, seen_start)
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


@njit(cache=True)
def _highest(weights: Any, start: int, end: int) -> int:
    """The first index of the highest weight."""
    best = start
    for index in range(start, end):
        if weights[index] > weights[best]:
            best = index
    return best


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


@njit(cache=True, inline="always")
def _seen_entry(state: int, observation: int, shown: Any, seen_start: Any) -> int:
    """The entry of an observation at a state, -1 if it is never seen there."""
    for entry in range(seen_start[state], seen_start[state + 1]):
        if shown[entry] == observation:
            return entry
    return -1


@njit(cache=True)
def _anywhere(
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
def _move(
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
def _see(
    observation: int, found: int, shown: Any, seen_chance: Any, seen_start: Any, belief: Any, touched: Any
) -> float:
    """Weigh the belief by the observation. Returns its likelihood."""
    total = 0.0
    for index in range(found):
        state = touched[index]
        entry = _seen_entry(state, observation, shown, seen_start)
        belief[state] = belief[state] * seen_chance[entry] if entry >= 0 else 0.0
        total += belief[state]
    return total


@njit(cache=True, inline="always")
def _keep(found: int, belief: Any, touched: Any, states: Any, weights: Any, start: int) -> int:
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
