"""The shortest machines of a tree of histories: folded by many opinions, then with fewer states by other moves.

Folding is greedy: a merge that nothing contradicts yet may be wrong, and what follows then needs states that there are
not. Which merge it was cannot be seen, but where moves are led elsewhere (`rewire`), these states are given up again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice

from cogmap.hmm.counts import Whole
from cogmap.maps.fold import MOST_STATES, HistoryTree, Machine, fold
from cogmap.maps.opinions import Opinion, opinions
from cogmap.maps.rewire import Histories, shorter
from cogmap.records import PredictedFutures, Walks

_SHORTEST = 4  # machines, of which the one is taken that predicts most
_FIRST = 5  # opinions, of which one must lead to a machine for the others to be tried
_FEW_STATES = 250  # to begin with: a wrong opinion makes states without end, and folding takes the longer
_STEPS_A_STATE = 20  # at the least: with noise in it, a tree folds into as many states as it has nodes


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


def refold(histories: Histories, folded: list[Folded], lengths: Whole, seconds: float) -> list[Folded]:
    """The machines, each with as few states as leading moves elsewhere makes it, the shortest first.

    seconds: at the most; of what is left of them each gets half.
    """
    found, until = [], time.monotonic() + seconds
    asked = [each.opinion for each in folded if each.opinion.apart.any()]
    for each in folded:
        now = time.monotonic()
        by = histories.read(each.machine) if now < until else None
        if by is not None:
            by_whom = asked[0] if asked else each.opinion
            machine = histories.machine(shorter(histories, by, by_whom, (now + until) / 2))
            found.append(Folded(machine, machine.length(lengths), each.opinion))
        else:
            found.append(each)
    return sorted(found, key=lambda each: each.length)
