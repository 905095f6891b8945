"""Which actions there are: on a page without a button it is not pressed, however many sessions there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Booleans, Floats, Walks

WRONG = 0.02  # of the expected tries of an action: fewer are steps at wrong states


def offered_actions(walks: Walks) -> Booleans:
    """(O, A) actions that there are at an observation: taken there, or too seldom expected to be missed."""
    tries = np.zeros((walks.num_observations, walks.num_actions))
    made = walks.step_mask()[:, 1:]
    np.add.at(tries, (walks.observations[:, :-1][made], walks.actions[made]), 1)
    return ~missing_actions(tries)


def missing_actions(tries: Floats) -> NDArray[np.bool_]:
    """Where an action was expected at least ten times in a row (n, A) of tries, and less than half a one counted."""
    share = tries.sum(axis=0) / max(tries.sum(), 1e-9)
    expected = tries.sum(axis=1, keepdims=True) * share
    return np.asarray((expected >= 10) & (tries < np.maximum(0.5, WRONG * expected)))
