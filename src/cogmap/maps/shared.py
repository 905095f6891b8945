"""Canonical codes of steps: a code that several places share is told apart by what led to it.

A model need not give two places codes of their own where little tells them apart: the insides of two copies of a patch
differ by few sequences of actions, and one code for both costs the heads next to nothing. But where an agent came from
says which it is. So steps with one code are sorted by their arrivals, that is, by the code before and the action
between: arrivals after which different things were seen, within as many actions as the heads predict, are of different
places. Codes that mean the same future by those actions stay one, however they were reached: a model that predicts one
step ahead merges what one step does not tell apart, as in the paper.
"""

from __future__ import annotations

from itertools import pairwise
from math import lgamma
from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.records import Booleans, Floats, Walks

ROUNDS = 8  # steps in a row with shared codes that are followed; what led to the first of them tells all
_PRIOR = 0.5  # Jeffreys': of each outcome of a test, before any
_MOST_NUMBERS = 1 << 22  # counts of one code's arrivals; those that were made seldom count as the most usual


def told_apart(labels: Whole, walks: Walks, tests: Whole) -> Whole:
    """(B, N) labels of steps, numbered from 0, where those that several places share are several; -1 on padding.

    labels: (B, N) the canonical code of each step. tests: (T, S) sequences of actions, then -1.
    """
    futures = _Futures(walks, tests)
    found: Whole = labels.astype(np.int64)
    group: Whole = np.zeros(labels.shape, dtype=np.int64)
    asked = np.ones(int(labels.max(initial=-1)) + 1, dtype=np.bool_)
    for _ in range(ROUNDS):
        sorted_anew = _groups(labels, found, group, asked, walks, futures)
        changed = not np.array_equal(sorted_anew, group)
        group = sorted_anew
        found = _numbered(labels, group)
        if not changed:
            break
        # Only what follows a shared code can be told apart better than in the round before.
        shared = np.zeros(len(asked), dtype=np.bool_)
        shared[labels[group > 0]] = True
        asked = shared.copy()
        known = (labels[:, :-1] >= 0) & (labels[:, 1:] >= 0)
        asked[labels[:, 1:][known & shared[labels[:, :-1]]]] = True
    return found


def _groups(
    labels: Whole, found: Whole, group: Whole, asked: Booleans, walks: Walks, futures: _Futures
) -> Whole:
    """(B, N) the group of each step among those with its label; 0 is the most visited one, and that of first steps."""
    there = (labels[:, 1:] >= 0) & (found[:, :-1] >= 0) & asked[labels[:, 1:]]
    walk, step = np.nonzero(there)
    step += 1
    before = found[walk, step - 1] * walks.num_actions + walks.actions[walk, step - 1]
    kinds = int(before.max(initial=0)) + 1
    arrivals, arrival = np.unique(labels[walk, step] * np.int64(kinds) + before, return_inverse=True)
    arrival = arrival.reshape(-1)
    visits = np.bincount(arrival, minlength=len(arrivals))
    enough = float(np.log(max(len(arrivals) * futures.num_tests, 1)))  # by chance one comparison in that many
    of_arrival = np.zeros(len(arrivals), dtype=np.int64)
    order = np.argsort(arrival, kind="stable")
    begins = np.concatenate(([0], np.cumsum(visits)))  # of the steps of each arrival, in that order
    bounds = np.searchsorted(arrivals // kinds, np.arange(len(asked) + 1))  # of the arrivals of each label
    for first, end in pairwise(bounds.tolist()):
        if end - first > 1:
            rows = order[begins[first] : begins[end]]
            counts = futures.counts(walk[rows], step[rows], arrival[rows] - first, visits[first:end])
            of_arrival[first:end] = _sorted(counts, visits[first:end], enough)
    sorted_anew = group.copy()
    sorted_anew[walk, step] = of_arrival[arrival]
    return sorted_anew


def _sorted(counts: Whole, visits: Whole, enough: float) -> Whole:
    """(U,) the group of each arrival, by visits. counts: (U', T, O) of what was seen after the most usual ones."""
    usual = np.argsort(-visits, kind="stable")[: len(counts)]
    joined = np.zeros(len(visits), dtype=np.int64)
    most = int(counts.sum(axis=(0, 2)).max(initial=0))
    logs, totals = _log_gammas(_PRIOR, most), _log_gammas(counts.shape[2] * _PRIOR, most)
    joined[usual] = _join(counts, logs, totals, enough)
    size = np.bincount(joined, weights=visits)
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return rank[joined]


def _log_gammas(prior: float, most: int) -> Floats:
    """(most + 1,) the logarithm of the gamma function at `prior` more than each number of outcomes."""
    return lgamma(prior) + np.concatenate(([0.0], np.cumsum(np.log(np.arange(most) + prior))))


@njit(cache=True)
def _join(counts: Any, logs: Any, totals: Any, enough: float) -> Any:
    """(U,) each arrival joins the group that is the most like it, of those that no test tells from it.

    What a test says is a Bayes factor: how much likelier its outcomes are, in nats, from two places than from one.
    """
    joined = np.empty(len(counts), dtype=np.int64)
    groups, sizes = np.zeros_like(counts), np.zeros(counts.shape[:2], dtype=np.int64)
    found = 0
    for arrival in range(len(counts)):
        made = counts[arrival].sum(axis=1)  # how often each test was
        best, least = found, np.inf
        for group in range(found):
            total, most = 0.0, 0.0
            for test in np.flatnonzero(made * sizes[group]):
                sums = made[test], sizes[group, test]
                evidence = _evidence(counts[arrival, test], groups[group, test], sums, logs, totals)
                total += evidence
                most = max(most, evidence)
                if most > enough:
                    break
            if most <= enough and total < least:
                best, least = group, total
        found = max(found, best + 1)
        groups[best] += counts[arrival]
        sizes[best] += made
        joined[arrival] = best
    return joined


@njit(cache=True)
def _evidence(one: Any, other: Any, sums: Any, logs: Any, totals: Any) -> float:
    """The log Bayes factor of two places against one, by the outcomes (O,) of a test at both, and their two sums."""
    evidence = totals[0] - totals[sums[0]] - totals[sums[1]] + totals[sums[0] + sums[1]]
    for outcome in range(len(one)):
        if one[outcome] > 0 and other[outcome] > 0:  # others say nothing
            evidence += (
                logs[one[outcome]] + logs[other[outcome]] - logs[one[outcome] + other[outcome]] - logs[0]
            )
    return evidence


def _numbered(labels: Whole, group: Whole) -> Whole:
    """(B, N) a number from 0 for each label and group, -1 where there is no label."""
    known = labels >= 0
    _, number = np.unique(
        labels[known].astype(np.int64) * (group.max(initial=0) + 1) + group[known], return_inverse=True
    )
    numbered = np.full(labels.shape, UNKNOWN, dtype=np.int64)
    numbered[known] = number.reshape(-1)
    return numbered


class _Futures:
    """What was seen in the walks after sequences of actions that are tests."""

    def __init__(self, walks: Walks, tests: Whole) -> None:
        self.num_tests = len(tests)
        self._observations = walks.observations
        self._test = _tests_made(walks, tests)  # (S, B, N)

    def counts(self, walk: Whole, step: Whole, row: Whole, visits: Whole) -> Whole:
        """(U', T', O') outcomes of tests after some steps, by the row (n,) of each, the most visited rows first.

        Only tests that were made and outcomes that occur are counted, and as many rows as memory allows.
        """
        made = []
        for ahead, test in enumerate(self._test, 1):
            which = test[walk, step]
            known = np.flatnonzero(which >= 0)
            shown = self._observations[walk[known], step[known] + ahead]
            made.append(np.stack([row[known], which[known], shown]))
        rows, test_made, shown = np.concatenate(made, axis=1)
        test, tests = _counted_from_0(test_made)
        seen, outcomes = _counted_from_0(shown)
        size = tests * outcomes
        usual = np.argsort(-visits, kind="stable")[: max(_MOST_NUMBERS // max(size, 1), 1)]
        place = np.full(len(visits), UNKNOWN)
        place[usual] = np.arange(len(usual))
        key = (place[rows] * tests + test) * outcomes + seen
        counted = np.bincount(key[place[rows] >= 0], minlength=len(usual) * size)
        return counted.reshape(len(usual), tests, outcomes)


def _counted_from_0(values: Whole) -> tuple[Whole, int]:
    """The rank of each value (n,) of at least 0 among those that occur, and how many occur."""
    occurs = np.bincount(values) > 0
    return (np.cumsum(occurs) - 1)[values], int(occurs.sum())


def _tests_made(walks: Walks, tests: Whole) -> Whole:
    """(S, B, N) the test of s + 1 actions that every step begins, -1 where that is none or the walk ends before."""
    length = (tests >= 0).sum(axis=1)
    made: Whole = np.full((tests.shape[1], *walks.observations.shape), UNKNOWN, dtype=np.int32)
    # Of the actions so far, among those of tests.
    number: Whole = np.zeros(walks.observations.shape, dtype=np.int64)
    known: Whole = np.zeros(len(tests), dtype=np.int64)
    for ahead in range(1, tests.shape[1] + 1):
        end = walks.num_steps - ahead
        number = number[:, :end] * walks.num_actions + walks.actions[:, ahead - 1 :]
        longer = length >= ahead
        known = np.where(longer, known * walks.num_actions + tests[:, ahead - 1], UNKNOWN)
        prefixes, place = np.unique(known, return_inverse=True)
        inside = np.searchsorted(prefixes, number).clip(max=len(prefixes) - 1)
        there = (prefixes[inside] == number) & (number >= 0)
        # Numbers stay small however long the tests are: those of the prefixes that tests have.
        number = np.where(there, inside, UNKNOWN)
        known = place.reshape(-1)
        test_of = np.full(len(prefixes), UNKNOWN)
        test_of[known[length == ahead]] = np.flatnonzero(length == ahead)
        ends = walks.step_mask()[:, ahead:]
        made[ahead - 1, :, :end] = np.where(there & ends, test_of[number], UNKNOWN)
    return made
