"""The minimal map: as few nodes as explain what followed what, one for every place that can be told apart.

1. `refine` splits codes that behave differently and leaves together those that do not.
2. Nodes that nothing certain leads to are dissolved (they stand for "I do not know yet", or for a place seen
   through noise), and nodes that explain more as one than as two are merged.
3. Every walk is tracked on what is left, so that the steps around it outvote a code that is wrong now and then;
   from the tracked steps follow better counts, and 2 and 3 are repeated until nothing changes.
4. A node must be missed when it is gone: seldom visited nodes are taken out, and only those come back whose
   steps no other node explains.

No position is ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.maps.counts import Counts, Sightings, count_sightings, count_transitions
from cogmap.maps.evidence import UNKNOWN, leaders
from cogmap.maps.lasting import lasting
from cogmap.maps.refine import refine
from cogmap.maps.track import track
from cogmap.maps.twins import merge_twins
from cogmap.records import Booleans, Integers, Walks

_ROUNDS = 12  # of tracking; three to five are usual
_SELDOM = 0.25  # of the median node's steps: below it a node has to prove itself


@dataclass(frozen=True, eq=False)
class Survey:
    """What the walks say of the nodes they are at."""

    next_node: Integers  # (V, A) where each action clearly leads, UNKNOWN where nothing is clear
    sees: Integers  # (V,) the observation seen most often
    tries: Integers  # (V, A) steps on which each action was taken
    flows: Counts  # steps between nodes
    seen: Sightings  # observations at nodes

    @property
    def num_nodes(self) -> int:
        return len(self.sees)


def minimise(index: Integers, walks: Walks, counts: Counts, seen: Sightings) -> tuple[Integers, Integers]:
    """The node of each code (J,) and of each step (B, N), UNKNOWN where there is no one place.

    `index` (B, N) is the code of each step, -1 as padding; `counts` and `seen` are its counts.
    """
    steps = settle(index, walks, spread(refine(counts, seen), index))
    steps = knock_out(index, walks, steps)
    code_node = majority(index, steps, counts.num_codes)
    used = np.zeros(int(steps.max(initial=-1)) + 1, dtype=bool)
    used[code_node[code_node >= 0]] = True
    number = np.where(used, np.cumsum(used) - 1, UNKNOWN)
    return spread(number, code_node), spread(number, steps)


def settle(index: Integers, walks: Walks, steps: Integers) -> Integers:
    """Simplify the nodes and track the walks on them until nothing changes; steps are (B, N) nodes."""
    num_codes, before = int(index.max(initial=-1)) + 1, None
    for _ in range(_ROUNDS):
        steps = simplify(walks, steps)
        code_node = majority(index, steps, num_codes)
        if before is not None and np.array_equal(code_node, before):
            break
        before = code_node
        steps = track(spread(code_node, index), walks.actions, survey(walks, steps).next_node)
    return steps


def simplify(walks: Walks, steps: Integers) -> Integers:
    """Dissolve what does not last and merge what is one, until the number of nodes stands."""
    while True:
        view = survey(walks, steps)
        kept = lasting(view.flows, view.next_node, view.tries)
        steps = spread(np.where(kept, np.cumsum(kept) - 1, UNKNOWN), steps)
        view_kept = view if kept.all() else survey(walks, steps)
        steps = spread(merge_twins(view_kept.flows, view_kept.seen), steps)
        view_merged = survey(walks, steps)
        steps = spread(_blocks(view_merged), steps)
        if int(steps.max(initial=-1)) + 1 == view.num_nodes:
            return steps


def _blocks(view: Survey) -> Integers:
    """(V,): nodes refined as codes were; those that fit no block, or several, stay what they were."""
    block = refine(view.flows, view.seen).copy()
    alone = np.flatnonzero(block == UNKNOWN)
    block[alone] = block.max(initial=-1) + 1 + np.arange(len(alone))
    return block


def knock_out(index: Integers, walks: Walks, steps: Integers) -> Integers:
    """Take out seldom visited nodes, settle, and put back those that are missed."""
    visits = np.bincount(steps[steps >= 0])
    seldom = visits < _SELDOM * np.median(visits) if len(visits) else np.zeros(0, dtype=bool)
    if not seldom.any():
        return steps
    without = settle(index, walks, np.where(spread(seldom, steps) == 1, UNKNOWN, steps))
    missed = _missed(steps, without, seldom)
    if not missed.any():
        return without
    number = int(without.max(initial=-1)) + np.cumsum(missed)
    back = (without == UNKNOWN) & (spread(missed, steps) == 1)
    return settle(index, walks, np.where(back, spread(number, steps), without))


def _missed(steps: Integers, without: Integers, seldom: Booleans) -> Booleans:
    """(V,): seldom nodes more than half of whose steps are at no node now."""
    known = steps >= 0
    visits = np.bincount(steps[known], minlength=len(seldom))
    lost = np.bincount(steps[known & (without == UNKNOWN)], minlength=len(seldom))
    return seldom & (2 * lost > visits)


def spread(values: Integers, at: Integers) -> Integers:
    """`values[at]`, and UNKNOWN wherever `at` is."""
    padded = np.concatenate((values.astype(np.int32), np.array([UNKNOWN], dtype=np.int32)))
    return padded[at]


def majority(index: Integers, steps: Integers, num_codes: int) -> Integers:
    """(J,): the node at which a code was active on more than half of its steps, else UNKNOWN."""
    at = count_sightings(
        np.where(steps >= 0, index, UNKNOWN), steps, num_codes, int(steps.max(initial=0)) + 1
    )
    lead = leaders(at.code, at.observation, at.count, (num_codes, at.num_observations))
    active = np.bincount(index[index >= 0], minlength=num_codes)
    return np.where(2 * lead.count > active, lead.column, UNKNOWN).astype(np.int32)


def survey(walks: Walks, steps: Integers) -> Survey:
    """Count what happens at the nodes that `steps` (B, N) are at.

    An action leads clearly to a node if it is the clear leader among known ones, and if not too many of its
    steps lead to where nobody knows: no more than twice their share among all steps.
    """
    nodes, actions = int(steps.max(initial=-1)) + 1, walks.num_actions
    real = walks.step_mask()[:, 1:]  # (B, N - 1)
    both = (steps[:, :-1] >= 0) & (steps[:, 1:] >= 0)
    flows = count_transitions(steps, walks.actions, nodes, actions)
    seen = count_sightings(steps, walks.observations, nodes, walks.num_observations)
    from_known = real & (steps[:, :-1] >= 0)
    row = (steps[:, :-1] * np.int64(actions) + walks.actions)[from_known]
    tries = np.bincount(row, minlength=nodes * actions)
    lead = leaders(
        flows.source * actions + flows.action, flows.target, flows.count, (nodes * actions, max(nodes, 1))
    )
    known = both.sum() / max(from_known.sum(), 1)
    column = np.where(2 * lead.count >= known * tries, lead.clear_column(), UNKNOWN)
    shape = (nodes, walks.num_observations)
    sees = leaders(seen.code, seen.observation, seen.count, shape).column
    return Survey(column.reshape(nodes, actions), sees, tries.reshape(nodes, actions), flows, seen)
