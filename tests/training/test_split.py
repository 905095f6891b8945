"""With walks from many rooms, whole rooms are held out."""

from __future__ import annotations

import numpy as np

from cogmap.records import Walks
from cogmap.training.split import VALIDATION_STEPS, VALIDATION_WALKS, split_walks


def split(rooms: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The walks (by number) for training and those held out."""
    count = len(rooms)
    numbers = np.tile(np.arange(count)[:, None], (1, 3))
    walks = Walks(numbers, np.zeros((count, 2), dtype=np.int32), np.full(count, 3), count, 1)
    data = split_walks(walks, numbers, seed, rooms)
    np.testing.assert_array_equal(data.training_targets, data.training.observations)
    return data.training.observations[:, 0], data.validation.observations[:, 0]


def test_no_room_is_in_both_training_and_validation() -> None:
    rooms = np.random.default_rng(0).integers(30, size=200).astype(np.int32)
    training, validation = split(rooms)
    assert not set(rooms[training]) & set(rooms[validation])
    assert 20 <= len(validation) <= VALIDATION_WALKS
    assert len(np.unique(rooms[training])) + len(np.unique(rooms[validation])) == len(np.unique(rooms))


def test_one_of_two_rooms_stays_to_learn_from() -> None:
    rooms = np.array([5] * 9 + [7], dtype=np.int32)
    for seed in range(4):
        training, validation = split(rooms, seed)
        assert len(training)
        assert len(validation)


def test_walks_that_are_not_held_out_are_trained_on() -> None:
    walks = Walks(np.zeros((50, 3), int), np.zeros((50, 2), int), np.full(50, 3), 1, 1)
    data = split_walks(walks, walks.observations, seed=0, hold_out=False)
    assert (data.training.num_walks, data.validation.num_walks) == (50, 5)


def test_rooms_of_one_name_are_split_by_walks() -> None:
    training, validation = split(np.zeros(50, dtype=np.int32))
    assert (len(training), len(validation)) == (45, 5)


def test_more_walks_are_held_out_where_they_are_short() -> None:
    def held_out(walks: int, steps: int) -> int:
        seen = np.zeros((walks, steps), dtype=np.int32)
        log = Walks(seen, seen[:, :-1], np.full(walks, steps), 1, 1)
        return split_walks(log, seen, 0).validation.num_walks

    assert held_out(2048, 400) == held_out(2048, 4000) == 64
    assert held_out(3333, 60) == 333
    assert held_out(100_000, 60) == VALIDATION_STEPS // 60
    assert held_out(64, 200) == 6


def test_with_very_many_words_fewer_walks_are_held_out() -> None:
    """Each step of them scores every word."""
    for words, held_out in ((1000, 70), (200_000, 26), (2_000_000, 2)):
        walks = Walks(np.zeros((700, 100), int), np.zeros((700, 99), int), np.full(700, 100), words, 1)
        assert split_walks(walks, None, seed=0).validation.num_walks == held_out
