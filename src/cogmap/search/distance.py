"""How different the futures of two states are, from 0 to 1, and states merged by it.

Two states that show different observations have distance 1. Two that look alike are as far apart as the targets of the
action that tells them apart best: a bisimulation metric, the soft form of the minimisation of an automaton. One rare
input that leads to different observations is enough for a distance near 1, and a hundredth of wrong codes changes a
distance by about a hundredth. Exact refinement has no such tolerance: there one wrong target separates two states, then
all states that lead to them, and so on through the whole map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cogmap.hmm.states import StateCounts, never_taken
from cogmap.records import Floats

# A difference that shows only after k steps weighs DISCOUNT**k, so that small errors do not add up along a cycle. Real
# machines were distinguished within 6 steps.
DISCOUNT = 0.95
# A row that was tried n times counts n / (n + FEW): one visit is no evidence, twenty are.
FEW = 3.0
MANY = 10.0  # the same for an action that one of two states never takes, although it had n chances
# Targets below this share of a row are left out of distances: wrong codes, not moves.
RARE_TARGET = 0.02
_SWEEPS = 100
_SETTLED = 0.02  # the largest change of a distance in the last sweep

Distances = NDArray[np.float32]


class StateDistances:
    """Distances between states with the same observation, in one flat array."""

    def __init__(self, counts: StateCounts) -> None:
        self.counts = counts
        shown, self.look = np.unique(
            counts.shows(), return_inverse=True
        )  # (V,) number of each state's observation
        self.members = np.argsort(self.look, kind="stable").astype(np.int32)
        self.size = np.bincount(self.look, minlength=len(shown)).astype(np.int64)
        self.start = np.cumsum(self.size) - self.size
        self.slot = np.empty(counts.num_states, dtype=np.int64)
        self.slot[self.members] = np.arange(counts.num_states) - self.start[self.look[self.members]]
        squares = self.size**2
        self.offset = np.cumsum(squares) - squares
        self.values = self._fixed_point(int(squares.sum()))

    def _fixed_point(self, entries: int) -> Distances:
        row_start, target, chance = _main_targets(self.counts)
        values = np.zeros(entries, dtype=np.float32)
        for _ in range(_SWEEPS):
            after = np.zeros(entries, dtype=np.float32)
            arrays = (self.members, self.start, self.size, self.offset, self.look, self.slot)
            rows = (row_start, target, chance, self.counts.tries, never_taken(self.counts).ravel())
            change = _sweep(*arrays, *rows, self.counts.num_actions, values, after)
            values = after
            if change < _SETTLED:
                break
        return values

    def merged(self, radius: float) -> tuple[NDArray[np.int64], int]:
        """(V,) the group of each state, and the number of groups.

        Each state, the most visited first, joins the nearest group whose first state is within `radius`.
        """
        order = np.argsort(-self.counts.visits, kind="stable")
        return _join_nearest(order, self.look, self.slot, self.size, self.offset, self.values, radius)

    def nearest_pairs(self, most: int) -> list[tuple[int, int]]:
        """The pairs of states that look alike and are nearest to each other, at a distance below 1."""
        near = np.flatnonzero(self.values < DISCOUNT - _SETTLED)
        group = np.searchsorted(self.offset, near, side="right") - 1
        i, j = np.divmod(near - self.offset[group], self.size[group])
        once = np.flatnonzero(i > j)
        chosen = once[np.argsort(self.values[near[once]], kind="stable")][:most]
        first, second = (self.members[self.start[group[chosen]] + slot[chosen]] for slot in (i, j))
        return list(zip(first.tolist(), second.tolist(), strict=True))


def _main_targets(counts: StateCounts) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Offsets of rows, targets and their probabilities, without rare targets."""
    tries = counts.tries
    kept = counts.count > RARE_TARGET * tries[counts.row]
    row, count = counts.row[kept], counts.count[kept]
    total = np.bincount(row, weights=count, minlength=len(tries))
    row_start = np.zeros(len(tries) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=len(tries)), out=row_start[1:])
    return row_start, counts.target[kept], count / total[row]


@njit(cache=True)
def _between(one: int, other: int, look: Any, slot: Any, size: Any, offset: Any, values: Any) -> float:
    if one == other:
        return 0.0
    if look[one] != look[other]:
        return 1.0
    return values[offset[look[one]] + slot[one] * size[look[one]] + slot[other]]


@njit(cache=True)
def _between_rows(
    one: int, other: int, row_start: Any, target: Any, chance: Any, look: Any, slot: Any, size: Any, offset: Any,
    values: Any,
) -> float:  # fmt: skip
    """The mean distance of the targets of two rows, the nearest ones paired first."""
    first, second = row_start[one + 1] - row_start[one], row_start[other + 1] - row_start[other]
    if first == 1 and second == 1:
        return _between(target[row_start[one]], target[row_start[other]], look, slot, size, offset, values)
    left = chance[row_start[one] : row_start[one + 1]].copy()
    right = chance[row_start[other] : row_start[other + 1]].copy()
    apart = np.empty((first, second))
    for i in range(first):
        for j in range(second):
            apart[i, j] = _between(
                target[row_start[one] + i], target[row_start[other] + j], look, slot, size, offset, values
            )
    total = 0.0
    for place in np.argsort(apart.ravel()):
        i, j = place // second, place % second
        moved = min(left[i], right[j])
        left[i] -= moved
        right[j] -= moved
        total += moved * apart[i, j]
    return total


@njit(cache=True)
def _chances(one: int, other: int, action: int, num_actions: int, tries: Any) -> float:
    """How often an action was to be expected from the state that never took it, going by the other one."""
    if tries[one + action] > tries[other + action]:
        one, other = other, one
    visits, visits_other = 0.0, 0.0
    for each in range(num_actions):
        visits += tries[one + each]
        visits_other += tries[other + each]
    return visits * tries[other + action] / max(visits_other, 1.0)


@njit(cache=True)
def _sweep(
    members: Any, start: Any, size: Any, offset: Any, look: Any, slot: Any, row_start: Any, target: Any, chance: Any,
    tries: Any, never: Any, num_actions: int, values: Any, after: Any,
) -> float:  # fmt: skip
    """Distances one step further ahead; returns the largest change."""
    change = 0.0
    for group in range(len(size)):
        for i in range(size[group]):
            one = members[start[group] + i] * num_actions
            for j in range(i):
                other = members[start[group] + j] * num_actions
                farthest = 0.0
                for action in range(num_actions):
                    if never[one + action] or never[other + action]:
                        if never[one + action] != never[other + action]:
                            chances = _chances(one, other, action, num_actions, tries)
                            farthest = max(farthest, DISCOUNT * chances / (chances + MANY))
                        continue
                    fewer = min(tries[one + action], tries[other + action])
                    sure = DISCOUNT * fewer / (fewer + FEW)
                    if sure <= farthest:
                        continue
                    apart = _between_rows(
                        one + action,
                        other + action,
                        row_start,
                        target,
                        chance,
                        look,
                        slot,
                        size,
                        offset,
                        values,
                    )
                    farthest = max(farthest, sure * apart)
                place = offset[group] + i * size[group] + j
                change = max(change, abs(farthest - values[place]))
                after[place] = farthest
                after[offset[group] + j * size[group] + i] = farthest
    return change


@njit(cache=True)
def _join_nearest(
    order: Any, look: Any, slot: Any, size: Any, offset: Any, values: Any, radius: float
) -> Any:
    group = np.full(len(order), -1, dtype=np.int64)
    leader = np.empty(len(order), dtype=np.int64)
    next_alike = np.full(len(order), -1, dtype=np.int64)  # leaders with one observation form a list
    last_alike = np.full(len(size), -1, dtype=np.int64)
    groups = 0
    for state in order:
        nearest, best = radius, -1
        other = last_alike[look[state]]
        while other >= 0:
            apart = _between(state, leader[other], look, slot, size, offset, values)
            if apart < nearest:
                nearest, best = apart, other
            other = next_alike[other]
        if best < 0:
            best = groups
            leader[groups] = state
            next_alike[groups] = last_alike[look[state]]
            last_alike[look[state]] = groups
            groups += 1
        group[state] = best
    return group, groups
