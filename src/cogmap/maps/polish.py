"""Fix the last wrong edges: smooth the walks on the map, count its edges again, and split nodes that are two places.

The codes of a good model give nearly the whole map. Where two places share codes, a few edges stay unclear or wrong,
and one wrong edge spoils many plans. Smoothing does not need the codes there: the steps before and after determine the
node.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cogmap.maps.counts import Whole
from cogmap.maps.halves import join_halves
from cogmap.maps.minimise import Minimised, majority, simplify
from cogmap.maps.refine import never_taken
from cogmap.maps.smooth import smooth
from cogmap.maps.split import minimise_and_split
from cogmap.maps.survey import Survey, survey
from cogmap.records import Booleans, Walks

_ROUNDS = 6  # of smoothing and splitting
_SMOOTHINGS = 8  # at the most in a round, until the edges are stable
_STEPS_A_MOVE = 200  # per move and node, in the walks that are smoothed in every round
_FAITHFUL = 0.9  # share of a move's tries that must lead where the map says
_NOISE = (0.02, 0.3)  # the lowest and the highest value
_ENOUGH = 10  # tries of a move before it is judged


def find_places(index: Whole, walks: Walks, num_codes: int, polished: bool = True) -> Minimised:
    """The nodes of codes (B, N): minimised, then split and smoothed until every move that was tried is clear."""
    found = minimise_and_split(index, walks, num_codes)
    some = _some_walks(walks, int(found.steps.max(initial=-1)) + 1)
    steps = _polish(some, found.steps[: some.num_walks]) if polished else None
    if steps is None:  # codes that were split count as one code again
        return replace(found, code_node=majority(index, found.steps, num_codes))
    view = survey(some, steps)
    placed = smooth(walks, view.next_node, view.sees, noise_of(view))
    steps = _renumbered(found.steps if placed is None else placed)
    return replace(found, steps=steps, code_node=majority(index, steps, num_codes))


def _polish(walks: Walks, steps: Whole) -> Whole | None:
    """Steps (B, N) smoothed and split in turns; the result of the round whose map the walks follow best."""
    best: tuple[int, Whole] | None = None
    for _ in range(_ROUNDS):
        smoothed = _smooth_until_it_stands(walks, steps)
        if smoothed is None:
            return None
        smoothed = _join_if_better(walks, smoothed)
        view = survey(walks, smoothed)
        good = int(followed(view).sum())
        if best is None or good > best[0]:
            best = good, smoothed
        if not unclear(view).any():
            break
        steps = minimise_and_split(smoothed, walks, view.num_nodes).steps
    return None if best is None else best[1]


def _join_if_better(walks: Walks, steps: Whole) -> Whole:
    """Merge nodes that may be one place, if the walks then follow the map at least as well."""
    joined = join_halves(walks, steps)
    smoothed = None if joined is None else _smooth_until_it_stands(walks, joined)
    if smoothed is None or followed(survey(walks, smoothed)).sum() < followed(survey(walks, steps)).sum():
        return steps
    return smoothed


def _smooth_until_it_stands(walks: Walks, steps: Whole) -> Whole | None:
    """Smooth on the nodes of `steps` (B, N) until their edges are stable; None if there are too many nodes."""
    view = survey(walks, steps)
    for _ in range(_SMOOTHINGS):
        placed = smooth(walks, view.next_node, view.sees, noise_of(view))
        if placed is None:
            return None
        steps = simplify(walks, placed, dissolve=False)
        before, view = view, survey(walks, steps)
        if np.array_equal(view.next_node, before.next_node):
            break
    return steps


def unclear(view: Survey) -> Booleans:
    """(V, A) moves that were tried and have no clear target, or lead too often elsewhere than the map says."""
    tried = ~never_taken(view.tries) & (view.tries >= _ENOUGH)
    return tried & (followed(view) < _FAITHFUL * view.tries)


def noise_of(view: Survey) -> float:
    """The share of steps with another observation than their node's, clipped to `_NOISE`."""
    shown = view.seen.observation == view.sees[view.seen.code]
    return float(np.clip(1 - view.seen.count[shown].sum() / max(view.seen.count.sum(), 1), *_NOISE))


def followed(view: Survey) -> Whole:
    """(V, A) how often each move led where the map says."""
    flows = view.flows
    follows = flows.target == view.next_node[flows.source, flows.action]
    cell = flows.source[follows] * view.tries.shape[1] + flows.action[follows]
    counts = np.bincount(cell, weights=flows.count[follows], minlength=view.tries.size)
    return counts.astype(np.int64).reshape(view.tries.shape)


def _some_walks(walks: Walks, nodes: int) -> Walks:
    """The first walks with enough steps in total: smoothing all of them in every round would take minutes."""
    enough = _STEPS_A_MOVE * nodes * walks.num_actions
    count = int(np.searchsorted(np.cumsum(walks.lengths), enough)) + 1
    return walks.rows(slice(0, count))


def _renumbered(steps: Whole) -> Whole:
    """Renumber the nodes without those that have no step."""
    numbered = steps.copy()
    numbered[steps >= 0] = np.unique(steps[steps >= 0], return_inverse=True)[1]
    return numbered
