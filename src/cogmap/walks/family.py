"""Walks in many rooms of one family: which room each was taken in, and what a room of the family may show."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cogmap.errors import BadWalks
from cogmap.files import read_arrays, write_arrays
from cogmap.records import Integers, Walks
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
