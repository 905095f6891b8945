"""A hidden Markov model with actions: states, where each action leads from them, and what is seen there.

Everything is sparse. A state has a few targets for each action and shows one or a few observations, and at each step of
a walk only a few states are likely. So a pass over the walks takes time in proportion to their steps, not to the number
of states: `python -m benchmarks map_building` measures it. The loops over steps are compiled by numba; as matrix
products with every state at every step they took hundreds of times as long.

Counts and probabilities have one form: a row for each state and action, entries sorted by row, then by target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cogmap.maps.counts import Whole, count_sightings, count_transitions
from cogmap.records import Floats, Walks

# A state this much less likely than the likeliest is dropped from the belief; a smaller share changes no map, and costs
# time in proportion to the states kept.
NEGLIGIBLE = 1e-5
# The likelihood of a step that no edge explains: the belief begins anew at every state that shows the observation. It
# is below any chance that one log can show, so that an edge is worth its description as soon as two steps need it.
UNEXPLAINED = 1e-6
# Expected counts below this are dropped: they are sums of posteriors near zero, not steps of a walk.
LEAST_COUNT = 1e-2
_STANDSTILL = 0.1  # nats, over all walks
_WRONG = 0.02  # of the expected tries of an action: fewer are steps at wrong states


@dataclass(frozen=True, eq=False)
class StateCounts:
    """How often each state was first, was left by an action to another state, and showed an observation."""

    first: Floats  # (V,) walks that start there
    row: NDArray[np.int64]  # (E,) source * A + action, in rising order
    target: NDArray[np.int32]  # (E,)
    count: Floats  # (E,)
    seen_at: NDArray[np.int32]  # (I,) the state, in rising order
    seen: NDArray[np.int32]  # (I,) the observation
    seen_count: Floats  # (I,)
    num_actions: int
    num_observations: int

    @property
    def num_states(self) -> int:
        return len(self.first)

    @property
    def visits(self) -> Floats:
        """(V,) steps at each state."""
        return _sums(self.seen_at, self.seen_count, self.num_states)

    @property
    def tries(self) -> Floats:
        """(V * A,) how often each action was taken from each state."""
        return _sums(self.row, self.count, self.num_states * self.num_actions)

    def shows(self) -> Whole:
        """(V,) the most frequent observation of each state."""
        best = np.zeros(self.num_states, dtype=np.int32)
        order = np.argsort(self.seen_count, kind="stable")  # the last write is the most frequent
        best[self.seen_at[order]] = self.seen[order]
        return best


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a pass over the walks found."""

    counts: StateCounts
    log_likelihood: float  # natural logarithm, of all observations given the actions
    unexplained: int  # steps that no edge explains
    need: Floats  # (E,) nats that the walks lose at least, if an edge is removed and nothing else changes
    path: NDArray[np.int32]  # (B, N) the likeliest state of each step given the whole walk, -1 on padding
    sure: NDArray[np.float32]  # (B, N) its probability


def count_states(steps: Whole, walks: Walks, num_states: int) -> StateCounts:
    """The counts of walks whose states (B, N) are given; -1 is none."""
    flows = count_transitions(steps, walks.actions, num_states, walks.num_actions)
    seen = count_sightings(steps, walks.observations, num_states, walks.num_observations)
    starts = steps[:, 0]
    return StateCounts(
        first=np.bincount(starts[starts >= 0], minlength=num_states).astype(float),
        row=flows.source.astype(np.int64) * walks.num_actions + flows.action,
        target=flows.target.astype(np.int32),
        count=flows.count.astype(float),
        seen_at=seen.code.astype(np.int32),
        seen=seen.observation.astype(np.int32),
        seen_count=seen.count.astype(float),
        num_actions=walks.num_actions,
        num_observations=walks.num_observations,
    )


def join_states(counts: StateCounts, state: Whole, num_states: int) -> StateCounts:
    """The counts with every state i replaced by `state[i]`; -1 removes a state with all that it counted."""
    source, action = np.divmod(counts.row, counts.num_actions)
    row = state[source].astype(np.int64) * counts.num_actions + action
    target = state[counts.target]
    kept = (state[source] >= 0) & (target >= 0)
    key, count = _sum_equal(row[kept] * num_states + target[kept], counts.count[kept])
    shown = state[counts.seen_at].astype(np.int64)
    seen_key, seen_count = _sum_equal(
        (shown * counts.num_observations + counts.seen)[shown >= 0], counts.seen_count[shown >= 0]
    )
    there = state >= 0
    return StateCounts(
        first=_sums(state[there], counts.first[there], num_states),
        row=key // num_states,
        target=(key % num_states).astype(np.int32),
        count=count,
        seen_at=(seen_key // counts.num_observations).astype(np.int32),
        seen=(seen_key % counts.num_observations).astype(np.int32),
        seen_count=seen_count,
        num_actions=counts.num_actions,
        num_observations=counts.num_observations,
    )


def without_edges(counts: StateCounts, removed: NDArray[np.bool_]) -> StateCounts:
    """The counts without some of their entries (E,)."""
    kept = ~removed
    return replace(counts, row=counts.row[kept], target=counts.target[kept], count=counts.count[kept])


def with_slips(counts: StateCounts, share: float) -> StateCounts:
    """The counts with edges from each state by every action that was tried there to itself and to all its targets.

    share: of each row's counts, that are added on these edges, as often as they are taken by all actions together.
    """
    states, actions = counts.num_states, counts.num_actions
    source, tries = counts.row // actions, counts.tries
    leaving = _sums(source, counts.count, states)
    # Pairs of a state and a target, whatever the action; a state counts as its own target once.
    stays = np.arange(states, dtype=np.int64) * states + np.arange(states)
    pair, often = _sum_equal(
        np.concatenate([source * states + counts.target, stays]),
        np.concatenate([counts.count, share * leaving]),
    )
    pair, often = np.repeat(pair, actions), np.repeat(often, actions)
    row = pair // states * actions + np.tile(np.arange(actions), len(pair) // actions)
    added = share * tries[row] * often / np.maximum(leaving[pair // states], 1e-9)
    key, count = _sum_equal(
        np.concatenate([counts.row * states + counts.target, row * states + pair % states]),
        np.concatenate([counts.count, added]),
    )
    kept = count > LEAST_COUNT
    target = (key % states).astype(np.int32)
    return replace(counts, row=(key // states)[kept], target=target[kept], count=count[kept])


def without_unused(counts: StateCounts) -> StateCounts:
    """The counts without states that less than one step visits."""
    used = counts.visits >= 0.5
    if used.all():
        return counts
    return join_states(counts, np.where(used, np.cumsum(used) - 1, -1), int(used.sum()))


def expect(counts: StateCounts, walks: Walks) -> Expectation:
    """One pass over the walks, forward and backward, under the probabilities of `counts`: their expected counts."""
    model = _Model(counts)
    edges, entries = len(model.target), len(model.seen)
    first = np.zeros(counts.num_states)
    count, need, seen_count = np.zeros(edges), np.zeros(edges), np.zeros(entries)
    path = np.full(walks.observations.shape, -1, dtype=np.int32)
    sure = np.zeros(walks.observations.shape, dtype=np.float32)
    likelihood, unexplained = _forward_backward(
        walks.observations,
        walks.actions,
        walks.lengths,
        model.arrays(),
        counts.num_actions,
        (first, count, need, seen_count, path, sure),
    )
    found = StateCounts(
        first,
        model.row,
        model.target,
        count,
        model.seen_at,
        model.seen,
        seen_count,
        counts.num_actions,
        counts.num_observations,
    )
    return Expectation(found, likelihood, unexplained, need, path, sure)


def maximise(walks: Walks, counts: StateCounts, rounds: int) -> Expectation:
    """Rounds of expectation-maximisation, as many as are given at the most, until the likelihood stands still."""
    found = expect(counts, walks)
    for _ in range(rounds - 1):
        after = expect(found.counts, walks)
        settled = after.log_likelihood - found.log_likelihood < _STANDSTILL
        found = after
        if settled:
            break
    return found


def predict(counts: StateCounts, walks: Walks) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """The state and the next observation that are likeliest at each step, given the steps before it.

    Returns: the states (B, N), the predicted observations (B, N - 1), -1 where the belief has no edge, and the
        log-likelihood of each observation (B, N - 1).
    """
    model = _Model(counts)
    state = np.full(walks.observations.shape, -1, dtype=np.int32)
    predicted = np.full(walks.actions.shape, -1, dtype=np.int32)
    log_likelihood = np.zeros(walks.actions.shape)
    _filter(
        walks.observations,
        walks.actions,
        walks.lengths,
        model.arrays(),
        counts.num_actions,
        (state, predicted, log_likelihood),
        counts.num_observations,
    )
    return state, predicted, log_likelihood


def likeliest_paths(counts: StateCounts, walks: Walks) -> tuple[NDArray[np.int32], float]:
    """(B, N) the states of each walk's likeliest path (Viterbi), -1 on padding, and the paths' log-likelihood."""
    path = np.full(walks.observations.shape, -1, dtype=np.int32)
    model = _Model(counts)
    likelihood = _viterbi(
        walks.observations, walks.actions, walks.lengths, model.arrays(), counts.num_actions, path
    )
    return path, likelihood


def never_taken(counts: StateCounts) -> NDArray[np.bool_]:
    """(V, A) actions that are not to be had in a state: at least ten times were expected, less than half a one counted.

    The expectation is that actions are taken everywhere in the same shares. What is never taken at an observation is
    not to be had in any state that shows it, however seldom that state is visited.
    """
    tries = counts.tries.reshape(counts.num_states, counts.num_actions)
    return missing_actions(tries) | never_taken_at_sight(counts)[counts.shows()]


def never_taken_at_sight(counts: StateCounts) -> NDArray[np.bool_]:
    """(O, A) the same for all states together that show an observation."""
    tries = counts.tries.reshape(counts.num_states, counts.num_actions)
    at_sight = np.zeros((counts.num_observations, counts.num_actions))
    np.add.at(at_sight, counts.shows(), tries)
    return missing_actions(at_sight)


def missing_actions(tries: Floats) -> NDArray[np.bool_]:
    """Where an action was expected at least ten times in a row (n, A) of tries, and less than half a one counted."""
    share = tries.sum(axis=0) / max(tries.sum(), 1e-9)
    expected = tries.sum(axis=1, keepdims=True) * share
    return np.asarray((expected >= 10) & (tries < np.maximum(0.5, _WRONG * expected)))


def taken_for_granted(counts: StateCounts) -> Floats:
    """(V * A,) how much likelier an action is in each state than everywhere: what cannot be done says where one is."""
    tries = counts.tries.reshape(counts.num_states, counts.num_actions)
    share = tries.sum(axis=0) / max(tries.sum(), 1e-9)
    never = never_taken(counts)
    possible = np.where(never, 0.0, share).sum(axis=1, keepdims=True)
    return np.where(never, _WRONG, 1 / np.maximum(possible, 1e-9)).ravel()


class _Model:
    """Counts as probabilities, with the offsets of their rows."""

    def __init__(self, counts: StateCounts) -> None:
        states, rows = counts.num_states, counts.num_states * counts.num_actions
        kept = counts.count > LEAST_COUNT
        self.row, self.target = counts.row[kept], counts.target[kept]
        total = np.bincount(self.row, weights=counts.count[kept], minlength=rows)
        self.chance = counts.count[kept] / total[self.row] * taken_for_granted(counts)[self.row]
        self.row_start = offsets(self.row, rows)
        shown = counts.seen_count > LEAST_COUNT
        self.seen_at, self.seen = counts.seen_at[shown], counts.seen[shown]
        seen_total = np.bincount(self.seen_at, weights=counts.seen_count[shown], minlength=states)
        self.seen_chance = counts.seen_count[shown] / seen_total[self.seen_at]
        self.seen_start = offsets(self.seen_at, states)
        # The same entries by observation: the states at which a walk may begin.
        self.by_observation = np.argsort(self.seen, kind="stable")
        self.observation_start = offsets(self.seen[self.by_observation], counts.num_observations)
        # Every state may be the first of a walk, although those of these walks are likelier.
        first = counts.first + counts.visits / max(counts.visits.sum(), 1)
        self.first = first / max(first.sum(), 1e-300)

    def arrays(self) -> tuple[Any, ...]:
        """As the compiled loops take them."""
        return (
            self.first,
            self.row_start,
            self.target,
            self.chance,
            self.seen_at,
            self.seen,
            self.seen_chance,
            self.seen_start,
            self.by_observation,
            self.observation_start,
        )


def _sums(of: Whole, values: Floats, rows: int) -> Floats:
    """(rows,) the sum of the values of each row."""
    return np.bincount(of, weights=values, minlength=rows).astype(np.float64)


def offsets(ordered: Whole, rows: int) -> NDArray[np.int64]:
    """(rows + 1,) where each row's entries begin."""
    offsets = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(ordered, minlength=rows), out=offsets[1:])
    return offsets


def _sum_equal(key: NDArray[np.int64], count: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Distinct keys in rising order, and the sum of the counts of each."""
    distinct, which = np.unique(key, return_inverse=True)
    return distinct, _sums(which, count, len(distinct))


@njit(cache=True)
def _seen_entry(state: int, observation: int, seen: Any, seen_start: Any) -> int:
    """The entry of an observation at a state, -1 if it is never seen there."""
    for entry in range(seen_start[state], seen_start[state + 1]):
        if seen[entry] == observation:
            return entry
    return -1


@njit(cache=True)
def _anywhere(
    observation: int,
    weight: Any,
    seen_at: Any,
    seen_chance: Any,
    by: Any,
    start: Any,
    belief: Any,
    touched: Any,
) -> int:
    """Fill the belief with every state that shows the observation; every state if none does. Returns how many."""
    found = 0
    for place in range(start[observation], start[observation + 1]):
        entry = by[place]
        likelihood = weight[seen_at[entry]] * seen_chance[entry]
        if likelihood > 0:
            belief[seen_at[entry]] = likelihood
            touched[found] = seen_at[entry]
            found += 1
    if found == 0:
        for state in range(len(weight)):
            belief[state] = UNEXPLAINED / len(weight)
            touched[state] = state
        found = len(weight)
    return found


@njit(cache=True)
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


@njit(cache=True)
def _see(
    observation: int, found: int, seen: Any, seen_chance: Any, seen_start: Any, belief: Any, touched: Any
) -> float:
    """Weigh the belief by the observation. Returns its likelihood."""
    total = 0.0
    for index in range(found):
        state = touched[index]
        entry = _seen_entry(state, observation, seen, seen_start)
        belief[state] = belief[state] * seen_chance[entry] if entry >= 0 else 0.0
        total += belief[state]
    return total


@njit(cache=True)
def _keep(found: int, belief: Any, touched: Any, least: float, states: Any, weights: Any, start: int) -> int:
    """Store the likely states of the belief from `start` on, normalised, and clear it. Returns where they end."""
    most = 0.0
    for index in range(found):
        most = max(most, belief[touched[index]])
    end, total = start, 0.0
    for index in range(found):
        state = touched[index]
        if belief[state] > 0 and belief[state] >= least * most:
            states[end], weights[end] = state, belief[state]
            total += belief[state]
            end += 1
        belief[state] = 0.0
    for index in range(start, end):
        weights[index] /= total
    return end


@njit(cache=True)
def _forward_backward(
    observations: Any, actions: Any, lengths: Any, model: Any, num_actions: int, results: Any
) -> tuple[float, int]:
    first, row_start, target, chance, seen_at, seen, seen_chance, seen_start, by, observation_start = model
    least, unexplained_likelihood = NEGLIGIBLE, UNEXPLAINED
    first_count, count, need, seen_count, path, sure = results
    num_states, num_steps = len(first), observations.shape[1]
    belief, later, earlier = np.zeros(num_states), np.zeros(num_states), np.zeros(num_states)
    touched = np.empty(num_states, dtype=np.int32)
    starts = np.zeros(num_steps + 1, dtype=np.int64)
    anew = np.zeros(num_steps, dtype=np.bool_)
    states, weights = np.empty(4096, dtype=np.int32), np.empty(4096)
    total, unexplained = 0.0, 0
    for walk in range(len(lengths)):
        last = lengths[walk] - 1
        for step in range(last + 1):
            observation = observations[walk, step]
            if step == 0:
                found = _anywhere(
                    observation, first, seen_at, seen_chance, by, observation_start, belief, touched
                )
                likelihood = 0.0
                for index in range(found):
                    likelihood += belief[touched[index]]
                anew[0] = False
            else:
                span = slice(starts[step - 1], starts[step])
                action = actions[walk, step - 1]
                found = _move(
                    states[span],
                    weights[span],
                    action,
                    num_actions,
                    row_start,
                    target,
                    chance,
                    belief,
                    touched,
                )
                likelihood = _see(observation, found, seen, seen_chance, seen_start, belief, touched)
                anew[step] = likelihood < unexplained_likelihood
                if anew[step]:
                    for index in range(found):
                        belief[touched[index]] = 0.0
                    found = _anywhere(
                        observation, first, seen_at, seen_chance, by, observation_start, belief, touched
                    )
                    likelihood = unexplained_likelihood
                    unexplained += 1
            total += np.log(max(likelihood, 1e-300))
            if starts[step] + found > len(states):
                size = 2 * (starts[step] + found)
                states = np.append(states[: starts[step]], np.empty(size, dtype=np.int32))
                weights = np.append(weights[: starts[step]], np.empty(size))
            starts[step + 1] = _keep(found, belief, touched, least, states, weights, starts[step])
        for index in range(starts[last], starts[last + 1]):
            later[states[index]] = 1.0
        for step in range(last, -1, -1):
            if step < last:
                action, ahead = actions[walk, step], observations[walk, step + 1]
                norm = 0.0
                for index in range(starts[step], starts[step + 1]):
                    if anew[step + 1]:
                        break
                    row, likelihood = states[index] * num_actions + action, 0.0
                    for edge in range(row_start[row], row_start[row + 1]):
                        if later[target[edge]] > 0:
                            entry = _seen_entry(target[edge], ahead, seen, seen_start)
                            likelihood += chance[edge] * seen_chance[entry] * later[target[edge]]
                    earlier[states[index]] = likelihood
                    norm += weights[index] * likelihood
                if norm > 0:
                    for index in range(starts[step], starts[step + 1]):
                        row = states[index] * num_actions + action
                        for edge in range(row_start[row], row_start[row + 1]):
                            if later[target[edge]] > 0:
                                entry = _seen_entry(target[edge], ahead, seen, seen_start)
                                share = (
                                    weights[index]
                                    * chance[edge]
                                    * seen_chance[entry]
                                    * later[target[edge]]
                                    / norm
                                )
                                count[edge] += share
                                need[edge] -= np.log(max(1 - share, unexplained_likelihood))
                        earlier[states[index]] /= norm
                else:  # the step after begins anew
                    for index in range(starts[step], starts[step + 1]):
                        earlier[states[index]] = 1.0
                for index in range(starts[step + 1], starts[step + 2]):
                    later[states[index]] = 0.0
                for index in range(starts[step], starts[step + 1]):
                    later[states[index]] = earlier[states[index]]
            norm, most = 0.0, -1.0
            for index in range(starts[step], starts[step + 1]):
                norm += weights[index] * later[states[index]]
            for index in range(starts[step], starts[step + 1]):
                state = states[index]
                share = weights[index] * later[state] / norm if norm > 0 else 0.0
                entry = _seen_entry(state, observations[walk, step], seen, seen_start)
                if entry >= 0:
                    seen_count[entry] += share
                if step == 0:
                    first_count[state] += share
                if share > most:
                    most = share
                    path[walk, step], sure[walk, step] = state, share
        for index in range(starts[0], starts[1]):
            later[states[index]] = 0.0
    return total, unexplained


@njit(cache=True)
def _filter(
    observations: Any,
    actions: Any,
    lengths: Any,
    model: Any,
    num_actions: int,
    results: Any,
    num_observations: int,
) -> None:
    first, row_start, target, chance, seen_at, seen, seen_chance, seen_start, by, observation_start = model
    least, unexplained_likelihood = NEGLIGIBLE, UNEXPLAINED
    state_of, predicted, log_likelihood = results
    num_states = len(first)
    belief, touched = np.zeros(num_states), np.empty(num_states, dtype=np.int32)
    states, weights = np.empty(num_states, dtype=np.int32), np.empty(num_states)
    ahead = np.zeros(num_observations)
    for walk in range(len(lengths)):
        end = 0
        for step in range(lengths[walk]):
            observation = observations[walk, step]
            if step == 0:
                found = _anywhere(
                    observation, first, seen_at, seen_chance, by, observation_start, belief, touched
                )
            else:
                action = actions[walk, step - 1]
                found = _move(
                    states[:end],
                    weights[:end],
                    action,
                    num_actions,
                    row_start,
                    target,
                    chance,
                    belief,
                    touched,
                )
                most = 0.0
                for index in range(found):
                    state = touched[index]
                    for entry in range(seen_start[state], seen_start[state + 1]):
                        ahead[seen[entry]] += belief[state] * seen_chance[entry]
                        if ahead[seen[entry]] > most:
                            most = ahead[seen[entry]]
                            predicted[walk, step - 1] = seen[entry]
                for index in range(found):
                    for entry in range(seen_start[touched[index]], seen_start[touched[index] + 1]):
                        ahead[seen[entry]] = 0.0
                likelihood = _see(observation, found, seen, seen_chance, seen_start, belief, touched)
                if likelihood < unexplained_likelihood:
                    for index in range(found):
                        belief[touched[index]] = 0.0
                    found = _anywhere(
                        observation, first, seen_at, seen_chance, by, observation_start, belief, touched
                    )
                    likelihood = unexplained_likelihood
                log_likelihood[walk, step - 1] = np.log(likelihood)
            end = _keep(found, belief, touched, least, states, weights, 0)
            best = 0
            for index in range(end):
                if weights[index] > weights[best]:
                    best = index
            state_of[walk, step] = states[best]


@njit(cache=True)
def _viterbi(observations: Any, actions: Any, lengths: Any, model: Any, num_actions: int, path: Any) -> float:
    first, row_start, target, chance, seen_at, seen, seen_chance, seen_start, by, observation_start = model
    num_states, total = len(first), 0.0
    best, where = np.zeros(num_states), np.zeros(num_states, dtype=np.int64)  # of the states of one step
    touched = np.empty(num_states, dtype=np.int32)
    starts = np.zeros(observations.shape[1] + 1, dtype=np.int64)
    states, weights, back = np.empty(4096, dtype=np.int32), np.empty(4096), np.empty(4096, dtype=np.int64)
    for walk in range(len(lengths)):
        last = lengths[walk] - 1
        for step in range(last + 1):
            observation, found, most = observations[walk, step], 0, 0.0
            if step > 0:
                for index in range(starts[step - 1], starts[step]):
                    row = states[index] * num_actions + actions[walk, step - 1]
                    for edge in range(row_start[row], row_start[row + 1]):
                        entry = _seen_entry(target[edge], observation, seen, seen_start)
                        if entry < 0:
                            continue
                        weight = weights[index] * chance[edge] * seen_chance[entry]
                        if best[target[edge]] == 0 and weight > 0:
                            touched[found] = target[edge]
                            found += 1
                        if weight > best[target[edge]]:
                            best[target[edge]], where[target[edge]] = weight, index
                        most = max(most, weight)
            if most < UNEXPLAINED:  # the path begins anew, after the likeliest one so far
                for index in range(found):
                    best[touched[index]] = 0.0
                likeliest = starts[max(step - 1, 0)]
                for index in range(starts[max(step - 1, 0)], starts[step]):
                    if weights[index] > weights[likeliest]:
                        likeliest = index
                found = _anywhere(
                    observation, first, seen_at, seen_chance, by, observation_start, best, touched
                )
                most = 0.0
                for index in range(found):
                    where[touched[index]] = likeliest
                    most = max(most, best[touched[index]])
                total += np.log(UNEXPLAINED) if step > 0 else np.log(most)
            else:
                total += np.log(most)
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
        likeliest = starts[last]
        for index in range(starts[last], starts[last + 1]):
            if weights[index] > weights[likeliest]:
                likeliest = index
        for step in range(last, -1, -1):
            path[walk, step] = states[likeliest]
            likeliest = back[likeliest]
    return total
