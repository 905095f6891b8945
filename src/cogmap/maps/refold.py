"""The shortest machine of a tree of histories: fold it by many opinions, then again without merges that were wrong.

Folding is greedy: a merge that nothing contradicts yet may be wrong, and what follows then needs states that there are
not. Which merge it was cannot be seen; but a machine without it is shorter. So merges are refused one at a time and the
tree is folded again, which takes milliseconds, and what is not longer is kept, until no merge is left to refuse.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice

import numpy as np

from cogmap.hmm.counts import Whole
from cogmap.maps.fold import MOST_STATES, HistoryTree, Machine, fold
from cogmap.maps.opinions import Opinion, opinions
from cogmap.records import PredictedFutures, Walks

_SHORTEST = 4  # machines, of which the one is taken that predicts most
_FIRST = 5  # opinions, of which one must lead to a machine for the others to be tried
_FEW_STATES = 250  # to begin with: a wrong opinion makes states without end, and folding takes the longer
_STEPS_A_STATE = 20  # at the least: with noise in it, a tree folds into as many states as it has nodes
_STEPS_REFOLDED = 60_000_000  # in all: some ten seconds
_MORE_STATES = 3  # times as many as the shortest machine has: one that is larger is not finished


@dataclass(frozen=True, eq=False)
class Folded:
    """A machine, how many nats it takes, and how the codes were read that it was folded by."""

    machine: Machine
    length: float
    opinion: Opinion


def fold_by_codes(
    walks: Walks, tree: HistoryTree, index: Whole, futures: PredictedFutures | None, seconds: float
) -> list[Folded]:
    """The shortest machines that what was seen and the model's codes lead to, the shortest first.

    index: (B, N) the row of the predicted futures of each step, -1 for none. seconds: after these no fold begins.
    """
    until = time.monotonic() + seconds
    every = opinions(walks, index, futures)
    first = list(islice(every, _FIRST))
    limit = min(MOST_STATES, 10 + int(walks.lengths.sum()) // _STEPS_A_STATE)
    most = min(_FEW_STATES, limit)
    found = _finished(walks, tree, first, most, until)
    while not found and most < limit and time.monotonic() < until:
        most = min(4 * most, limit)
        found = _finished(walks, tree, first, most, until)
    if not found:
        return []  # no machine, or the model tells too little of it, however its codes are read
    for opinion in every:
        most = min(most, 2 * found[0].machine.num_states)
        found = shortest([*found, *_finished(walks, tree, [opinion], most, until)])
    return found


def _finished(
    walks: Walks, tree: HistoryTree, by: list[Opinion], most_states: int, until: float
) -> list[Folded]:
    """The machines by some opinions that have fewer states, the shortest first."""
    found = []
    for opinion in by:
        if time.monotonic() > until:
            break
        machine = fold(tree, opinion, most_states)
        if machine.num_states < most_states:
            found.append(Folded(machine, machine.length(walks.lengths), opinion))
    return shortest(found)


def shortest(folded: list[Folded]) -> list[Folded]:
    """The shortest few, the shortest first; of those of one length the first."""
    distinct: dict[float, Folded] = {}
    for each in folded:
        distinct.setdefault(each.length, each)
    return [distinct[length] for length in sorted(distinct)[:_SHORTEST]]


def refold(walks: Walks, tree: HistoryTree, folded: list[Folded], seconds: float) -> list[Folded]:
    """The machines, each as short as refusing merges makes it. seconds: at the most."""
    until = time.monotonic() + seconds
    budget = _STEPS_REFOLDED // max(int(walks.lengths.sum()), 1)
    found = []
    for each in folded:
        better, tries = _without_wrong_merges(walks, tree, each, budget, until)
        budget -= tries
        found.append(better)
    return shortest(found)


def _without_wrong_merges(
    walks: Walks, tree: HistoryTree, best: Folded, budget: int, until: float
) -> tuple[Folded, int]:
    """The machine once refusing any of its merges makes it no shorter, and how often it was folded for that."""
    rng = np.random.default_rng(0)
    refused: list[tuple[int, int]] = []
    left, tries = rng.permutation(best.machine.merges).tolist(), 0
    while left and tries < budget and time.monotonic() < until:
        without = [*refused, tuple(left.pop())]
        most = _MORE_STATES * best.machine.num_states
        machine = fold(tree, best.opinion, most, without)
        tries += 1
        length = machine.length(walks.lengths)
        if machine.num_states == most or length > best.length:
            continue
        if length < best.length:
            left = rng.permutation(machine.merges).tolist()
        best, refused = Folded(machine, length, best.opinion), without
    return best, tries
