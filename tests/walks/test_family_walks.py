"""Walks in many rooms: which room each was taken in, and how many observations a room has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import room_families
from cogmap.errors import BadWalks
from cogmap.records import Walks
from cogmap.walks.family import observations_in_a_room, room_of_each_walk, save_family_walks
from cogmap.walks.sample import sample_family_walks
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.truth_store import save_truth


def some_walks() -> tuple[Walks, np.ndarray]:
    walks = Walks(
        np.array([[0, 1, 0], [1, 2, 1], [5, 4, 3]], dtype=np.int32),
        np.zeros((3, 2), dtype=np.int32),
        np.array([3, 3, 2], dtype=np.int32),
        8,
        1,
    )
    return walks, np.array([4, 4, 9], dtype=np.int32)


def test_rooms_come_back_with_their_walks(tmp_path: Path) -> None:
    walks, rooms = some_walks()
    save_family_walks(tmp_path / "family.npz", walks, rooms)
    np.testing.assert_array_equal(room_of_each_walk(tmp_path / "family.npz"), rooms)
    assert load_walks(tmp_path / "family.npz").num_observations == 8


def test_rooms_are_found_in_the_truth_where_the_walks_do_not_have_them(tmp_path: Path) -> None:
    base = AliasedRoom(height=4, width=5, observations=3, patch=2, seed=0)
    train, _ = room_families(10, 5, base, 8)
    walks, truth, rooms = sample_family_walks(train, 6, 20, np.random.default_rng(0))
    save_walks(tmp_path / "walks.csv", walks)
    assert room_of_each_walk(tmp_path / "walks.csv") is None
    save_truth(tmp_path / "walks.csv", truth, rooms)
    np.testing.assert_array_equal(room_of_each_walk(tmp_path / "walks.csv"), rooms)


def test_a_room_has_as_many_observations_as_its_walks_show_together() -> None:
    walks, rooms = some_walks()
    # 0, 1 and 2 in room 4; the last step of walk 2 is padding.
    assert observations_in_a_room(walks, rooms) == 3
    assert observations_in_a_room(walks, np.array([1, 2, 3], dtype=np.int32)) == 2
    with pytest.raises(BadWalks, match=r"`rooms` must have shape \(B,\) = \(3,\), got \(2,\)"):
        observations_in_a_room(walks, rooms[:2])
