"""A hidden Markov model with actions: states, where each action leads from them, and what is seen there.

Everything is sparse. A state has a few targets for each action and shows one or a few observations, and at each step of
a walk only a few states are likely. So a pass over the walks takes time in proportion to their steps, not to the number
of states: `python -m benchmarks map_building` measures it. The loops over steps are compiled (`passes.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cogmap.hmm.passes import Expected, filter_walks, forward_backward
from cogmap.hmm.states import (
    LEAST_COUNT,
    StateCounts,
    offsets,
    taken_for_granted,
)
from cogmap.hmm.steps import Model
from cogmap.hmm.viterbi import viterbi
from cogmap.records import Floats, Walks

_STANDSTILL = 0.1  # nats, over all walks


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a pass over the walks found."""

    counts: StateCounts
    log_likelihood: float  # natural logarithm, of all observations given the actions
    unexplained: int  # steps that no edge explains
    need: Floats  # (E,) nats that the walks lose at least, if an edge is removed and nothing else changes
    path: NDArray[np.int32]  # (B, N) the likeliest state of each step given the whole walk, -1 on padding
    sure: NDArray[np.float32]  # (B, N) its probability


def expect(counts: StateCounts, walks: Walks) -> Expectation:
    """One pass over the walks, forward and backward, under the probabilities of `counts`: their expected counts."""
    counts = _kept(counts)
    edges, shape = len(counts.count), walks.observations.shape
    expected = Expected(
        first=np.zeros(counts.num_states),
        edge_count=np.zeros(edges),
        need=np.zeros(edges),
        seen_count=np.zeros(len(counts.seen)),
        path=np.full(shape, -1, dtype=np.int32),
        sure=np.zeros(shape, dtype=np.float32),
    )
    likelihood, unexplained = forward_backward(
        walks.observations, walks.actions, walks.lengths, _model(counts), expected
    )
    found = replace(counts, first=expected.first, count=expected.edge_count, seen_count=expected.seen_count)
    return Expectation(found, likelihood, unexplained, expected.need, expected.path, expected.sure)


def settle(walks: Walks, counts: StateCounts, rounds: int) -> Iterator[Expectation]:
    """Rounds of expectation-maximisation, as many as are given at the most, until the likelihood stands still."""
    found = expect(counts, walks)
    yield found
    for _ in range(rounds - 1):
        before, found = found.log_likelihood, expect(found.counts, walks)
        yield found
        if found.log_likelihood - before < _STANDSTILL:
            break


def maximise(walks: Walks, counts: StateCounts, rounds: int) -> Expectation:
    """The last of these rounds."""
    *_, found = settle(walks, counts, rounds)
    return found


def predict(counts: StateCounts, walks: Walks) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """The state and the next observation that are likeliest at each step, given the steps before it.

    Returns: the states (B, N), the predicted observations (B, N - 1), -1 where the belief has no edge, and the
        log-likelihood of each observation (B, N - 1).
    """
    state = np.full(walks.observations.shape, -1, dtype=np.int32)
    predicted = np.full(walks.actions.shape, -1, dtype=np.int32)
    log_likelihood = np.zeros(walks.actions.shape)
    results = (state, predicted, log_likelihood)
    filter_walks(walks.observations, walks.actions, walks.lengths, _model(_kept(counts)), *results)
    return results


def likeliest_paths(counts: StateCounts, walks: Walks) -> tuple[NDArray[np.int32], float]:
    """(B, N) the states of each walk's likeliest path (Viterbi), -1 on padding, and the paths' log-likelihood."""
    path = np.full(walks.observations.shape, -1, dtype=np.int32)
    model = _model(_kept(counts))
    return path, viterbi(walks.observations, walks.actions, walks.lengths, model, path)


def _kept(counts: StateCounts) -> StateCounts:
    """The counts that are not negligible. All states stay."""
    edges, sights = counts.count > LEAST_COUNT, counts.seen_count > LEAST_COUNT
    if edges.all() and sights.all():
        return counts
    return replace(
        counts,
        row=counts.row[edges],
        target=counts.target[edges],
        count=counts.count[edges],
        seen_at=counts.seen_at[sights],
        seen=counts.seen[sights],
        seen_count=counts.seen_count[sights],
    )


def _model(counts: StateCounts) -> Model:
    """Counts as probabilities."""
    states, visits, tries = counts.num_states, counts.visits, counts.tries
    by_observation = np.argsort(counts.seen, kind="stable")
    # Every state may be the first of a walk, although those of these walks are likelier.
    first = counts.first + visits / max(visits.sum(), 1)
    return Model(
        first=first / max(first.sum(), 1e-300),
        row_start=offsets(counts.row, len(tries)),
        target=counts.target,
        chance=counts.count / tries[counts.row] * taken_for_granted(counts)[counts.row],
        seen_at=counts.seen_at,
        seen=counts.seen,
        seen_chance=counts.seen_count / visits[counts.seen_at],
        seen_start=offsets(counts.seen_at, states),
        by_observation=by_observation,
        observation_start=offsets(counts.seen[by_observation], counts.num_observations),
        num_actions=counts.num_actions,
    )
