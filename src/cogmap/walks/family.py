"""Walks in many rooms of one family: the room of each walk, and targets that mean the same in every room.

Training "in base" (section 4.5): the target at n is k where x_n is the k-th lowest of the distinct observations seen in
x_0, ..., x_n. Ours count from 0. One target may stand for different observations along a walk, until all of the room's
are seen. A batch lane that starts in the middle of a walk has seen nothing yet: its targets rank what the lane has seen
and not what the walk showed before, so they are computed here and not looked up.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.errors import BadWalks
from cogmap.files import read_arrays, write_arrays
from cogmap.records import Booleans, Integers, Walks
from cogmap.walks.batches import Window, WindowSampler
from cogmap.walks.npz import arrays_from_walks, integer_array
from cogmap.walks.store import naming
from cogmap.walks.truth_store import truth_path


def save_family_walks(path: str | Path, walks: Walks, rooms: Integers) -> None:
    """A walks file (.npz) with the room of each walk, `rooms` (B,)."""
    write_arrays(path, {**arrays_from_walks(walks), "rooms": rooms})


def room_of_each_walk(path: str | Path) -> Integers | None:
    """(B,): the room of each of the walks in a file, by its `rooms` or its truth's; None where neither has them."""
    for file in (Path(path), truth_path(path)):
        if file.suffix == ".npz" and file.is_file():
            arrays = read_arrays(file, BadWalks)
            if "rooms" in arrays:
                with naming(file):
                    return integer_array(arrays, "rooms", 1).astype(np.int32)
    return None


def observations_in_a_room(walks: Walks, rooms: Integers) -> int:
    """The most different observations that the walks of one room show: the O of the family."""
    if rooms.shape != (walks.num_walks,):
        raise BadWalks(f"`rooms` must have shape (B,) = {(walks.num_walks,)}, got {rooms.shape}")
    mask = walks.step_mask()
    room = np.broadcast_to(rooms[:, None], mask.shape)[mask].astype(np.int64)
    shown = np.unique(room * walks.num_observations + walks.observations[mask])
    return int(np.unique(shown // walks.num_observations, return_counts=True)[1].max())


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


class BaseSampler(WindowSampler):
    """A `WindowSampler` whose lanes remember which observations they have met since they last started afresh."""

    _seen: Booleans | None = None  # (B, O)

    def state(self) -> dict[str, Any]:
        seen = [] if self._seen is None else [np.flatnonzero(row).tolist() for row in self._seen]
        return super().state() | {"seen": seen}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._seen = None
        if state["seen"]:
            self._seen = np.zeros((len(state["seen"]), self.walks.num_observations), dtype=bool)
            for lane, met in enumerate(state["seen"]):
                self._seen[lane, met] = True

    def _cut(self, fresh: Booleans) -> Window:
        window = super()._cut(fresh)
        before = np.zeros((len(fresh), self.walks.num_observations), dtype=bool)
        if self._seen is not None:
            before[~fresh] = self._seen[~fresh]
        ranks, seen_by = ranks_so_far(self._observed(), before)
        self._seen = seen_by[:, self.steps - 1]
        return replace(window, targets=np.where(window.known, ranks[:, 1:], 0).astype(np.int32))

    def _observed(self) -> Integers:
        """(B, T + S): the window's observations and those that its heads look ahead to."""
        steps = self._start[:, None] + np.arange(self.steps + self.ahead)
        return self.walks.observations[self._walk[:, None], np.minimum(steps, self.walks.num_steps - 1)]
