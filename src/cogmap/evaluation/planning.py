"""The paper's planning problems and their scores, ImpFallback and RatioSP, with and without an observation to avoid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cogmap.environments.oracle import follow, optimal_distances
from cogmap.errors import BadConfig
from cogmap.planning.rollouts import RolloutProblems, Rollouts
from cogmap.planning.shortest_paths import Outcome, Problem
from cogmap.records import Booleans, Floats, Integers, Plan, Truth, Walks

CONTEXT_LENGTH = 50  # the paper's C


@dataclass(frozen=True, eq=False)
class WalkProblems:
    """Q walks, and the start and target step of the path to plan in each.

    The paper counts steps from 1 and plans a path from the C-th observation to the (N - C)-th. Here steps count
    from 0: from C - 1, when C observations have been read, to N - C - 1, after which C are left.
    """

    walk: Integers  # (Q,)
    start_step: Integers  # (Q,)
    target_step: Integers  # (Q,)
    avoid: Integers  # (Q,) an observation to avoid where possible, -1 for none

    @property
    def fallback_length(self) -> Integers:
        """(Q,) actions that the walk itself took from start to target, N - 2C: the length to beat."""
        return self.target_step - self.start_step

    def __len__(self) -> int:
        return self.walk.shape[0]


def fitting_context(walks: Walks) -> int:
    """The paper's context length, or a quarter of the shortest walk where that is too short for it."""
    shortest = int(walks.lengths.min())
    return CONTEXT_LENGTH if shortest > 2 * CONTEXT_LENGTH else max(1, shortest // 4)


def paper_problems(
    walks: Walks,
    context_length: int = CONTEXT_LENGTH,
    count: int = 200,
    rng: np.random.Generator | None = None,
) -> WalkProblems:
    """The problems of the first `count` walks; with `rng`, each has a random observation to avoid."""
    if count < 1:
        raise BadConfig(f"the number of problems must be at least 1, got {count}")
    chosen = np.arange(min(count, walks.num_walks))
    lengths = walks.lengths[chosen]
    if context_length < 1 or 2 * context_length >= lengths.min():
        rule = f"`context_length` (={context_length}) must be at least 1 and below half the walk length"
        raise BadConfig(f"{rule} (={lengths.min()})")
    avoid = np.full(len(chosen), -1, dtype=np.int32)
    if rng is not None:
        avoid = rng.integers(walks.num_observations, size=len(chosen), dtype=np.int32)
    return WalkProblems(
        walk=chosen.astype(np.int32),
        start_step=np.full(len(chosen), context_length - 1, dtype=np.int32),
        target_step=(lengths - context_length - 1).astype(np.int32),
        avoid=avoid,
    )


def map_problems(problems: WalkProblems, nodes: Integers) -> list[Problem]:
    """The same problems on a map, given the node of every step (B, N)."""
    start = nodes[problems.walk, problems.start_step].tolist()
    goal = nodes[problems.walk, problems.target_step].tolist()
    avoid = [() if seen < 0 else (seen,) for seen in problems.avoid.tolist()]
    return [Problem(*fields) for fields in zip(start, goal, avoid, strict=True)]


def rollout_problems(problems: WalkProblems, walks: Walks) -> RolloutProblems:
    """The same problems for a model without a map; the walks must have one length."""
    start, target = int(problems.start_step[0]), int(problems.target_step[0])
    if (problems.target_step != target).any():
        raise BadConfig("walks must have one length for rollouts, got several lengths")
    observations, actions = walks.observations[problems.walk], walks.actions[problems.walk]
    end = target + start + 2  # as many observations after the target as up to the start
    return RolloutProblems(
        context_observations=observations[:, : start + 1],
        context_actions=actions[:, :start],
        target_observation=observations[:, target],
        tail_actions=actions[:, target : end - 1],
        tail_observations=observations[:, target + 1 : end],
        num_actions=walks.num_actions,
        rollout_steps=target - start,
    )


@dataclass(frozen=True, eq=False)
class PlanningScores:
    """Scores over a set of problems."""

    imp_fallback: float  # share of problems with a valid path that is shorter than the fallback
    ratio_sp: float | None  # mean of its length divided by the optimal length, where that is above 0
    mean_optimal_length: float  # over all problems
    valid: float  # share of problems with a valid path of any length
    optimal: float  # share of problems with a valid path of optimal length


def score_plans(outcomes: Sequence[Outcome], problems: WalkProblems, truth: Truth) -> PlanningScores:
    """Scores of one plan, or failure, for each problem.

    A plan is valid if its actions lead from the true start to the true target and, where there is an observation
    to avoid and a detour exists, no position on the way shows it. The same holds for optimal lengths.
    """
    optimal, has_detour = _optimal_lengths(problems, truth)
    start, target = _ends(problems, truth)
    lengths = np.full(len(problems), np.inf)
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, Plan):
            visited = follow(truth.world, start[index], outcome.actions)  # (L + 1,)
            avoided = (truth.world.observation[visited[1:-1]] != problems.avoid[index]).all()
            if visited[-1] == target[index] and (avoided or not has_detour[index]):
                lengths[index] = len(outcome)
    return _scores(lengths, optimal, problems)


@dataclass(frozen=True, eq=False)
class RolloutScores:
    """Scores of rollouts, with and without the check by the tail."""

    planning: PlanningScores  # of the shortest valid path among the candidates that the tail confirmed
    valid_share: float | None  # share of candidates that are at the target; None without candidates
    valid_share_with_tail: float | None  # the same among the candidates that the tail confirmed


def score_rollouts(rollouts: Rollouts, problems: WalkProblems, truth: Truth) -> RolloutScores:
    """Scores of the baselines' planner: each candidate's actions are followed in the world."""
    start, target = _ends(problems, truth)
    visited = follow(truth.world, start[:, None], rollouts.actions)  # (Q, W, T + 1)
    reached = visited[rollouts.problem, rollouts.rollout, rollouts.length]
    valid = reached == target[rollouts.problem]
    lengths = np.full(len(problems), np.inf)
    found = valid & rollouts.passed
    np.minimum.at(lengths, rollouts.problem[found], rollouts.length[found])
    optimal, _ = _optimal_lengths(problems, truth)
    return RolloutScores(
        planning=_scores(lengths, optimal, problems),
        valid_share=float(valid.mean()) if valid.size else None,
        valid_share_with_tail=float(valid[rollouts.passed].mean()) if rollouts.passed.any() else None,
    )


def _scores(lengths: Floats, optimal: Floats, problems: WalkProblems) -> PlanningScores:
    """Scores from the length of each problem's valid path (Q,), inf where there is none."""
    better = lengths < problems.fallback_length
    # A problem whose start is its target has optimal length 0: it can be solved, but it has no ratio.
    rated = better & (optimal > 0)
    return PlanningScores(
        imp_fallback=float(better.mean()),
        ratio_sp=float((lengths[rated] / optimal[rated]).mean()) if rated.any() else None,
        mean_optimal_length=float(optimal.mean()),
        valid=float(np.isfinite(lengths).mean()),
        optimal=float((lengths == optimal).mean()),
    )


def _optimal_lengths(problems: WalkProblems, truth: Truth) -> tuple[Floats, Booleans]:
    """(Q,) each problem's optimal length, and (Q,) whether there is a detour around the observation to avoid."""
    start, target = _ends(problems, truth)
    free = optimal_distances(truth.world)[start, target]
    optimal, has_detour = free.copy(), np.zeros(len(problems), dtype=bool)
    for seen in np.unique(problems.avoid[problems.avoid >= 0]).tolist():
        constrained = problems.avoid == seen
        around = optimal_distances(truth.world, (seen,), strict=True)[start[constrained], target[constrained]]
        has_detour[constrained] = np.isfinite(around)
        optimal[constrained] = np.where(np.isfinite(around), around, free[constrained])
    return optimal, has_detour


def _ends(problems: WalkProblems, truth: Truth) -> tuple[Integers, Integers]:
    """(Q,) the true start and (Q,) the true target of each problem."""
    return (
        truth.positions[problems.walk, problems.start_step],
        truth.positions[problems.walk, problems.target_step],
    )
