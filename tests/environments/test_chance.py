"""The record of a world with chance: sorted, checked, and usable as a plain world."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities, look, take_step, with_slip, with_start
from cogmap.environments.check import check_environment
from cogmap.environments.oracle import equivalent_positions
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadWorld
from cogmap.planning.steppers import TableStepper
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


def test_steps_by_chance_have_their_frequencies():
    """Within five standard deviations of 4000 draws, 5 sqrt(p (1 - p) / 4000) < 0.04; the seed is fixed."""
    rng = np.random.default_rng(0)
    arrived = [take_step(WORLD, 1, 0, rng) for _ in range(4000)]
    seen = [look(WORLD, 1, rng) for _ in range(4000)]
    assert abs(np.mean(arrived) - 0.6) < 0.04
    assert abs(np.mean(seen) - 0.6) < 0.04
    room = AliasedRoom(4, 5)
    assert take_step(room, 7, 1, rng) == room.next_position[7, 1]
    assert look(room, 7, rng) == room.observation[7]


def test_a_stepper_sees_the_same_until_it_moves():
    stepper = TableStepper(WORLD, 1, np.random.default_rng(0))
    firsts = set()
    for _ in range(50):
        seen = stepper(0)
        assert {stepper.observation for _ in range(20)} == {seen}
        firsts.add((stepper.position, seen))
    assert firsts == {(0, 0), (0, 1), (1, 0), (1, 1)}


def by_all_futures(world, depth):
    """(P, ...): the probability of every sequence of observations for every sequence of actions of a length."""
    shown = (
        np.eye(world.num_observations)[world.observation]
        if world.observation_probability is None
        else world.observation_probability
    )
    table = np.zeros((world.num_positions, world.num_actions, world.num_positions))
    table[world.move_source, world.move_action, world.move_target] = world.move_probability
    futures = [shown]  # of (P,) and one more observation for each step
    for _ in range(depth):
        ahead = np.tensordot(table, futures[-1], axes=(2, 0)).reshape(world.num_positions, -1)
        futures.append((shown[:, :, None] * ahead[:, None]).reshape(world.num_positions, -1))
    return np.concatenate(futures, axis=1)


@pytest.mark.parametrize("seed", range(30))
def test_positions_that_no_actions_distinguish(seed):
    """Against the probabilities of all futures. Copies of positions, with their arrivals split, are alike."""
    rng = np.random.default_rng(seed)
    moves = rng.choice([0.0, 0.25, 0.5, 1.0], size=(3, 2, 3)) + 1e-3 * np.eye(3)[:, None]
    moves /= moves.sum(axis=2, keepdims=True)
    seen = np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]) if seed % 2 else np.array([0, 1, 1])
    copy = rng.integers(3)
    source = np.r_[0:3, copy]
    share = rng.random()
    wide = np.concatenate([moves, moves[:, :, [copy]] * share], axis=2)[source]
    wide[:, :, copy] *= 1 - share
    world = from_probabilities(wide, seen[source])
    group = equivalent_positions(world)
    futures = by_all_futures(world, 4)
    alike = np.abs(futures[:, None] - futures[None]).max(axis=2) < 1e-9
    # Lumped by moves: equal futures are necessary, and the copy is always found.
    assert alike[group[:, None] == group[None]].all()
    assert group[3] == group[copy]


def test_where_walks_have_their_own_starts_they_need_not_find_back():
    one_way = TableWorld(np.array([[1], [1]]), np.array([0, 1]), 2)
    with pytest.raises(BadWorld, match="no route leads from position 1 to position 0"):
        check_environment(one_way)
    check_environment(with_start(one_way, 0))
    with pytest.raises(BadWorld, match="reachable from where walks start, no route leads to position 0"):
        check_environment(with_start(one_way, 1))
