"""Hold out some walks for validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.errors import BadWalks
from cogmap.records import Booleans, Integers, Walks
from cogmap.walks.cut import FEW_WALKS, cut_walks
from cogmap.walks.log import WalkLog

VALIDATION_WALKS = 64  # held out at most, and at most one in ten
VALIDATION_STEPS = 25_600  # more walks are held out where they are short, up to so many steps
VALIDATION_LOGITS = 1 << 29  # scores of targets at most: with a vocabulary of words, fewer walks are held out

LONGEST_JUDGED = 4_096  # steps of a held-out walk of a log; it may be as long as the log


@dataclass(frozen=True)
class DataSplit:
    """Walks for training and for validation, with the target to predict at each step."""

    training: Walks
    training_targets: Integers | None  # (B, N); None is the observations themselves
    validation: Walks
    validation_targets: Integers  # (B', N)


def split_walks(
    walks: Walks,
    targets: Integers | None,
    seed: int,
    rooms: Integers | None = None,
    hold_out: bool = True,
) -> DataSplit:
    """Hold out a tenth of the walks, at most 64, or more short ones. Of fewer than ten walks the last tenth of each.

    A single walk that is too short to be cut is used for both.

    targets: (B, N), what to predict at each step; None is the observations themselves.
    rooms: (B,), the room of each walk in a family. All walks of some rooms are then held out, because the model
        should work in new rooms.
    hold_out: if not, the validation walks are trained on as well.
    """
    may_cut = hold_out and rooms is None and walks.num_walks < FEW_WALKS and not isinstance(walks, WalkLog)
    cut = cut_walks(walks) if may_cut else None
    if cut is not None:
        targets = walks.observations if targets is None else targets
        return DataSplit(cut.first, cut.of_first(targets), cut.rest, cut.of_rest(targets))
    rng = np.random.default_rng(seed)
    most = max(VALIDATION_WALKS, VALIDATION_STEPS // walks.num_steps)
    scores = walks.num_observations * min(float(walks.lengths.mean()), LONGEST_JUDGED)  # of a walk
    most = min(most, max(1, int(VALIDATION_LOGITS / scores)))
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
    if isinstance(walks, WalkLog):
        if targets is not None:
            raise BadWalks(
                "walks that are far too unequal to be padded must be trained on their observations"
            )
        few = (
            walks.only(validation)
            .first_steps(max(VALIDATION_STEPS // held_out, LONGEST_JUDGED))
            .rows(slice(None))
        )
        return DataSplit(walks.only(training), None, few, few.observations)
    targets = walks.observations if targets is None else targets
    return DataSplit(walks.rows(training), targets[training], walks.rows(validation), targets[validation])


def _some_rooms(rooms: Integers, least: int, rng: np.random.Generator) -> Booleans:
    """(B,): true for all walks of random rooms, as many as have `least` walks together, but never all rooms."""
    names, walks = np.unique(rooms, return_counts=True)
    order = rng.permutation(len(names))
    count = min(int(np.searchsorted(walks[order].cumsum(), least)) + 1, len(names) - 1)
    return np.isin(rooms, names[order[:count]])
