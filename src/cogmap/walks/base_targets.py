"""Training "in base" (section 4.5): targets that mean the same in every room of a family.

The target at n is k where x_n is the k-th lowest of the distinct observations seen in x_0, ..., x_n. Ours
count from 0. One target may stand for different observations along a walk, until all of the room's are seen.
"""

from __future__ import annotations

import numpy as np

from cogmap.records import Booleans, Integers, Walks


def base_targets(walks: Walks) -> Integers:
    """(B, N): how many distinct observations below x_n have been seen by step n; 0 past a walk's length."""
    steps = np.arange(walks.num_steps)  # (N,)
    targets = np.zeros(walks.observations.shape, dtype=np.int32)
    mask = walks.step_mask()
    for observation in np.unique(walks.observations[mask]):
        is_seen = (walks.observations == observation) & mask  # (B, N)
        first = np.where(is_seen.any(axis=1), is_seen.argmax(axis=1), walks.num_steps)  # (B,)
        targets += (first[:, None] <= steps) & (walks.observations > observation)
    return np.where(mask, targets, 0)


def ranks_so_far(observations: Integers, before: Booleans) -> tuple[Integers, Booleans]:
    """How many distinct observations below x_n were met by step n (B, N), and all that were met by then (B, N, O).

    `before` (B, O) says what was met before the first step.
    """
    kinds = np.arange(before.shape[1])
    met = np.maximum.accumulate(observations[:, :, None] == kinds, axis=1) | before[:, None]  # (B, N, O)
    below = met & (kinds < observations[:, :, None])
    return below.sum(axis=2).astype(np.int32), met


def as_observations(targets: Integers, met: Booleans) -> Integers:
    """What targets (R,) stand for, if it is something met before: `met` (R, O). -1 where it would have to be new."""
    rank = np.cumsum(met, axis=1) - 1  # (R, O)
    found = met & (rank == targets[:, None])
    return np.where(found.any(axis=1), found.argmax(axis=1), -1).astype(np.int32)
