"""Canonical codes: codes whose predicted futures cannot be distinguished are one.

A trained model has several codes for a place, so that each is counted seldom. Its heads know which of them mean the
same: after every sequence of actions they predict the same observations. The distance of two codes is the largest
difference over all tests, not the mean: one rare input that tells two states apart must count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.counts import Counts, Whole, next_codes
from cogmap.records import Floats, PredictedFutures

# The largest total variation between predictions of one future. Below it, different places were merged: heads that
# predict three steps give two states of a broker, four steps from a difference, predictions that differ by 0.03.
SAME_FUTURE = 0.02
# For the paper's builder, which cannot merge duplicates by what follows them: as far as codes may be joined so that
# most places have one. Predictions that are right differ by nearly 1 between places within S steps of a difference.
NEARLY_SAME_FUTURE = 0.7
_MOST_NUMBERS = 1 << 27  # probabilities of deeper futures, half a gigabyte


def canonical_codes(
    futures: PredictedFutures, code: Whole, shows: Whole, visits: Whole, tolerance: float = SAME_FUTURE
) -> Whole:
    """(I,) the canonical code of each code with an observation, numbered from 0.

    Each, the most visited first, joins the nearest canonical code within the tolerance that shows the same observation.
    code: (I,) rows of the futures. shows, visits: (I,) what is seen, and how often.
    """
    order = np.argsort(-visits, kind="stable")
    bound = int(shows.max(initial=-1)) + 1
    nothing = np.zeros((len(futures.probabilities), 0), dtype=np.int32)
    imagined = nothing if futures.imagined is None else futures.imagined
    joined: Whole = _join(order, code, shows, futures.probabilities, imagined, tolerance, bound)
    return joined


@njit(cache=True)
def contradicting(imagined: Any) -> Any:
    """(J, J) rows (J, Q) of what is imagined that differ in a test of which both say something, not -1."""
    apart = np.zeros((len(imagined), len(imagined)), dtype=np.bool_)
    for one in range(len(imagined)):
        for other in range(one):
            apart[one, other] = apart[other, one] = _contradicts(imagined[one], imagined[other])
    return apart


@njit(cache=True)
def _contradicts(one: Any, other: Any) -> bool:
    differs = False
    for test in range(len(one)):
        differs |= one[test] >= 0 and other[test] >= 0 and one[test] != other[test]
    return differs


def deeper_futures(futures: PredictedFutures, counts: Counts) -> PredictedFutures:
    """The same futures, and those one step deeper: an action, then what its next codes predict after S more.

    Heads are least sure of their last step, where the insides of two copies of a patch first differ; codes that follow
    differ earlier. As they are where there would be too many numbers.
    counts: of the moves between the codes.
    """
    codes, _, observations = futures.probabilities.shape
    longest = np.flatnonzero((futures.tests >= 0).sum(axis=1) == futures.tests.shape[1])
    if codes * len(longest) * counts.num_actions * observations > _MOST_NUMBERS:
        return futures
    follow = next_codes(counts)  # (J, A * J)
    last = futures.probabilities[:, longest].reshape(codes, -1)
    parts = [futures.probabilities]
    tests = [np.pad(futures.tests, ((0, 0), (0, 1)), constant_values=-1)]
    for action in range(counts.num_actions):
        after = follow[:, action * codes : (action + 1) * codes] @ last
        parts.append(after.reshape(codes, len(longest), observations).astype(np.float32))
        tests.append(np.pad(futures.tests[longest], ((0, 0), (1, 0)), constant_values=action))
    return PredictedFutures(np.concatenate(tests), np.concatenate(parts, axis=1))


@njit(cache=True)
def _join(
    order: Any, code: Any, shows: Any, futures: Any, imagined: Any, tolerance: float, num_observations: int
) -> Any:
    joined = np.full(len(order), -1, dtype=np.int64)
    leader = np.empty(len(order), dtype=np.int64)
    before = np.full(len(order), -1, dtype=np.int64)  # leaders with one observation form a list
    last = np.full(num_observations, -1, dtype=np.int64)
    found = 0
    for each in order:
        nearest, best, other = tolerance, -1, last[shows[each]]
        while other >= 0:
            apart = _farthest(futures[code[each]], futures[code[leader[other]]], nearest)
            if apart < nearest and not _contradicts(imagined[code[each]], imagined[code[leader[other]]]):
                nearest, best = apart, other
            other = before[other]
        if best < 0:
            best = found
            leader[found] = each
            before[found] = last[shows[each]]
            last[shows[each]] = found
            found += 1
        joined[each] = best
    return joined


@njit(cache=True)
def _farthest(one: Any, other: Any, enough: float) -> float:
    """The largest total variation over all tests; the first that is `enough` ends the search."""
    most = 0.0
    for test in range(len(one)):
        apart = 0.0
        for observation in range(one.shape[1]):
            apart += abs(one[test, observation] - other[test, observation])
        most = max(most, apart / 2)
        if most >= enough:
            break
    return most


def usual_observation(
    seen_code: Whole, seen: Whole, count: Whole | Floats, codes: int
) -> tuple[Whole, Whole]:
    """(J,) the most frequent observation of each code, and its number of steps."""
    usual, visits = np.zeros(codes, dtype=np.int64), np.bincount(seen_code, weights=count, minlength=codes)
    order = np.argsort(count, kind="stable")  # the last write is the most frequent
    usual[seen_code[order]] = seen[order]
    return usual, visits.astype(np.int64)
