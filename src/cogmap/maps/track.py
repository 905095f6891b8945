"""The node of each step of a walk by a vote: its own code has one vote, the steps around it have the others.

A wrong code contradicts the steps before it, whose edges lead to another node, and the steps after it, which do not
follow from its node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cogmap.maps.counts import Whole
from cogmap.maps.evidence import UNKNOWN

_REACH = 3  # steps before and after that vote

Votes = NDArray[np.int8]  # (B, N)


def track(label: Whole, actions: Whole, next_node: Whole) -> Whole:
    """The node of each step (B, N), UNKNOWN where there is none; `label` (B, N) is the node by the codes alone.

    A step's candidates are its label and the nodes to which the labels before it lead. The candidate with the most
    votes wins, unless all known steps before it, or all known steps after it, vote against it.
    """
    ahead = _with_unknown(next_node)
    opinions = [label]  # the node by the step itself, and by the steps one, two and three before it
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


def _votes_before(candidate: Whole, opinions: list[Whole]) -> tuple[Votes, NDArray[np.bool_]]:
    """The number of steps before that lead to the candidate, and whether any leads elsewhere."""
    votes = np.zeros(candidate.shape, dtype=np.int8)
    against = np.zeros(candidate.shape, dtype=bool)
    for opinion in opinions:
        agrees = opinion == candidate
        votes += agrees
        against |= ~agrees & (opinion >= 0)
    return votes, against


def _votes_after(
    candidate: Whole, label: Whole, actions: Whole, ahead: Whole
) -> tuple[Votes, NDArray[np.bool_]]:
    """The number of steps after that are where the candidate leads, and whether any is elsewhere."""
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


def _carry_forward(opinion: Whole, actions: Whole, ahead: Whole) -> Whole:
    """The node of each step that follows from the node of the step before it."""
    carried = np.full(opinion.shape, UNKNOWN, dtype=np.int32)
    carried[:, 1:] = ahead[opinion[:, :-1], actions]
    return carried


def _with_unknown(next_node: Whole) -> Whole:
    """(V + 1, A) the table with one more row of UNKNOWN, for index -1."""
    unknown = np.full((1, next_node.shape[1]), UNKNOWN, dtype=np.int32)
    return np.concatenate((next_node.astype(np.int32), unknown))


def retrace(steps: Whole, actions: Whole, observations: Whole, next_node: Whole, sees: Whole) -> Whole:
    """Fill in steps (B, N) before known ones: the only node with that observation from which the action leads there.

    This gives the beginning of a walk its nodes once the agent has localised itself.
    """
    steps, origin = steps.copy(), _Origins(next_node, sees)
    for step in range(steps.shape[1] - 2, -1, -1):
        walk = np.flatnonzero((steps[:, step] == UNKNOWN) & (steps[:, step + 1] >= 0))
        led = actions[walk, step], steps[walk, step + 1], observations[walk, step]
        steps[walk, step] = origin.find(*led)
    return steps


class _Origins:
    """The edges of a map, sorted by action, target and the observation at the source."""

    def __init__(self, next_node: Whole, sees: Whole):
        source, action = np.nonzero(next_node >= 0)
        self._observations = np.int64(sees.max(initial=0)) + 1
        self._nodes = np.int64(len(next_node))
        key = self._key(action, next_node[source, action], sees[source])
        order = np.argsort(key, kind="stable")
        key, source = key[order], source[order]
        alone = np.ones(len(key), dtype=bool)
        alone[1:] &= key[1:] != key[:-1]
        alone[:-1] &= key[1:] != key[:-1]
        self._keys, self._source = key[alone], source[alone]

    def find(self, action: Whole, target: Whole, observation: Whole) -> Whole:
        """The source of the only such edge, UNKNOWN if there are none or several."""
        wanted = self._key(action, target, observation)
        if not len(self._keys):
            return np.full(len(wanted), UNKNOWN)
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        there = (self._keys[place] == wanted) & (observation < self._observations)
        return np.where(there, self._source[place], UNKNOWN)

    def _key(self, action: Whole, target: Whole, observation: Whole) -> Whole:
        return (action * self._nodes + target) * self._observations + observation
