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

from cogmap.maps.counts import Counts, Sightings, Whole, count_sightings
from cogmap.maps.evidence import UNKNOWN, leaders
from cogmap.maps.lasting import lasting, reach
from cogmap.maps.refine import refine
from cogmap.maps.survey import Survey, survey
from cogmap.maps.track import retrace, track
from cogmap.maps.twins import merge_twins
from cogmap.records import Booleans, Walks

_ROUNDS = 12  # of tracking; three to five are usual
_MISTAKES = 0.03  # of the median node's steps: less than that is not enough to tell two places apart
_SELDOM = 0.25  # of the median node's steps: below it a node has to prove itself


@dataclass(frozen=True, eq=False)
class Minimised:
    """What codes and steps were merged into."""

    code_node: Whole  # (J,) UNKNOWN for codes that stand for no one place
    steps: Whole  # (B, N) the node of each step, tracked; UNKNOWN where there is none
    real: Booleans  # (B, N) steps that are no padding
    dissolved: int  # seldom visited nodes that were taken for mistakes of the model


def minimise(index: Whole, walks: Walks, counts: Counts, seen: Sightings) -> Minimised:
    """Merge codes into as few nodes as explain the walks.

    `index` (B, N) is the code of each step, -1 as padding; `counts` and `seen` are its counts.
    """
    first = spread(refine(counts, seen), index)
    settled = settle(index, walks, first)
    steps = retraced(walks, settle(index, walks, without_seldom(settled)))
    steps, dissolved = put_back_missed(walks, settled, steps)
    steps = put_back_sources(walks, first, steps)
    steps = simplify(walks, steps, dissolve=False)
    code_node = majority(index, steps, counts.num_codes)
    used = np.zeros(int(steps.max(initial=-1)) + 1, dtype=bool)
    used[code_node[code_node >= 0]] = True
    number = np.where(used, np.cumsum(used) - 1, UNKNOWN)
    return Minimised(spread(number, code_node), spread(number, steps), index >= 0, dissolved)


def settle(index: Whole, walks: Walks, steps: Whole) -> Whole:
    """Simplify the nodes and track the walks on them until nothing changes; steps are (B, N) nodes."""
    num_codes, before = int(index.max(initial=-1)) + 1, None
    for _ in range(_ROUNDS):
        steps = simplify(walks, steps)
        code_node = majority(index, steps, num_codes)
        if before is not None and np.array_equal(code_node, before):
            break
        before, view = code_node, survey(walks, steps)
        steps = track(spread(code_node, index), walks.actions, view.next_node)
        steps[index < 0] = UNKNOWN
    return steps


def simplify(walks: Walks, steps: Whole, dissolve: bool = True) -> Whole:
    """Dissolve what does not last and merge what is one, until the number of nodes stands."""
    while True:
        view = survey(walks, steps)
        before = view.num_nodes
        kept = lasting(view.flows, view.next_node) if dissolve else np.ones(before, dtype=bool)
        if not kept.all():
            steps = spread(np.where(kept, np.cumsum(kept) - 1, UNKNOWN), steps)
            view = survey(walks, steps)
        number = merge_twins(view.flows, view.seen)
        if number.max(initial=-1) + 1 < view.num_nodes:
            steps = spread(number, steps)
            view = survey(walks, steps)
        block = _blocks(view)
        if block.max(initial=-1) + 1 == before:
            return steps
        steps = spread(block, steps)


def _blocks(view: Survey) -> Whole:
    """(V,): nodes refined as codes were; those that fit no block, or several, stay what they were."""
    block = refine(view.flows, view.seen).copy()
    alone = np.flatnonzero(block == UNKNOWN)
    block[alone] = block.max(initial=-1) + 1 + np.arange(len(alone))
    return block


def without_seldom(steps: Whole) -> Whole:
    """Steps at nodes that are seldom visited are at no node."""
    often = ~_seldom(steps)
    return spread(np.where(often, np.cumsum(often) - 1, UNKNOWN), steps)


def _seldom(steps: Whole) -> Booleans:
    """(V,): nodes with few steps beside the median node's."""
    visits = np.bincount(steps[steps >= 0], minlength=1)
    return visits < _SELDOM * np.median(visits)


def retraced(walks: Walks, steps: Whole) -> Whole:
    """What is known of a step only afterwards is known too, as at the beginning of a walk."""
    view = survey(walks, steps)
    return retrace(steps, walks.actions, walks.observations, view.next_node, view.sees)


def put_back_missed(walks: Walks, settled: Whole, steps: Whole) -> tuple[Whole, int]:
    """Seldom nodes of `settled` get their steps back if without them much less is explained; also how many do not.

    Much is half of their own steps, or a fiftieth of the median node's: what a seldom node has to say against
    being one with another, if it is less than that, is taken for mistakes of the model.
    """
    visits = np.bincount(settled[settled >= 0], minlength=1)
    lost = _explained_at(walks, settled, settled) - _explained_at(walks, steps, settled)
    back = _seldom(settled) & ((lost > visits) | (lost > 2 * _MISTAKES * np.median(visits)))
    number = np.where(back, int(steps.max(initial=-1)) + np.cumsum(back), UNKNOWN)
    returned = spread(number, settled)
    steps = np.where(returned >= 0, returned, steps)
    return steps, int((_seldom(settled) & ~back).sum())


def _explained_at(walks: Walks, steps: Whole, at: Whole) -> Whole:
    """(V,): steps into and out of each node in `at` (B, N) that follow a clear edge, when `steps` are the nodes."""
    view, (source, target) = survey(walks, steps), (steps[:, :-1], steps[:, 1:])
    follows = (source >= 0) & (target >= 0)
    follows[follows] = view.next_node[source[follows], walks.actions[follows]] == target[follows]
    nodes = int(at.max(initial=0)) + 1
    ends = (at[:, :-1][follows], at[:, 1:][follows])
    return np.bincount(ends[0][ends[0] >= 0], minlength=nodes) + np.bincount(
        ends[1][ends[1] >= 0], minlength=nodes
    )


def put_back_sources(walks: Walks, first: Whole, steps: Whole) -> Whole:
    """Nodes of `first` whose steps no one node has now come back if they lead clearly to the map.

    Such are places that walks start from and never return to.
    """
    trusted = int(steps.max(initial=-1)) + 1
    missed = majority(first, steps, int(first.max(initial=-1)) + 1) == UNKNOWN
    number = np.where(missed, trusted + np.cumsum(missed) - 1, UNKNOWN)
    steps = np.where(steps == UNKNOWN, spread(number, first), steps)
    firm = _joined(survey(walks, steps), trusted)
    return spread(np.where(firm, np.cumsum(firm) - 1, UNKNOWN), steps)


def _joined(view: Survey, trusted: int) -> Booleans:
    """(V,): the first `trusted` nodes, what clear edges reach from them, and what mostly leads clearly to these."""
    joined = reach(view.next_node, np.arange(view.num_nodes) < trusted)
    flows = view.flows
    leads = (view.next_node[flows.source, flows.action] == flows.target) & joined[flows.target]
    explained = np.bincount(flows.source[leads], weights=flows.count[leads], minlength=view.num_nodes)
    return joined | ((3 * explained >= 2 * view.tries.sum(axis=1)) & (explained > 0))


def spread(values: Whole, at: Whole) -> Whole:
    """`values[at]`, and UNKNOWN wherever `at` is."""
    padded = np.concatenate((values.astype(np.int32), np.array([UNKNOWN], dtype=np.int32)))
    return padded[at]


def majority(index: Whole, steps: Whole, num_codes: int) -> Whole:
    """(J,): the node at which a code was active on more than half of its steps, else UNKNOWN."""
    at = count_sightings(
        np.where(steps >= 0, index, UNKNOWN), steps, num_codes, int(steps.max(initial=0)) + 1
    )
    lead = leaders(at.code, at.observation, at.count, (num_codes, at.num_observations))
    active = np.bincount(index[index >= 0], minlength=num_codes)
    return np.where(2 * lead.count > active, lead.column, UNKNOWN).astype(np.int32)
