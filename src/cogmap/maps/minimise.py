"""The minimal map: the smallest number of nodes that explains the transitions, one for every distinguishable place.

1. `refine` splits codes that behave differently.
2. Nodes that no clear edge leads to are dissolved: they stand for "not localised yet", or for a place with a noisy
   observation. Nodes that explain more steps as one than as two are merged.
3. Every walk is tracked on the remaining nodes, so that the steps around it outvote a wrong code. The tracked steps
   give better counts, and 2 and 3 are repeated until nothing changes.
4. Rarely visited nodes are removed, and those come back whose steps no other node explains.

True positions are never used.
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
_MISTAKES = 0.03  # of the median node's steps: fewer are not enough to distinguish two places
_SELDOM = 0.25  # of the median node's steps: a node with fewer is rarely visited


@dataclass(frozen=True, eq=False)
class Minimised:
    """The nodes of codes and steps."""

    code_node: Whole  # (J,) UNKNOWN for codes without a single place
    steps: Whole  # (B, N) the tracked node of each step; UNKNOWN where there is none
    real: Booleans  # (B, N) false on padding
    dissolved: int  # rarely visited nodes that were treated as model errors


def minimise(index: Whole, walks: Walks, counts: Counts, seen: Sightings) -> Minimised:
    """Merge codes into the smallest number of nodes that explains the walks.

    `index` (B, N) is the code of each step, -1 on padding; `counts` and `seen` are its counts.
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
    """Dissolve transient nodes and merge equal ones, until the number of nodes is stable."""
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
    """(V,) the nodes refined like codes; nodes that fit no block, or several, stay as they are."""
    block = refine(view.flows, view.seen).copy()
    alone = np.flatnonzero(block == UNKNOWN)
    block[alone] = block.max(initial=-1) + 1 + np.arange(len(alone))
    return block


def without_seldom(steps: Whole) -> Whole:
    """Steps without the rarely visited nodes."""
    often = ~_seldom(steps)
    return spread(np.where(often, np.cumsum(often) - 1, UNKNOWN), steps)


def _seldom(steps: Whole) -> Booleans:
    """(V,) nodes with few steps compared to the median node."""
    visits = np.bincount(steps[steps >= 0], minlength=1)
    return visits < _SELDOM * np.median(visits)


def retraced(walks: Walks, steps: Whole) -> Whole:
    """Steps with the nodes that follow from later steps filled in, as at the beginning of a walk."""
    view = survey(walks, steps)
    return retrace(steps, walks.actions, walks.observations, view.next_node, view.sees)


def put_back_missed(walks: Walks, settled: Whole, steps: Whole) -> tuple[Whole, int]:
    """Give rarely visited nodes of `settled` their steps back if much less is explained without them; count the rest.

    Much is half of their own steps, or a small share of the median node's. Less than that counts as model errors.
    """
    visits = np.bincount(settled[settled >= 0], minlength=1)
    lost = _explained_at(walks, settled, settled) - _explained_at(walks, steps, settled)
    back = _seldom(settled) & ((lost > visits) | (lost > 2 * _MISTAKES * np.median(visits)))
    number = np.where(back, int(steps.max(initial=-1)) + np.cumsum(back), UNKNOWN)
    returned = spread(number, settled)
    steps = np.where(returned >= 0, returned, steps)
    return steps, int((_seldom(settled) & ~back).sum())


def _explained_at(walks: Walks, steps: Whole, at: Whole) -> Whole:
    """(V,) steps into and out of each node of `at` (B, N) that follow a clear edge between the nodes of `steps`."""
    view, (source, target) = survey(walks, steps), (steps[:, :-1], steps[:, 1:])
    follows = (source >= 0) & (target >= 0)
    follows[follows] = view.next_node[source[follows], walks.actions[follows]] == target[follows]
    nodes = int(at.max(initial=0)) + 1
    ends = (at[:, :-1][follows], at[:, 1:][follows])
    return np.bincount(ends[0][ends[0] >= 0], minlength=nodes) + np.bincount(
        ends[1][ends[1] >= 0], minlength=nodes
    )


def put_back_sources(walks: Walks, first: Whole, steps: Whole) -> Whole:
    """Add nodes of `first` whose steps have no single node now, if clear edges lead from them to the map.

    Such are places from which walks start and to which they never return.
    """
    trusted = int(steps.max(initial=-1)) + 1
    missed = majority(first, steps, int(first.max(initial=-1)) + 1) == UNKNOWN
    number = np.where(missed, trusted + np.cumsum(missed) - 1, UNKNOWN)
    steps = np.where(steps == UNKNOWN, spread(number, first), steps)
    firm = _joined(survey(walks, steps), trusted)
    return spread(np.where(firm, np.cumsum(firm) - 1, UNKNOWN), steps)


def _joined(view: Survey, trusted: int) -> Booleans:
    """(V,) the first `trusted` nodes, nodes that clear edges reach from them, and nodes that mostly lead to these."""
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
    """(J,) the node of more than half of a code's steps, else UNKNOWN."""
    at = count_sightings(
        np.where(steps >= 0, index, UNKNOWN), steps, num_codes, int(steps.max(initial=0)) + 1
    )
    lead = leaders(at.code, at.observation, at.count, (num_codes, at.num_observations))
    active = np.bincount(index[index >= 0], minlength=num_codes)
    return np.where(2 * lead.count > active, lead.column, UNKNOWN).astype(np.int32)
