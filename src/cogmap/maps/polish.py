"""The last moves put right: smooth the walks on the map, count its edges again, and part nodes that are still two.

Codes of a good model give nearly all of a map. Where two places share codes a few edges stay unclear or lead astray,
and one wrong edge spoils many plans. Smoothed walks do not need the codes there: what came before and after tells.
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

_ROUNDS = 6  # of smoothing and parting
_SMOOTHINGS = 8  # at the most in a round, until the edges stand
_STEPS_A_MOVE = 200  # that the walks smoothed on the way give each move of each node
_FAITHFUL = 0.9  # share of a move's tries that must lead where the map says
_NOISE = (0.02, 0.3)  # the least and the most that is reckoned with
_ENOUGH = 10  # tries for a move to be judged


def find_places(index: Whole, walks: Walks, num_codes: int, polished: bool = True) -> Minimised:
    """The nodes of codes (B, N): minimised, then parted and smoothed until every move that was tried is clear."""
    found = minimise_and_split(index, walks, num_codes)
    some = _some_walks(walks, int(found.steps.max(initial=-1)) + 1)
    steps = _polish(some, found.steps[: some.num_walks]) if polished else None
    if steps is None:  # codes that were parted are counted as themselves again
        return replace(found, code_node=majority(index, found.steps, num_codes))
    view = survey(some, steps)
    placed = smooth(walks, view.next_node, view.sees, noise_of(view))
    steps = _renumbered(found.steps if placed is None else placed)
    return replace(found, steps=steps, code_node=majority(index, steps, num_codes))


def _polish(walks: Walks, steps: Whole) -> Whole | None:
    """Steps (B, N) smoothed and parted in turns; of all rounds the one whose map the walks follow best."""
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
    """Halves of places joined, if the walks follow the map at least as well then."""
    joined = join_halves(walks, steps)
    smoothed = None if joined is None else _smooth_until_it_stands(walks, joined)
    if smoothed is None or followed(survey(walks, smoothed)).sum() < followed(survey(walks, steps)).sum():
        return steps
    return smoothed


def _smooth_until_it_stands(walks: Walks, steps: Whole) -> Whole | None:
    """Smooth on the nodes of `steps` (B, N) until their edges stand; None if there are too many nodes for it."""
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
    """(V, A): moves that were tried and lead nowhere clear, or too often elsewhere than the map says."""
    tried = ~never_taken(view.tries) & (view.tries >= _ENOUGH)
    return tried & (followed(view) < _FAITHFUL * view.tries)


def noise_of(view: Survey) -> float:
    """How often something else is seen at a node than it shows; a little even where that never happened."""
    shown = view.seen.observation == view.sees[view.seen.code]
    return float(np.clip(1 - view.seen.count[shown].sum() / max(view.seen.count.sum(), 1), *_NOISE))


def followed(view: Survey) -> Whole:
    """(V, A): how often each move led where the map says."""
    flows = view.flows
    follows = flows.target == view.next_node[flows.source, flows.action]
    cell = flows.source[follows] * view.tries.shape[1] + flows.action[follows]
    counts = np.bincount(cell, weights=flows.count[follows], minlength=view.tries.size)
    return counts.astype(np.int64).reshape(view.tries.shape)


def _some_walks(walks: Walks, nodes: int) -> Walks:
    """The first walks that have enough steps between them: smoothing all of them in every round would take minutes."""
    enough = _STEPS_A_MOVE * nodes * walks.num_actions
    count = int(np.searchsorted(np.cumsum(walks.lengths), enough)) + 1
    return walks.rows(slice(0, count))


def _renumbered(steps: Whole) -> Whole:
    """Nodes at which no step is are gone, and the others numbered on."""
    numbered = steps.copy()
    numbered[steps >= 0] = np.unique(steps[steps >= 0], return_inverse=True)[1]
    return numbered
