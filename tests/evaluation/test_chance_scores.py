"""Scores in worlds with chance: the true map is as good as can be, and worse maps are worse."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities, moves_of, with_slip
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.chance import (
    closed_loop,
    probability_distance,
    score_chance,
    true_chance_map,
    value_share,
)
from cogmap.evaluation.ged import true_map
from cogmap.walks.sample import sample_walks

ROOM = with_slip(AliasedRoom(5, 6, 4), 0.1)
PLACE = np.arange(30, dtype=np.int32)


def test_the_true_map_is_as_good_as_can_be():
    walks, truth = sample_walks(ROOM, 20, 100, np.random.default_rng(0))
    scores = score_chance(true_chance_map(ROOM), walks, truth, PLACE, goals=40)
    assert scores.map_log_loss == pytest.approx(scores.exact_log_loss, abs=0.01)
    assert scores.probability_distance == pytest.approx(0, abs=1e-9)
    assert scores.goals_reached == 1
    assert 0.8 < scores.steps_over_oracle < 1.25  # of forty journeys
    assert scores.steps_over_true_map == 1
    assert scores.value_share is None  # there are no rewards
    assert scores.value_over_true_map is None


def test_a_map_without_chance_is_as_far_as_the_slips():
    flat = true_map(ROOM)
    source, action, target, probability, _ = moves_of(ROOM)
    away = 1 - probability[target == ROOM.next_position[source, action]].mean()
    assert probability_distance(flat, ROOM, PLACE) == pytest.approx(away, abs=0.01)
    assert probability_distance(flat, ROOM, np.full(30, -1)) is None


def test_a_map_whose_moves_lead_elsewhere_reaches_little():
    right = true_chance_map(ROOM)
    wrong = replace(right, edge_action=right.edge_action ^ 1)
    assert closed_loop(right, ROOM, PLACE, 15).reached == 1
    lost = closed_loop(wrong, ROOM, PLACE, 15)
    assert lost.reached < 1 or lost.over_oracle() > 3


def test_the_value_of_a_policy_is_one_with_the_true_map_and_none_without_sense():
    moves = np.zeros((3, 2, 3))
    moves[:, 0] = np.roll(np.eye(3), 1, axis=1)
    moves[:, 1] = 0.9 * np.eye(3) + 0.1 * np.roll(np.eye(3), 1, axis=1)
    rewards = np.zeros((3, 2, 3))
    rewards[2, 1, 2] = 1
    world = from_probabilities(moves, np.arange(3), rewards=rewards)
    right = true_chance_map(world)
    assert value_share(right, world, np.random.default_rng(0)) == pytest.approx(1, abs=0.1)
    backwards = replace(right, edge_reward=-right.edge_reward)
    assert value_share(backwards, world, np.random.default_rng(0)) < 0.1


def test_value_beside_the_true_map_is_one_where_positions_are_hidden_from_both():
    """Two places look alike: nobody but the oracle collects all rewards, and the true map is as good as itself."""
    moves = np.zeros((3, 2, 3))
    moves[:, :] = [0.4, 0.4, 0.2]
    rewards = np.zeros((3, 2, 3))
    rewards[0, 0] = rewards[1, 1] = 1  # another action is right at each of the two
    world = from_probabilities(moves, np.array([0, 0, 1]), rewards=rewards)
    walks, truth = sample_walks(world, 5, 50, np.random.default_rng(0))
    scores = score_chance(true_chance_map(world), walks, truth, np.arange(3), goals=2)
    assert scores.value_share < 0.5
    assert scores.value_over_true_map == 1
