"""The record of a world with chance: sorted, checked, and a plain world to whoever wants one."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities, with_slip, with_start
from cogmap.environments.check import check_environment
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadWorld
from cogmap.records import ChanceWorld, TableWorld

MOVES = np.array([[[0.2, 0.8], [1.0, 0.0]], [[0.4, 0.6], [0.5, 0.5]]])  # (P, A, P)
SEEN = np.array([[0.9, 0.1], [0.4, 0.6]])
WORLD = from_probabilities(MOVES, SEEN, rewards=np.arange(8.0).reshape(2, 2, 2))


def test_moves_are_sorted_whatever_their_order():
    order = np.random.default_rng(0).permutation(WORLD.move_source.size)
    moves = ("move_source", "move_action", "move_target", "move_probability", "move_reward")
    shuffled = replace(WORLD, **{name: getattr(WORLD, name)[order] for name in moves})
    for name in moves:
        assert np.array_equal(getattr(shuffled, name), getattr(WORLD, name))
        assert not getattr(shuffled, name).flags.writeable
    assert (np.diff(WORLD.move_row) >= 0).all()


def test_the_likeliest_moves_and_observations_are_a_plain_world():
    assert isinstance(WORLD, TableWorld)
    assert WORLD.next_position.tolist() == [[1, 0], [1, 0]]
    assert WORLD.observation.tolist() == [0, 1]
    assert WORLD.move_reward.tolist() == [0, 1, 2, 4, 5, 6, 7]  # one move has no chance


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"move_probability": WORLD.move_probability * 0.9},
            "must sum to one for every position and action, got 0.9",
        ),
        (
            {"move_probability": np.r_[WORLD.move_probability[:-1], np.nan]},
            "`move_probability` must be finite",
        ),
        ({"move_probability": np.r_[1.2, -0.2, WORLD.move_probability[2:]]}, "must be above 0, got -0.2"),
        (
            {"move_probability": WORLD.move_probability[1:]},
            r"`move_probability` must have shape \(E,\) = \(7,\)",
        ),
        ({"move_reward": np.full(7, np.inf)}, "`move_reward` must be finite"),
        ({"move_target": np.r_[1, WORLD.move_target[1:]]}, r"must be given once, got \(0, 0, 1\) twice"),
        ({"move_target": WORLD.move_target + 1}, r"`move_target` must be in \[0, 2\), got 1 to 2"),
        ({"move_source": WORLD.move_source * 1.0}, "`move_source` must hold integers"),
        (
            {"next_position": np.zeros((2, 2), int)},
            "must be a likeliest target, it is not for position 0 and action 0",
        ),
        (
            {"observation": np.array([1, 1])},
            "`observation` must be a likeliest one, it is not for position 0",
        ),
        ({"observation_probability": SEEN * 1.1}, "`observation_probability` must sum to one, got 1.1"),
        (
            {"observation_probability": SEEN[:, :1]},
            r"`observation_probability` must have shape \(2, 2\), got \(2, 1\)",
        ),
        ({"start_probability": np.array([0.5, 0.6])}, "`start_probability` must sum to one, got 1.1"),
        ({"start_probability": np.array([1.5, -0.5])}, "`start_probability` must be 0 or more, got -0.5"),
        ({"start_probability": np.array([1.0])}, r"`start_probability` must have shape \(2,\), got \(1,\)"),
        ({"start_probability": np.array([np.nan, 1])}, "`start_probability` must be 0 or more, got nan"),
    ],
)
def test_contradictions_are_named(change, message):
    with pytest.raises(BadWorld, match=message):
        replace(WORLD, **change)


def test_a_position_without_a_move_is_named():
    few = {
        name: getattr(WORLD, name)[:-2]
        for name in ("move_source", "move_action", "move_target", "move_probability", "move_reward")
    }
    with pytest.raises(BadWorld, match=r"got 0\.0 for position 1 and action 1"):
        replace(WORLD, **few)


def test_tables_of_another_shape():
    with pytest.raises(BadWorld, match=r"`moves` must have shape \(P, A, P\), got \(2, 2\)"):
        from_probabilities(MOVES[0], SEEN)


@pytest.mark.parametrize("slip", [0.1, 0.95])
def test_worlds_that_slip_follow_the_rules_of_worlds(slip):
    for room in (AliasedRoom(4, 5), AliasedRoom(5, 5, bump="resample", walls=4)):
        world = with_slip(room, slip)
        check_environment(world)
        assert world.action_labels == room.action_labels
        assert np.array_equal(world.coordinates, room.coordinates)
    assert with_slip(room, 0) is room


def test_reachable_by_chance_is_reachable():
    """The likeliest moves alone never leave position 0."""
    world = from_probabilities([[[0.9, 0.1]], [[0.8, 0.2]]], [0, 1])
    assert world.next_position.tolist() == [[0], [0]]
    check_environment(world)
    with pytest.raises(BadWorld, match="no route leads from position 0 to position 1"):
        check_environment(from_probabilities([[[1.0, 0.0]], [[0.8, 0.2]]], [0, 1]))


def test_an_illegal_action_stays_for_sure():
    world = from_probabilities([[[0.5, 0.5], [0.8, 0.2]], [[1.0, 0], [1, 0]]], [0, 1])
    check_environment(world)
    legal = np.array([[True, False], [True, True]])
    with pytest.raises(
        BadWorld, match="an illegal action must stay in place, action 1 leads from position 0"
    ):
        check_environment(replace(world, legal=legal))


def test_a_start_leaves_the_rest_as_it_is():
    world = with_start(WORLD, 1)
    assert isinstance(world, ChanceWorld)
    assert world.start_probability.tolist() == [0, 1]
    assert np.array_equal(world.move_probability, WORLD.move_probability)
    room = with_start(AliasedRoom(4, 5, seed=2), 3)
    assert type(room) is TableWorld
    assert np.array_equal(room.observation, AliasedRoom(4, 5, seed=2).observation)
