"""Slips, repeated actions, known starts and worlds with chance: frequencies against what they should be.

A count of n independent events of probability p differs from n p by more than five standard deviations, 5 sqrt(n p
(1 - p)), once in two million times. Seeds are fixed, so that a test that holds once holds always; the limit says that
it held by right and not by luck.
"""

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities, with_slip, with_start
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadWalks, BadWorld
from cogmap.records import ChanceWorld, TableWorld
from cogmap.walks.sample import Agent, sample_walks

# From 1 the only legal action is 2; one-way all around.
ONE_WAY = TableWorld(
    next_position=np.array([[1, 1, 2], [1, 1, 2], [0, 2, 0]]),
    observation=np.array([0, 0, 1]),
    num_observations=2,
    legal=np.array([[1, 1, 1], [0, 0, 1], [1, 0, 1]], dtype=bool),
)
MOVES = np.array(
    [[[0.2, 0.8, 0.0], [1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0], [0.3, 0.3, 0.4]], [[0.5, 0.5, 0], [0, 0, 1]]]
)
SEEN = np.array([[0.9, 0.1], [0.4, 0.6], [0.0, 1.0]])


def assert_frequencies(times, expected):
    """times: how often each outcome (..., K) came. expected: the probabilities (..., K)."""
    total = times.sum(axis=-1, keepdims=True)
    assert (times[expected == 0] == 0).all()
    assert (np.abs(times - total * expected) <= 5 * np.sqrt(total * expected * (1 - expected)) + 1e-9).all()


def counts(shape, *columns):
    times = np.zeros(shape)
    np.add.at(times, tuple(np.ravel(column) for column in columns), 1)
    return times


def slip_by_hand(world, slip):
    """(P, A, P) by a triple loop."""
    places, actions = world.next_position.shape
    table = np.zeros((places, actions, places))
    legal = world.legal_actions()
    for here in range(places):
        for intended in range(actions):
            if not legal[here, intended]:
                table[here, intended, here if world.legal is not None else -1] += 1
                continue
            table[here, intended, world.next_position[here, intended]] += 1 - slip
            for made in np.flatnonzero(legal[here]):
                table[here, intended, world.next_position[here, made]] += slip / legal[here].sum()
    return table


def dense(world):
    table = np.zeros((world.num_positions, world.num_actions, world.num_positions))
    table[world.move_source, world.move_action, world.move_target] = world.move_probability
    return table


STAYING = TableWorld(  # as ONE_WAY, with illegal actions that stay in place
    next_position=np.where(ONE_WAY.legal, ONE_WAY.next_position, np.arange(3)[:, None]),
    observation=ONE_WAY.observation,
    num_observations=2,
    legal=ONE_WAY.legal,
)


@pytest.mark.parametrize("world", [STAYING, AliasedRoom(4, 5), AliasedRoom(4, 5, bump="resample", walls=3)])
@pytest.mark.parametrize("slip", [0.2, 0.9, 1.0])
def test_slip_by_hand(world, slip):
    assert np.allclose(dense(with_slip(world, slip)), slip_by_hand(world, slip), atol=1e-12)


def test_slips_come_one_on_top_of_the_other():
    world = with_slip(with_slip(STAYING, 0.3), 0.5)
    first = slip_by_hand(STAYING, 0.3)
    expected = 0.5 * first
    for here in range(3):
        legal = STAYING.legal[here]
        expected[here, legal] += 0.5 * first[here, legal].mean(axis=0)
        expected[here, ~legal] *= 2
    assert np.allclose(dense(world), expected, atol=1e-12)


def test_a_slip_makes_a_random_move_and_the_log_keeps_the_intended_action():
    walks, truth = sample_walks(STAYING, 400, 300, np.random.default_rng(0), Agent(slip=0.3))
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    legal = STAYING.legal
    assert legal[here, walks.actions].all()
    assert_frequencies(
        counts((3, 3, 3), here, walks.actions, there)[legal], slip_by_hand(STAYING, 0.3)[legal]
    )
    assert_frequencies(counts((3, 3), here, walks.actions), legal / legal.sum(axis=1, keepdims=True))
    assert (walks.observations == STAYING.observation[truth.positions]).all()
    assert isinstance(truth.world, ChanceWorld)
    assert np.array_equal(truth.world.next_position, STAYING.next_position)  # the likeliest moves


@pytest.mark.parametrize("world", [AliasedRoom(4, 5), STAYING], ids=["all legal", "some legal"])
def test_a_sticky_agent_repeats_its_last_action_where_it_may(world):
    walks, truth = sample_walks(world, 400, 300, np.random.default_rng(1), Agent(sticky=0.6))
    last, action, here = walks.actions[:, :-1], walks.actions[:, 1:], truth.positions[:, 1:-1]
    legal = world.legal_actions()
    uniform = legal / legal.sum(axis=1, keepdims=True)  # (P, A)
    expected = np.repeat(uniform[:, None], world.num_actions, axis=1)  # (P, last, A)
    for place, repeated in np.argwhere(legal):
        expected[place, repeated] = 0.4 * uniform[place]
        expected[place, repeated, repeated] += 0.6
    assert_frequencies(
        counts((world.num_positions, world.num_actions, world.num_actions), here, last, action), expected
    )
    # Nothing to repeat yet.
    assert_frequencies(counts(uniform.shape, truth.positions[:, 0], walks.actions[:, 0]), uniform)
    before, after = truth.positions[:, :-1], truth.positions[:, 1:]
    assert (world.next_position[before, walks.actions] == after).all()


def test_a_known_start():
    room = AliasedRoom(4, 5)
    walks, truth = sample_walks(room, 50, 10, np.random.default_rng(2), Agent(start=7))
    assert (truth.positions[:, 0] == 7).all()
    assert len(np.unique(walks.actions[:, 0])) == 4
    assert truth.world.start_probability[7] == 1
    assert room.start_probability is None


def test_starts_of_the_world():
    world = from_probabilities(MOVES, SEEN, start_probability=[0.2, 0.0, 0.8])
    _, truth = sample_walks(world, 20_000, 2, np.random.default_rng(3))
    assert_frequencies(np.bincount(truth.positions[:, 0], minlength=3), np.array([0.2, 0.0, 0.8]))


def test_moves_and_observations_have_their_chances():
    world = from_probabilities(MOVES, SEEN)
    walks, truth = sample_walks(world, 300, 400, np.random.default_rng(4))
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    assert_frequencies(counts((3, 2, 3), here, walks.actions, there), MOVES)
    assert_frequencies(counts((3, 2), truth.positions, walks.observations), SEEN)
    assert_frequencies(counts((3, 2), here, walks.actions), np.full((3, 2), 0.5))


def test_a_plain_agent_walks_as_ever():
    """The stream of random numbers of walks without options does not change: stored seeds keep their walks."""
    walks, truth = sample_walks(AliasedRoom(4, 5), 3, 6, np.random.default_rng(0), Agent())
    rng = np.random.default_rng(0)
    assert (truth.positions[:, 0] == rng.integers(20, size=3)).all()
    assert (walks.actions == rng.integers(4, size=(3, 5), dtype=np.uint8)).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Agent(slip=1.5), r"`slip` must be in \[0, 1\], got 1.5"),
        (lambda: Agent(sticky=-1), r"`sticky` must be in \[0, 1\], got -1"),
        (lambda: Agent(slip=float("nan")), r"`slip` must be in \[0, 1\], got nan"),
    ],
)
def test_impossible_agents(make, message):
    with pytest.raises(BadWalks, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: with_slip(STAYING, 2), r"`slip` must be in \[0, 1\], got 2"),
        (lambda: with_start(STAYING, 3), r"`start` must be a position in \[0, 3\), got 3"),
        (lambda: with_start(STAYING, -1), r"`start` must be a position in \[0, 3\), got -1"),
    ],
)
def test_impossible_worlds(make, message):
    with pytest.raises(BadWorld, match=message):
        make()
