"""Optimal policies against all policies of tiny worlds, and against shortest paths where there is no chance."""

from itertools import product

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities, with_slip
from cogmap.environments.oracle import optimal_distances
from cogmap.environments.policies import (
    best_policy,
    goal_mask,
    mean_rewards,
    moves_of_world,
    quickest_policy,
    steps_under,
    value_under,
)
from cogmap.environments.room import AliasedRoom
from cogmap.environments.streets import street_network
from cogmap.errors import BadConfig, BadWorld


def random_world(seed, places=4, actions=2):
    """Few moves, so that goals are often out of reach, for sure or by chance."""
    rng = np.random.default_rng(seed)
    moves = rng.random((places, actions, places)) * (rng.random((places, actions, places)) < 0.4)
    stays = moves.sum(axis=2) == 0
    moves[stays] = np.broadcast_to(np.eye(places)[:, None], moves.shape)[stays]
    legal = rng.random((places, actions)) < 0.8
    legal[np.arange(places), rng.integers(actions, size=places)] = True
    moves = np.where(legal[..., None], moves, np.eye(places)[:, None])
    return from_probabilities(
        moves / moves.sum(axis=2, keepdims=True),
        np.zeros(places, int),
        rewards=rng.normal(size=moves.shape),
        legal=legal,
    )


def dense(world):
    table = np.zeros((world.num_positions, world.num_actions, world.num_positions))
    table[world.move_source, world.move_action, world.move_target] = world.move_probability
    return table


def all_policies(world):
    return product(*(np.flatnonzero(row).tolist() for row in world.legal_actions()))


def steps_by_hand(world, policy, goal):
    """(P,): expected steps by a dense solve, inf where the chance to have arrived stays below one."""
    places = np.arange(world.num_positions)
    chain = dense(world)[places, list(policy)].copy()
    chain[goal] = np.eye(world.num_positions)[goal]
    arrived = np.linalg.matrix_power(chain, 2**30)[:, goal].sum(axis=1)
    sure = arrived > 1 - 1e-6
    inside = sure & ~goal
    steps = np.where(goal, 0.0, np.inf)
    if inside.any():
        left = np.eye(inside.sum()) - chain[np.ix_(inside, inside)]
        steps[inside] = np.linalg.solve(left, np.ones(inside.sum()))
    return steps


@pytest.mark.parametrize("seed", range(60))
def test_fewest_steps_of_all_policies(seed):
    world = random_world(seed)
    goal = goal_mask(world, [0] if seed % 2 else [1, 3])
    expected = np.min([steps_by_hand(world, policy, goal) for policy in all_policies(world)], axis=0)
    found = quickest_policy(world, np.flatnonzero(goal).tolist())
    assert np.allclose(found.value, expected, rtol=1e-6)
    assert ((found.action == -1) == (goal | np.isinf(expected))).all()
    acts = found.action >= 0
    assert world.legal[acts, found.action[acts]].all()
    assert np.allclose(steps_under(moves_of_world(world), found.action, goal), expected, rtol=1e-6)


def test_some_goals_of_the_random_worlds_are_out_of_reach_and_some_are_not():
    reached = [np.isfinite(quickest_policy(random_world(seed), 0).value).mean() for seed in range(60)]
    assert min(reached) < 0.5
    assert max(reached) == 1


@pytest.mark.parametrize("seed", range(20))
def test_steps_under_any_policy(seed):
    world = random_world(seed)
    goal = goal_mask(world, 2)
    for policy in all_policies(world):
        found = steps_under(moves_of_world(world), np.array(policy, dtype=np.int32), goal)
        assert np.allclose(found, steps_by_hand(world, policy, goal), rtol=1e-6)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.99])
def test_highest_value_of_all_policies(seed, discount):
    world = random_world(seed)
    places = np.arange(world.num_positions)
    reward = np.zeros((world.num_positions, world.num_actions))
    for move in range(world.move_source.size):
        here, action = world.move_source[move], world.move_action[move]
        reward[here, action] += world.move_probability[move] * world.move_reward[move]
    assert np.allclose(mean_rewards(world), reward)
    values = []
    for policy in all_policies(world):
        chain = dense(world)[places, list(policy)]
        value = np.linalg.solve(np.eye(len(places)) - discount * chain, reward[places, list(policy)])
        values.append(value)
        action = np.array(policy, dtype=np.int32)
        assert np.allclose(value_under(moves_of_world(world), action, reward, discount), value)
    found = best_policy(world, discount)
    assert np.allclose(found.value, np.max(values, axis=0), atol=1e-6)


def test_without_chance_the_steps_are_shortest_distances():
    for world in (AliasedRoom(5, 6, walls=4, seed=2), street_network(60, 0.3, seed=2)):
        distances = optimal_distances(world)
        for goal in (0, 17):
            assert np.allclose(quickest_policy(world, goal).value, distances[:, goal])


def test_slips_cost_steps():
    room = AliasedRoom(6, 8)
    sure, slips = quickest_policy(room, 20).value, quickest_policy(with_slip(room, 0.2), 20).value
    away = np.arange(48) != 20
    assert (slips[away] > sure[away]).all()
    assert (slips < 2 * sure + 4).all()


def test_ten_thousand_positions():
    world = with_slip(street_network(10_000, 0.1, seed=0), 0.1)
    found = quickest_policy(world, 5)
    moves = moves_of_world(world)
    ahead = 1 + (moves.probability @ found.value).reshape(world.next_position.shape)
    ahead[~world.legal] = np.inf
    away = np.arange(10_000) != 5
    assert np.allclose(ahead.min(axis=1)[away], found.value[away])  # Bellman's equation


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda world: quickest_policy(world, 4), BadWorld, r"`goal` must hold positions in \[0, 4\), got 4"),
        (
            lambda world: quickest_policy(world, []),
            BadWorld,
            r"`goal` must hold positions in \[0, 4\), got none",
        ),
        (
            lambda world: best_policy(world, 1.0),
            BadConfig,
            "`discount` must be at least 0 and below 1, because",
        ),
        (lambda world: best_policy(world, -0.1), BadConfig, "got -0.1"),
        (lambda world: best_policy(world, float("nan")), BadConfig, "got nan"),
    ],
)
def test_impossible_questions(ask, error, message):
    with pytest.raises(error, match=message):
        ask(random_world(0))
