from math import perm

import numpy as np
import pytest

from cogmap.environments import AliasedRoom, RoomFamily, restricted_families, room_families
from cogmap.environments.room_family import default_base
from cogmap.errors import BadWorld
from cogmap.walks.sample import sample_walks


def rows(family):
    return {tuple(row) for row in family.colours.tolist()}


def small_base(sets=3):
    return AliasedRoom(2, 4, sets, patch=0)


def test_the_paper_family():
    train, test = room_families()
    assert (len(train), train.num_colours) == (10_000, 30)
    assert train.base is test.base
    assert (train.base.height, train.base.width, train.base.patch) == (6, 8, 3)
    assert len(rows(train)) == len(train)
    assert not rows(train) & rows(test)
    assert len(train) / perm(30, 4) < 0.0153  # the paper's footnote: at most 1.52 % of all rooms


def test_a_room_preserves_the_partition():
    train, _ = room_families(50, 5)
    for index in (0, 17, 49):
        room = train.room(index)
        assert room.num_observations == 30
        same_set = train.partition[:, None] == train.partition
        assert np.array_equal(room.observation[:, None] == room.observation, same_set)
        assert np.array_equal(room.observation, [train.colours[index, set_] for set_ in train.partition])


def test_train_and_test_can_use_up_every_room():
    """3 sets of 4 colours: 24 injective maps, each exactly once."""
    train, test = room_families(20, 4, base=small_base(), num_colours=4)
    assert len(rows(train) | rows(test)) == 24


def test_rooms_are_drawn_evenly():
    """Each of 24 rooms is in half of the draws, within five standard deviations."""
    drawn = [
        rows(room_families(12, 1, base=small_base(), num_colours=4, seed=seed)[0]) for seed in range(400)
    ]
    times = np.array([sum(room in rooms for rooms in drawn) for room in set().union(*drawn)])
    assert times.size == 24
    assert np.abs(times - 200).max() < 5 * np.sqrt(400 * 0.5 * 0.5)


def test_the_rule_on_the_papers_own_examples():
    """Appendix: the first mapping breaks R at i_1 = 1, the second at i_3 = 3."""
    family = RoomFamily(
        default_base(), np.array([[5, 13, 20, 8], [20, 2, 15, 11], [2, 1, 4, 3], [1, 2, 3, 4]]), 30
    )
    assert family.breaks().tolist() == [1, 1, 0, 4]


def test_restricted_families():
    families = restricted_families()
    broken = {name: set(family.breaks().tolist()) for name, family in families.items()}
    assert broken == {"train": {0}, "A": {0}, "B": {1}, "C": {2}, "D": {4}}
    assert len(families["train"]) == 5000
    assert not rows(families["train"]) & rows(families["A"])
    assert (np.diff(families["D"].colours, axis=1) > 0).all()
    orders = {tuple(order) for order in np.argsort(families["train"].colours, axis=1).tolist()}
    assert len(orders) == 9  # all derangements of four


def test_paint_is_what_would_be_seen_in_the_rooms():
    train, _ = room_families(100, 5)
    rng = np.random.default_rng(0)
    walks, truth = sample_walks(train.base, 40, 30, rng)
    rooms = rng.integers(len(train), size=40)
    painted = train.paint(walks, rooms)
    assert painted.num_observations == 30
    assert np.array_equal(painted.actions, walks.actions)
    for walk in range(40):
        seen = train.room(rooms[walk]).observation[truth.positions[walk]]
        assert np.array_equal(painted.observations[walk], seen)


def test_paint_leaves_padding_alone():
    from dataclasses import replace

    train, _ = room_families(10, 5)
    walks, _ = sample_walks(train.base, 2, 6, np.random.default_rng(0))
    short = replace(walks, lengths=np.array([6, 3]))
    assert (train.paint(short, np.array([1, 2])).observations[1, 3:] == 0).all()


def test_bump_rule_reaches_the_rooms():
    base = default_base(bump="resample")
    train, _ = room_families(5, 5, base=base)
    assert np.array_equal(train.room(0).legal, base.legal)


def test_bad_families():
    base = small_base()
    with pytest.raises(BadWorld, match=r"from 1 to all possible rooms \(=24\), got \[20, 5\]"):
        room_families(20, 5, base=base, num_colours=4)
    with pytest.raises(BadWorld, match=r"from 1 to all possible rooms \(=0\)"):
        room_families(1, 1, base=base, num_colours=2)
    with pytest.raises(BadWorld, match="must differ within a room"):
        RoomFamily(base, np.array([[1, 1, 2]]), 30)
    with pytest.raises(BadWorld, match=r"`colours` must be in \[0, 30\), got 1 to 30"):
        RoomFamily(base, np.array([[1, 30, 2]]), 30)
    with pytest.raises(BadWorld, match=r"shape \(R, O\) with O = 3, got \(1, 2\)"):
        RoomFamily(base, np.array([[1, 2]]), 30)
    with pytest.raises(BadWorld, match="at most 8 sets, got 9"):
        room_families(2, 2, base=AliasedRoom(6, 8, 9))
    train, _ = room_families(5, 5)
    with pytest.raises(BadWorld, match=r"`index` must be in \[0, 5\), got 5"):
        train.room(5)
    walks, _ = sample_walks(train.base, 2, 5, np.random.default_rng(0))
    with pytest.raises(BadWorld, match=r"`rooms` must be in \[0, 5\), got 0 to 5"):
        train.paint(walks, np.array([0, 5]))
    with pytest.raises(BadWorld, match=r"`rooms` must have shape \(B,\) = \(2,\), got \(3,\)"):
        train.paint(walks, np.array([0, 1, 2]))
    with pytest.raises(BadWorld, match="must show the 4 sets of the partition, got 30"):
        train.paint(train.paint(walks, np.array([0, 1])), np.array([0, 1]))
