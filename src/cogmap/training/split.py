"""Hold out some walks for validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.records import Booleans, Integers, Walks

VALIDATION_WALKS = 64  # held out at most, and at most one in ten
VALIDATION_STEPS = 25_600  # more walks are held out where they are short, up to so many steps


@dataclass(frozen=True)
class DataSplit:
    """Walks for training and for validation, with the target to predict at each step."""

    training: Walks
    training_targets: Integers  # (B, N)
    validation: Walks
    validation_targets: Integers  # (B', N)


def split_walks(
    walks: Walks, targets: Integers, seed: int, rooms: Integers | None = None, hold_out: bool = True
) -> DataSplit:
    """Hold out a tenth of the walks, at most 64, or more short ones. A single walk is used for both.

    rooms: (B,), the room of each walk in a family. All walks of some rooms are then held out, because the model
        should work in new rooms.
    hold_out: if not, the validation walks are trained on as well.
    """
    rng = np.random.default_rng(seed)
    most = max(VALIDATION_WALKS, VALIDATION_STEPS // walks.num_steps)
    held_out = min(most, max(1, walks.num_walks // 10))
    if rooms is None or len(np.unique(rooms)) < 2:
        order = rng.permutation(walks.num_walks)
        validation, training = order[:held_out], order[held_out:] if walks.num_walks > 1 else order
    else:
        in_validation = _some_rooms(rooms, held_out, rng)
        validation = np.flatnonzero(in_validation)[:most]
        training = np.flatnonzero(~in_validation)
    validation, training = np.sort(validation), np.sort(training)
    if not hold_out:
        training = np.arange(walks.num_walks)
    return DataSplit(walks.rows(training), targets[training], walks.rows(validation), targets[validation])


def _some_rooms(rooms: Integers, least: int, rng: np.random.Generator) -> Booleans:
    """(B,): true for all walks of random rooms, as many as have `least` walks together, but never all rooms."""
    names, walks = np.unique(rooms, return_counts=True)
    order = rng.permutation(len(names))
    count = min(int(np.searchsorted(walks[order].cumsum(), least)) + 1, len(names) - 1)
    return np.isin(rooms, names[order[:count]])
