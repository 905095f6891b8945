"""How often the next observation is foretold: TestAccu, and the same by step."""

from __future__ import annotations

import numpy as np

from cogmap.errors import BadWalks
from cogmap.records import Booleans, Floats, Integers, Walks


def next_observation_accuracy(predicted: Integers, walks: Walks) -> float:
    """TestAccu: the share of steps foretold; `predicted[b, n]` foretells `observations[b, n + 1]`."""
    right, asked = _right(predicted, walks)
    return float(right.sum() / asked.sum())


def accuracy_by_step(predicted: Integers, walks: Walks) -> Floats:
    """(N - 1,) at n, the share of walks whose observation n + 1 was foretold, of those that go on so long."""
    right, asked = _right(predicted, walks)
    return right.sum(axis=0) / asked.sum(axis=0)


def _right(predicted: Integers, walks: Walks) -> tuple[Booleans, Booleans]:
    """(B, N - 1) twice: where the prediction was right, and where there was one to make."""
    predicted = np.asarray(predicted)
    if predicted.shape != walks.actions.shape:
        raise BadWalks(
            f"`predicted` must have shape (B, N - 1) = {walks.actions.shape}, got {predicted.shape}"
        )
    asked = walks.step_mask()[:, 1:]
    return (predicted == walks.observations[:, 1:]) & asked, asked
