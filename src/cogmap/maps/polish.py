"""The last moves put right: smooth the walks on the map, count its edges again, and part nodes that are still two.

Codes of a good model give nearly all of a map. Where two places share codes a few edges stay unclear or lead astray,
and one wrong edge spoils many plans. Smoothed walks do not need the codes there: what came before and after tells.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cogmap.maps.counts import Whole
from cogmap.maps.minimise import Minimised, majority, simplify
from cogmap.maps.refine import never_taken
from cogmap.maps.smooth import smooth
from cogmap.maps.split import minimise_and_split
from cogmap.maps.survey import Survey, survey
from cogmap.records import Booleans, Walks

_ROUNDS = 4  # of parting and smoothing
_SMOOTHINGS = 8  # at the most in a round, until the edges stand
_STEPS_A_MOVE = 200  # that the walks smoothed on the way give each move of each node


def find_places(index: Whole, walks: Walks, num_codes: int) -> Minimised:
    """The nodes of codes (B, N): minimised, parted and smoothed until every move that was tried is clear."""
    found = minimise_and_split(index, walks, num_codes)
    dissolved = found.dissolved
    for round_ in range(_ROUNDS):
        view = smoothed_survey(walks, found.steps)
        steps = None if view is None else smooth(walks, view.next_node, view.sees)
        if view is None or steps is None:
            break
        found = replace(found, steps=steps)
        if round_ == _ROUNDS - 1 or not unclear(view).any():
            break
        found = minimise_and_split(steps, walks, view.num_nodes)
    found = _drop_unused(found)
    return replace(
        found, code_node=majority(index, found.steps, num_codes), real=index >= 0, dissolved=dissolved
    )


def smoothed_survey(walks: Walks, steps: Whole) -> Survey | None:
    """The nodes of `steps` (B, N) after smoothing on them until their edges stand; None if there are too many."""
    view = survey(walks, steps)
    some = _some_walks(walks, view.num_nodes)
    for _ in range(_SMOOTHINGS):
        placed = smooth(some, view.next_node, view.sees)
        if placed is None:
            return None
        before, view = view, survey(some, simplify(some, placed, dissolve=False))
        if np.array_equal(view.next_node, before.next_node):
            break
    return view


def unclear(view: Survey) -> Booleans:
    """(V, A): moves that were tried and lead nowhere clear."""
    return (view.next_node < 0) & ~never_taken(view.tries) & (view.tries > 0)


def _some_walks(walks: Walks, nodes: int) -> Walks:
    """The first walks that have enough steps between them: smoothing all of them in every round would take minutes."""
    enough = _STEPS_A_MOVE * nodes * walks.num_actions
    count = int(np.searchsorted(np.cumsum(walks.lengths), enough)) + 1
    if count >= walks.num_walks:
        return walks
    rows = slice(0, count)
    return replace(
        walks, observations=walks.observations[rows], actions=walks.actions[rows], lengths=walks.lengths[rows]
    )


def _drop_unused(found: Minimised) -> Minimised:
    """Nodes at which no step is are gone; the others are numbered on."""
    renumbered = found.steps.copy()
    renumbered[found.steps >= 0] = np.unique(found.steps[found.steps >= 0], return_inverse=True)[1]
    return replace(found, steps=renumbered)
