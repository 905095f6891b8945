"""Sampling: every step follows the world's table, every legal action is as likely, truth and walks agree."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import room_families
from cogmap.errors import BadWalks
from cogmap.records import TableWorld
from cogmap.walks import sample
from cogmap.walks.sample import sample_family_walks, sample_walks

# Three places in a one-way circle; from 1 the only legal action is 2, from 2 there are two.
ONE_WAY = TableWorld(
    next_position=np.array([[1, 1, 1], [0, 0, 2], [0, 2, 0]]),
    observation=np.array([0, 0, 1]),
    num_observations=2,
    legal=np.array([[1, 1, 1], [0, 0, 1], [1, 0, 1]], dtype=bool),
)


def follows(walks, truth):
    """Whether each position is where the table leads from the one before."""
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    return (truth.world.next_position[here, walks.actions] == there).all()


@pytest.mark.parametrize(
    "world",
    [ONE_WAY, AliasedRoom(5, 7, patch=2), AliasedRoom(5, 7, patch=2, bump="resample")],
    ids=["one-way", "stay", "resample"],
)
@pytest.mark.parametrize("max_ways", [0, sample.MAX_WAYS], ids=["by rank", "by table"])
def test_walks_follow_the_world(monkeypatch, world, max_ways):
    monkeypatch.setattr(sample, "MAX_WAYS", max_ways)
    walks, truth = sample_walks(world, 50, 30, np.random.default_rng(0))
    assert walks.observations.shape == (50, 30)
    assert walks.actions.shape == (50, 29)
    assert follows(walks, truth)
    assert (walks.observations == world.observation[truth.positions]).all()
    assert world.legal_actions()[truth.positions[:, :-1], walks.actions].all()
    assert walks.num_observations == world.num_observations
    assert walks.action_labels == world.action_labels


@pytest.mark.parametrize("max_ways", [0, sample.MAX_WAYS], ids=["by rank", "by table"])
def test_starts_and_legal_actions_are_uniform(monkeypatch, max_ways):
    monkeypatch.setattr(sample, "MAX_WAYS", max_ways)
    walks, truth = sample_walks(ONE_WAY, 60_000, 2, np.random.default_rng(1))
    start, action = truth.positions[:, 0], walks.actions[:, 0]
    counts = np.zeros((3, 3))
    np.add.at(counts, (start, action), 1)
    expected = 20_000 * np.array([[1 / 3, 1 / 3, 1 / 3], [0, 0, 1], [1 / 2, 0, 1 / 2]])
    assert np.abs(counts - expected).max() < 5 * np.sqrt(20_000)


def test_the_same_generator_gives_the_same_walks():
    first, _ = sample_walks(ONE_WAY, 8, 20, np.random.default_rng(3))
    again, _ = sample_walks(ONE_WAY, 8, 20, np.random.default_rng(3))
    other, _ = sample_walks(ONE_WAY, 8, 20, np.random.default_rng(4))
    assert (first.actions == again.actions).all()
    assert (first.observations == again.observations).all()
    assert (first.actions != other.actions).any()


def test_rows_of_a_walk_lie_together_in_memory():
    walks, truth = sample_walks(ONE_WAY, 8, 20, np.random.default_rng(0))
    assert walks.observations.flags.c_contiguous
    assert walks.actions.flags.c_contiguous
    assert truth.positions.flags.c_contiguous


def test_family_walks_show_the_colours_of_their_rooms():
    family, _ = room_families(train_rooms=20, test_rooms=1)
    walks, truth, rooms = sample_family_walks(family, 200, 15, np.random.default_rng(0))
    assert set(rooms) == set(range(20))
    assert walks.num_observations == family.num_colours == 30
    assert follows(walks, truth)
    for walk, room in enumerate(rooms):
        seen = family.room(int(room)).observation[truth.positions[walk]]
        assert (walks.observations[walk] == seen).all()


@pytest.mark.parametrize(
    ("walks", "steps", "message"),
    [
        (0, 5, r"`walks` \(=0\) must be at least 1"),
        (3, 1, r"`steps` \(=1\) must be at least 2, because a walk needs an action"),
    ],
)
def test_too_little_is_refused(walks, steps, message):
    with pytest.raises(BadWalks, match=message):
        sample_walks(ONE_WAY, walks, steps, np.random.default_rng(0))


def test_records_are_read_only_and_never_share_memory_that_others_can_write():
    walks, truth = sample_walks(ONE_WAY, 3, 5, np.random.default_rng(0))
    for array in (walks.observations, walks.actions, truth.positions):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    mine = np.zeros((3, 5), dtype=np.int32)
    view = mine[:]
    view.flags.writeable = False
    for given in (mine, view):
        record = replace(walks, observations=given)
        mine[0, 0] = 1
        assert record.observations[0, 0] == 0
        mine[0, 0] = 0
