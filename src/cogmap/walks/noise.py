"""Observation noise: the paper replaces 10 % of the training observations by random ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cogmap.errors import BadWalks
from cogmap.records import Walks


def add_noise(walks: Walks, share: float, rng: np.random.Generator) -> Walks:
    """Walks in which each observation is replaced, with probability `share`, by a uniformly random one.

    The random one may happen to be the one replaced. Actions, lengths and padding stay as they are.
    """
    if not 0 <= share <= 1:
        raise BadWalks(f"`share` of noise must be in [0, 1], got {share}")
    replaced = (rng.random(walks.observations.shape) < share) & walks.step_mask()  # (B, N)
    random = rng.integers(walks.num_observations, size=walks.observations.shape, dtype=np.int32)
    return replace(walks, observations=np.where(replaced, random, walks.observations))
