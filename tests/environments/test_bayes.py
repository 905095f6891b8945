"""The exact filter against a sum over all paths, and against the filter for worlds without chance."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from cogmap.environments import bayes
from cogmap.environments.bayes import filter_walks
from cogmap.environments.chance import from_probabilities, with_slip
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import BadWalks
from cogmap.evaluation.prediction import ceiling
from cogmap.records import TableWorld
from cogmap.walks.sample import Agent, sample_walks


def random_world(seed, places=3, actions=2, observations=2):
    """Probabilities with some zeros, legal actions, starts; illegal actions stay in place."""
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.ones(places), size=(places, actions)) * (
        rng.random((places, actions, places)) < 0.7
    )
    legal = rng.random((places, actions)) < 0.8
    legal[np.arange(places), rng.integers(actions, size=places)] = True
    stay = np.eye(places)[:, None, :]
    moves = np.where(legal[..., None] & (moves.sum(axis=2, keepdims=True) > 0), moves, stay)
    return from_probabilities(
        moves / moves.sum(axis=2, keepdims=True),
        rng.dirichlet(np.ones(observations), size=places),
        legal=legal,
        start_probability=rng.dirichlet(np.ones(places)),
    )


def by_all_paths(walks, world):
    """(B, N - 1, O): p(x_{n + 1} | x_0, a_0, ..., x_n, a_n), a sum over every path of positions."""
    table = np.zeros((world.num_positions, world.num_actions, world.num_positions))
    table[world.move_source, world.move_action, world.move_target] = world.move_probability
    policy = world.legal_actions() / world.legal_actions().sum(axis=1, keepdims=True)
    expected = np.zeros((*walks.actions.shape, world.num_observations))
    for walk, step in np.ndindex(*walks.actions.shape):
        seen, done = walks.observations[walk], walks.actions[walk]
        for path in product(range(world.num_positions), repeat=step + 2):
            weight = world.start_probability[path[0]]
            for n in range(step + 1):
                weight *= world.observation_probability[path[n], seen[n]]
                weight *= policy[path[n], done[n]] * table[path[n], done[n], path[n + 1]]
            expected[walk, step] += weight * world.observation_probability[path[-1]]
    return expected / expected.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("seed", range(12))
def test_against_the_sum_over_all_paths(seed):
    world = random_world(seed)
    walks, _ = sample_walks(world, 4, 6, np.random.default_rng(seed))
    expected = by_all_paths(walks, world)
    found = filter_walks(walks, world)
    chance = np.take_along_axis(expected, walks.observations[:, 1:, None], axis=2)[..., 0]
    assert np.allclose(found.log_loss, -np.log(chance), atol=1e-10)
    assert np.array_equal(found.correct, expected.argmax(axis=2) == walks.observations[:, 1:])
    assert found.mean_log_loss == pytest.approx(-np.log(chance).mean())


@pytest.mark.parametrize(
    "world",
    [AliasedRoom(5, 6, seed=1), AliasedRoom(5, 6, bump="resample", walls=4, seed=1), torus(one_way_doors=4)],
    ids=["stay", "resample", "one-way"],
)
@pytest.mark.parametrize("agent", [Agent(), Agent(start=3)], ids=["anywhere", "known start"])
def test_without_chance_it_is_the_ceiling(world, agent):
    walks, truth = sample_walks(world, 30, 40, np.random.default_rng(0), agent)
    walks = replace(walks, lengths=np.arange(11, 41))
    exact, found = ceiling(walks, truth.world), filter_walks(walks, truth.world)
    assert found.accuracy == pytest.approx(exact.accuracy)
    assert found.mean_log_loss == pytest.approx(exact.log_loss)
    assert np.allclose(np.nanmean(found.correct, axis=0), exact.by_step)


def test_a_slip_of_nothing_is_no_chance():
    world = AliasedRoom(5, 6, seed=1)
    walks, _ = sample_walks(world, 30, 40, np.random.default_rng(0))
    nearly, exact = ceiling(walks, with_slip(world, 1e-9)), ceiling(walks, world)
    # The slip moves each probability by some 1e-9 and breaks ties, of which the accuracy has some.
    assert nearly.log_loss == pytest.approx(exact.log_loss, abs=1e-6)
    assert nearly.accuracy == pytest.approx(exact.accuracy, abs=0.01)


def test_the_ceiling_of_walks_that_slip_is_below_that_of_sure_ones():
    world = AliasedRoom(5, 6, seed=1)
    walks, truth = sample_walks(world, 60, 60, np.random.default_rng(0), Agent(slip=0.2))
    found = ceiling(walks, truth.world)
    assert 0.8 < found.accuracy < 0.97
    assert found.log_loss < 0.6
    with pytest.raises(BadWalks, match="walks must be possible in the world, walk"):
        ceiling(walks, world)


def test_walks_of_many_parts(monkeypatch):
    world = random_world(3)
    walks, _ = sample_walks(world, 11, 9, np.random.default_rng(0))
    whole = filter_walks(walks, world)
    monkeypatch.setattr(bayes, "AT_ONCE", 4 * world.num_positions)
    parts = filter_walks(walks, world)
    assert np.array_equal(whole.log_loss, parts.log_loss)


def test_padding_is_not_predicted():
    world = random_world(3)
    walks, _ = sample_walks(world, 3, 9, np.random.default_rng(0))
    short = filter_walks(replace(walks, lengths=np.array([4, 9, 2])), world)
    whole = filter_walks(walks, world)
    assert np.isnan(short.log_loss[0, 3:]).all()
    assert np.isnan(short.log_loss[2, 1:]).all()
    assert np.array_equal(short.log_loss[1], whole.log_loss[1])


def test_impossible_walks_are_named(monkeypatch):
    monkeypatch.setattr(bayes, "AT_ONCE", 2)  # a walk at a time
    ring = TableWorld(np.array([[1], [0]]), np.array([0, 1]), 2)
    walks, _ = sample_walks(ring, 3, 4, np.random.default_rng(0))
    wrong = walks.observations.copy()
    wrong[2, 3] = wrong[2, 2]
    with pytest.raises(BadWalks, match="walk 2 becomes impossible at step 3"):
        filter_walks(replace(walks, observations=wrong), ring)
    with pytest.raises(BadWalks, match="must agree on `num_observations`, got 3 and 2"):
        filter_walks(replace(walks, num_observations=3), ring)
