"""The paper's problems and their scores, on worlds small enough to count by hand and on true maps."""

import dataclasses

import numpy as np
import pytest

from cogmap.environments.oracle import optimal_distances
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import BadConfig, NoPath
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.planning import (
    WalkProblems,
    map_problems,
    paper_problems,
    rollout_problems,
    score_plans,
    score_rollouts,
)
from cogmap.planning.rollouts import Rollouts
from cogmap.planning.shortest_paths import solve_many
from cogmap.records import Plan, TableWorld, Truth
from cogmap.walks.sample import sample_walks

# A ring of six: action 0 forwards, action 1 backwards; position 2 alone shows 1.
RING = TableWorld(
    next_position=np.array([[(place + 1) % 6, (place - 1) % 6] for place in range(6)]),
    observation=np.array([0, 0, 1, 0, 0, 2]),
    num_observations=3,
)


def problem(start, target, avoid=-1, fallback=8):
    """One walk whose start and target are given."""
    positions = np.zeros((1, fallback + 1), dtype=int)
    positions[0, 0], positions[0, -1] = start, target
    asked = WalkProblems(np.array([0]), np.array([0]), np.array([fallback]), np.array([avoid]))
    return asked, Truth(positions, RING)


def plan(actions):
    return Plan(
        np.array(actions, dtype=int), np.zeros(len(actions) + 1, int), np.zeros(len(actions) + 1, int)
    )


def test_steps_are_the_papers():
    walks, _ = sample_walks(RING, 3, 40, np.random.default_rng(0))
    asked = paper_problems(walks, context_length=5, count=2)
    assert (asked.walk.tolist(), asked.start_step.tolist(), asked.target_step.tolist()) == (
        [0, 1],
        [4, 4],
        [34, 34],
    )
    assert asked.fallback_length.tolist() == [30, 30]  # N - 2C
    cut = rollout_problems(asked, walks)
    assert cut.context_observations.tolist() == walks.observations[:2, :5].tolist()
    assert cut.context_actions.tolist() == walks.actions[:2, :4].tolist()
    assert cut.target_observation.tolist() == walks.observations[:2, 34].tolist()
    assert cut.tail_observations.tolist() == walks.observations[:2, 35:].tolist()
    assert cut.tail_actions.tolist() == walks.actions[:2, 34:].tolist()
    assert cut.rollout_steps == 30


def test_a_shorter_walk_has_its_target_before_its_own_tail():
    walks, _ = sample_walks(RING, 2, 40, np.random.default_rng(0))
    walks = dataclasses.replace(walks, lengths=np.array([40, 21]))
    assert paper_problems(walks, 5).target_step.tolist() == [34, 15]
    with pytest.raises(BadConfig, match="must have one length for rollouts"):
        rollout_problems(paper_problems(walks, 5), walks)


@pytest.mark.parametrize(
    ("actions", "imp_fallback", "ratio_sp", "valid"),
    [
        ([0, 0], 1, 1.0, 1),
        ([1, 1, 1, 1], 1, 2.0, 1),
        ([0, 0, 0, 1, 0, 1, 0, 1], 0, None, 1),  # valid, but no better than the fallback of eight
        ([0], 0, None, 0),
    ],
)
def test_valid_and_better_than_fallback(actions, imp_fallback, ratio_sp, valid):
    scores = score_plans([plan(actions)], *problem(1, 3))
    assert (scores.imp_fallback, scores.ratio_sp, scores.valid) == (imp_fallback, ratio_sp, valid)
    assert scores.mean_optimal_length == 2
    assert scores.optimal == (len(actions) == 2)


def test_no_path_counts_as_a_failure():
    scores = score_plans([NoPath("none")], *problem(1, 3))
    assert (scores.imp_fallback, scores.ratio_sp, scores.valid, scores.optimal) == (0, None, 0, 0)


def test_start_at_the_target_counts_as_solved_but_has_no_ratio():
    scores = score_plans([plan([])], *problem(4, 4))
    assert (scores.imp_fallback, scores.ratio_sp, scores.optimal) == (1, None, 1)


def test_a_detour_is_required_where_there_is_one():
    through, around = plan([0, 0]), plan([1, 1, 1, 1])
    constrained = problem(1, 3, avoid=1)
    assert score_plans([through], *constrained).imp_fallback == 0
    scores = score_plans([around], *constrained)
    assert (scores.imp_fallback, scores.ratio_sp, scores.mean_optimal_length) == (1, 1.0, 4)
    # The target itself may show it. Where no detour exists, the shortest path of all counts.
    assert score_plans([plan([0])], *problem(1, 2, avoid=1)).optimal == 1
    closed = TableWorld(RING.next_position, np.array([0, 1, 0, 1, 0, 1]), 2)
    asked, truth = problem(0, 2, avoid=1)
    assert score_plans([through], asked, Truth(truth.positions, closed)).optimal == 1


@pytest.mark.parametrize("world", [AliasedRoom(6, 8), torus(5, 6, one_way_doors=8)], ids=["room", "torus"])
def test_the_true_map_solves_everything_optimally(world):
    walks, truth = sample_walks(world, 100, 200, np.random.default_rng(0))
    for rng in (None, np.random.default_rng(1)):
        asked = paper_problems(walks, 50, 100, rng)
        scores = score_plans(solve_many(true_map(world), map_problems(asked, truth.positions)), asked, truth)
        assert (scores.imp_fallback, scores.ratio_sp, scores.optimal) == (1.0, 1.0, 1.0)
    distances = optimal_distances(world)[truth.positions[:, 49], truth.positions[:, 149]]
    free = paper_problems(walks, 50, 100)
    plans = solve_many(true_map(world), map_problems(free, truth.positions))
    assert score_plans(plans, free, truth).mean_optimal_length == distances.mean()


def test_rollouts_keep_the_shortest_valid_path_that_the_tail_confirmed():
    asked, truth = problem(1, 3)
    actions = np.array([[[0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 1, 0, 1]]])
    # Candidates: at the target after 2 and after 8 (rollout 0), after 4 (rollout 1), and elsewhere after 3.
    found = Rollouts(
        actions=actions,
        problem=np.zeros(4, int),
        rollout=np.array([0, 0, 1, 0]),
        length=np.array([2, 8, 4, 3]),
        passed=np.array([False, True, True, True]),
    )
    scores = score_rollouts(found, asked, truth)
    assert scores.valid_share == 3 / 4
    assert scores.valid_share_with_tail == 2 / 3
    assert scores.planning.imp_fallback == 1
    assert scores.planning.ratio_sp == 4 / 2
    none = dataclasses.replace(found, passed=np.zeros(4, bool))
    assert score_rollouts(none, asked, truth).valid_share_with_tail is None
    assert score_rollouts(none, asked, truth).planning.imp_fallback == 0


def test_a_context_that_is_too_long():
    walks, _ = sample_walks(RING, 3, 40, np.random.default_rng(0))
    with pytest.raises(
        BadConfig, match=r"`context_length` \(=20\) must be .* below half the walk length \(=40\)"
    ):
        paper_problems(walks, 20)
    with pytest.raises(BadConfig, match="number of problems must be at least 1, got 0"):
        paper_problems(walks, 5, 0)
