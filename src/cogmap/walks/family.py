"""Walks in many rooms of one family: the room of each walk, and targets that mean the same in every room.

Training "in base" (section 4.5): the target at n is k if x_n is the k-th lowest of the distinct observations in
x_0, ..., x_n. Ours count from 0. Until all of the room's observations are seen, one target may mean different
observations along a walk. A batch lane that starts in the middle of a walk has seen nothing yet: its targets are ranks
among what the lane itself has seen, so they are computed for each window.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.errors import BadWalks
from cogmap.files import read_arrays, write_arrays
from cogmap.records import Booleans, Integers, Walks
from cogmap.walks.batches import Window, WindowSampler, lane_numbers
from cogmap.walks.npz import arrays_from_walks, integer_array
from cogmap.walks.store import prefix_errors
from cogmap.walks.truth_store import truth_path


def save_family_walks(path: str | Path, walks: Walks, rooms: Integers) -> None:
    """Write a walks file (.npz) with the room of each walk, `rooms` (B,)."""
    write_arrays(path, {**arrays_from_walks(walks), "rooms": rooms})


def room_of_each_walk(path: str | Path) -> Integers | None:
    """(B,): the room of each walk, from `rooms` in the walks file or in its truth; None if neither has it."""
    for file in (Path(path), truth_path(path)):
        if file.suffix == ".npz" and file.is_file():
            arrays = read_arrays(file, BadWalks)
            if "rooms" in arrays:
                with prefix_errors(file):
                    rooms = integer_array(arrays, "rooms", 1)
                    if rooms.size and not -(2**31) <= int(rooms.min()) <= int(rooms.max()) < 2**31:
                        raise BadWalks(
                            f"`rooms` must fit 32-bit integers, got {rooms.min()} to {rooms.max()}"
                        )
                    return rooms.astype(np.int32)
    return None


def observations_in_a_room(walks: Walks, rooms: Integers) -> int:
    """The largest number of distinct observations in one room: the O of the family."""
    check_rooms(walks, rooms)
    mask = walks.step_mask()
    room = np.broadcast_to(rooms[:, None], mask.shape)[mask].astype(np.int64)
    shown = np.unique(room * walks.num_observations + walks.observations[mask])
    return int(np.unique(shown // walks.num_observations, return_counts=True)[1].max())


def check_rooms(walks: Walks, rooms: Integers) -> None:
    """Every walk must have its room."""
    if rooms.shape != (walks.num_walks,):
        raise BadWalks(f"`rooms` must have shape (B,) = {(walks.num_walks,)}, got {rooms.shape}")


def base_targets(walks: Walks) -> Integers:
    """(B, N): the number of distinct observations below x_n seen by step n; 0 after the end of a walk."""
    steps = np.arange(walks.num_steps)  # (N,)
    targets = np.zeros(walks.observations.shape, dtype=np.int32)
    mask = walks.step_mask()
    for observation in np.unique(walks.observations[mask]):
        is_seen = (walks.observations == observation) & mask  # (B, N)
        first = np.where(is_seen.any(axis=1), is_seen.argmax(axis=1), walks.num_steps)  # (B,)
        targets += (first[:, None] <= steps) & (walks.observations > observation)
    return np.where(mask, targets, 0)


def ranks_so_far(observations: Integers, before: Booleans) -> tuple[Integers, Booleans]:
    """Ranks (B, N) and seen sets (B, N, O): x_n's rank is the number of observations below it seen by step n.

    before: (B, O), the observations seen before the first step.
    """
    every = np.arange(before.shape[1])  # (O,)
    seen = np.maximum.accumulate(observations[:, :, None] == every, axis=1) | before[:, None]  # (B, N, O)
    below = seen & (every < observations[:, :, None])
    return below.sum(axis=2).astype(np.int32), seen


def observations_of_ranks(ranks: Integers, seen: Booleans) -> Integers:
    """(R,): the observations with these ranks (R,) among those seen (R, O); -1 for a rank not seen yet."""
    rank = np.cumsum(seen, axis=1) - 1  # (R, O)
    found = seen & (rank == ranks[:, None])
    return np.where(found.any(axis=1), found.argmax(axis=1), -1).astype(np.int32)


class InBaseSampler(WindowSampler):
    """A `WindowSampler` whose targets are ranks among what each lane has seen since its last fresh start."""

    _seen: Booleans | None = None  # (B, O)

    def state(self) -> dict[str, Any]:
        seen = [] if self._seen is None else [np.flatnonzero(row).tolist() for row in self._seen]
        return super().state() | {"seen": seen}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._seen = None
        if state["seen"]:
            lanes, sees = len(self._walk), self.walks.num_observations
            if not isinstance(state["seen"], list) or len(state["seen"]) != lanes:
                raise ValueError(f"`seen` must be a list of {lanes} lists, one a lane")
            self._seen = np.zeros((lanes, sees), dtype=bool)
            for lane, seen in enumerate(state["seen"]):
                self._seen[lane, lane_numbers("seen", seen, None, sees)] = True

    def _cut(self, fresh: Booleans) -> Window:
        window = super()._cut(fresh)
        before = np.zeros((len(fresh), self.walks.num_observations), dtype=bool)
        if self._seen is not None:
            before[~fresh] = self._seen[~fresh]
        ranks, seen_by = ranks_so_far(self._ahead(), before)
        self._seen = seen_by[:, self.steps - 1]
        return replace(window, targets=np.where(window.known, ranks[:, 1:], 0).astype(np.int32))

    def _ahead(self) -> Integers:
        """(B, T + S): the observations of the window and of the steps that its heads predict."""
        steps = self._start[:, None] + np.arange(self.steps + self.ahead)
        return self._observed(self._walk[:, None], np.minimum(steps, self.walks.num_steps - 1))
