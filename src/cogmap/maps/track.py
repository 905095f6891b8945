"""Which node each step of a walk was at: its own code has one vote, the steps around it have the others.

A code that is wrong now and then contradicts the steps before it, which the map carries forward to where the
agent must be, and those after it, which do not follow from where the code says it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cogmap.maps.evidence import UNKNOWN
from cogmap.records import Integers

_REACH = 3  # steps before and after that vote

Votes = NDArray[np.int8]  # (B, N)


def track(label: Integers, actions: Integers, next_node: Integers) -> Integers:
    """The node of each step (B, N), UNKNOWN where there is none; `label` (B, N) is what the codes alone say.

    A step's candidates are its label and what the labels before it lead to. The one with the most votes
    wins, if the steps before and the steps after, where they say anything, do not all speak against it.
    """
    ahead = _with_unknown(next_node)
    opinions = [label]  # what the step itself and those one, two and three before it say
    for _ in range(_REACH):
        opinions.append(_carry_forward(opinions[-1], actions, ahead))
    node = np.full(label.shape, UNKNOWN, dtype=np.int32)
    most = np.zeros(label.shape, dtype=np.int8)
    for candidate in opinions:
        before, against_before = _votes_before(candidate, opinions[1:])
        after, against_after = _votes_after(candidate, label, actions, ahead)
        votes = before + after + (candidate == label)
        votes[(candidate == UNKNOWN) | ((before == 0) & against_before) | ((after == 0) & against_after)] = 0
        better = votes > most
        node[better], most[better] = candidate[better], votes[better]
    return node


def _votes_before(candidate: Integers, opinions: list[Integers]) -> tuple[Votes, NDArray[np.bool_]]:
    """How many of the steps before lead to the candidate, and whether any leads elsewhere."""
    votes = np.zeros(candidate.shape, dtype=np.int8)
    against = np.zeros(candidate.shape, dtype=bool)
    for opinion in opinions:
        agrees = opinion == candidate
        votes += agrees
        against |= ~agrees & (opinion >= 0)
    return votes, against


def _votes_after(
    candidate: Integers, label: Integers, actions: Integers, ahead: Integers
) -> tuple[Votes, NDArray[np.bool_]]:
    """How many of the steps after are where the candidate leads, and whether any is elsewhere."""
    votes = np.zeros(candidate.shape, dtype=np.int8)
    against = np.zeros(candidate.shape, dtype=bool)
    carried = candidate
    for later in range(1, min(_REACH, label.shape[1] - 1) + 1):
        steps = label.shape[1] - later
        carried = ahead[carried[:, :steps], actions[:, later - 1 :]]
        known = (carried >= 0) & (label[:, later:] >= 0)
        agrees = known & (carried == label[:, later:])
        votes[:, :steps] += agrees
        against[:, :steps] |= known & ~agrees
    return votes, against


def _carry_forward(opinion: Integers, actions: Integers, ahead: Integers) -> Integers:
    """What is said of each step, if what is said of the step before it holds."""
    carried = np.full(opinion.shape, UNKNOWN, dtype=np.int32)
    carried[:, 1:] = ahead[opinion[:, :-1], actions]
    return carried


def _with_unknown(next_node: Integers) -> Integers:
    """(V + 1, A): one more row, which index -1 finds, that leads from nowhere to nowhere."""
    unknown = np.full((1, next_node.shape[1]), UNKNOWN, dtype=np.int32)
    return np.concatenate((next_node.astype(np.int32), unknown))
