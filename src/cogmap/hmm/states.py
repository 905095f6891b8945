"""States as counts: where each action led from them, and what was seen there.

Counts have one form: a row for each state and action, entries sorted by row, then by target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cogmap.hmm.counts import Whole, count_sightings, count_transitions
from cogmap.records import Floats, Walks
from cogmap.walks.offered import WRONG, missing_actions

# Expected counts below this are dropped: they are sums of posteriors near zero, not steps of a walk.
LEAST_COUNT = 1e-2


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
        return sums(self.seen_at, self.seen_count, self.num_states)

    @property
    def tries(self) -> Floats:
        """(V * A,) how often each action was taken from each state."""
        return sums(self.row, self.count, self.num_states * self.num_actions)

    def shows(self) -> Whole:
        """(V,) the most frequent observation of each state."""
        best = np.zeros(self.num_states, dtype=np.int32)
        order = np.argsort(self.seen_count, kind="stable")  # the last write is the most frequent
        best[self.seen_at[order]] = self.seen[order]
        return best


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
    key, count = sum_equal(row[kept] * num_states + target[kept], counts.count[kept])
    shown = state[counts.seen_at].astype(np.int64)
    seen_key, seen_count = sum_equal(
        (shown * counts.num_observations + counts.seen)[shown >= 0], counts.seen_count[shown >= 0]
    )
    there = state >= 0
    return StateCounts(
        first=sums(state[there], counts.first[there], num_states),
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
    leaving = sums(source, counts.count, states)
    # Pairs of a state and a target, whatever the action; a state counts as its own target once.
    stays = np.arange(states, dtype=np.int64) * states + np.arange(states)
    pair, often = sum_equal(
        np.concatenate([source * states + counts.target, stays]),
        np.concatenate([counts.count, share * leaving]),
    )
    pair, often = np.repeat(pair, actions), np.repeat(often, actions)
    row = pair // states * actions + np.tile(np.arange(actions), len(pair) // actions)
    added = share * tries[row] * often / np.maximum(leaving[pair // states], 1e-9)
    key, count = sum_equal(
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


def taken_for_granted(counts: StateCounts) -> Floats:
    """(V * A,) how much likelier an action is in each state than everywhere: what cannot be done says where one is."""
    tries = counts.tries.reshape(counts.num_states, counts.num_actions)
    share = tries.sum(axis=0) / max(tries.sum(), 1e-9)
    never = never_taken(counts)
    possible = np.where(never, 0.0, share).sum(axis=1, keepdims=True)
    return np.where(never, WRONG, 1 / np.maximum(possible, 1e-9)).ravel()


def sums(of: Whole, values: Floats, rows: int) -> Floats:
    """(rows,) the sum of the values of each row."""
    return np.bincount(of, weights=values, minlength=rows).astype(np.float64)


def offsets(ordered: Whole, rows: int) -> NDArray[np.int64]:
    """(rows + 1,) where each row's entries begin."""
    offsets = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(ordered, minlength=rows), out=offsets[1:])
    return offsets


def sum_equal(key: NDArray[np.int64], count: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Distinct keys in rising order, and the sum of the counts of each."""
    distinct, which = np.unique(key, return_inverse=True)
    return distinct, sums(which, count, len(distinct))
