"""The paper's planning problems and their scores, ImpFallback and RatioSP, with or without a constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cogmap.environments.oracle import optimal_distances
from cogmap.errors import BadConfig
from cogmap.planning.rollouts import RolloutProblems, Rollouts
from cogmap.planning.shortest_paths import Outcome, Problem
from cogmap.records import Booleans, Floats, Integers, Plan, TableWorld, Truth, Walks

CONTEXT_LENGTH = 50  # the paper's C


@dataclass(frozen=True, eq=False)
class WalkProblems:
    """Q walks, and the steps between which a path is asked for.

    The paper counts steps from 1 and asks for a path from the C-th observation to the (N - C)-th. Here steps
    count from 0: from C - 1, when C observations have been read, to N - C - 1, after which C are left.
    """

    walk: Integers  # (Q,)
    start_step: Integers  # (Q,)
    target_step: Integers  # (Q,)
    avoid: Integers  # (Q,) an observation to avoid where possible, -1 for none

    @property
    def fallback_length(self) -> Integers:
        """(Q,) actions that the walk itself took, N - 2C: a path to do better than."""
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
    """The first `count` walks as problems; with `rng`, each with an observation to avoid drawn at random."""
    if count < 1:
        raise BadConfig(f"the number of problems must be at least 1, got {count}")
    chosen = np.arange(min(count, walks.num_walks))
    lengths = walks.lengths[chosen]
    if context_length < 1 or 2 * context_length >= lengths.min():
        rule = f"`context_length` (={context_length}) must be at least 1 and below half the walk length"
        raise BadConfig(f"{rule} (={lengths.min()})")
    return WalkProblems(
        walk=chosen.astype(np.int32),
        start_step=np.full(len(chosen), context_length - 1, dtype=np.int32),
        target_step=(lengths - context_length - 1).astype(np.int32),
        avoid=np.full(len(chosen), -1, dtype=np.int32) if rng is None else _draw(rng, walks, len(chosen)),
    )


def _draw(rng: np.random.Generator, walks: Walks, count: int) -> Integers:
    return rng.integers(walks.num_observations, size=count, dtype=np.int32)


def map_problems(problems: WalkProblems, nodes: Integers) -> list[Problem]:
    """The same questions to a map, given the node at every step (B, N)."""
    start = nodes[problems.walk, problems.start_step].tolist()
    goal = nodes[problems.walk, problems.target_step].tolist()
    avoid = [() if seen < 0 else (seen,) for seen in problems.avoid.tolist()]
    return [Problem(*question) for question in zip(start, goal, avoid, strict=True)]


def rollout_problems(problems: WalkProblems, walks: Walks) -> RolloutProblems:
    """The same questions to a model without a map; the walks must have one length."""
    start, target = int(problems.start_step[0]), int(problems.target_step[0])
    if (problems.target_step != target).any():
        raise BadConfig("walks must have one length for rollouts, got several")
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
    """How well a set of problems was solved."""

    imp_fallback: float  # share of problems with a valid path that is shorter than the fallback
    ratio_sp: float | None  # its length by the optimal length, mean over those not already at the target
    mean_optimal_length: float  # over all problems
    valid: float  # share of problems with a valid path of any length
    optimal: float  # share of problems with a valid path of optimal length


def score_plans(outcomes: Sequence[Outcome], problems: WalkProblems, truth: Truth) -> PlanningScores:
    """Scores of one plan, or failure, a problem.

    A plan is valid if its actions lead from the true start to the true target and, where an observation is to
    be avoided and a way round exists, no position passed shows it. Optimal lengths obey the same.
    """
    optimal, way_round = _optimal_lengths(problems, truth)
    lengths = np.full(len(problems), np.inf)
    for index, outcome in enumerate(outcomes):
        if isinstance(outcome, Plan):
            passed = _positions_met(truth, problems, index, outcome.actions)
            keeps_off = not way_round[index] or _keeps_off(truth.world, passed, problems.avoid[index])
            if passed[-1] == _target(truth, problems)[index] and keeps_off:
                lengths[index] = len(outcome)
    return _scores(lengths, optimal, problems)


@dataclass(frozen=True, eq=False)
class RolloutScores:
    """How well rollouts did, and what the tail evaluation is worth."""

    planning: PlanningScores  # of the shortest valid path among the candidates that the tail confirmed
    valid_share: float | None  # of all candidates, those truly at the target; None without candidates
    valid_share_with_tail: float | None  # the same of the candidates that the tail confirmed


def score_rollouts(rollouts: Rollouts, problems: WalkProblems, truth: Truth) -> RolloutScores:
    """Scores of the rivals' planner; candidates are judged by following their actions in the world."""
    start = truth.positions[problems.walk, problems.start_step]
    met = _follow_all(truth.world, start, rollouts.actions)  # (Q, W, T + 1)
    at = met[rollouts.problem, rollouts.rollout, rollouts.length]
    valid = at == _target(truth, problems)[rollouts.problem]
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
    # A problem whose start is its target has optimal length 0: solved or not, but without a ratio.
    rated = better & (optimal > 0)
    return PlanningScores(
        imp_fallback=float(better.mean()),
        ratio_sp=float((lengths[rated] / optimal[rated]).mean()) if rated.any() else None,
        mean_optimal_length=float(optimal.mean()),
        valid=float(np.isfinite(lengths).mean()),
        optimal=float((lengths == optimal).mean()),
    )


def _optimal_lengths(problems: WalkProblems, truth: Truth) -> tuple[Floats, Booleans]:
    """(Q,) each problem's optimal length, and (Q,) whether there is a way round what is to be avoided."""
    start, target = truth.positions[problems.walk, problems.start_step], _target(truth, problems)
    free = optimal_distances(truth.world)[start, target]
    optimal, way_round = free.copy(), np.zeros(len(problems), dtype=bool)
    for seen in np.unique(problems.avoid[problems.avoid >= 0]).tolist():
        asked = problems.avoid == seen
        around = optimal_distances(truth.world, (seen,), strict=True)[start[asked], target[asked]]
        way_round[asked] = np.isfinite(around)
        optimal[asked] = np.where(np.isfinite(around), around, free[asked])
    return optimal, way_round


def _target(truth: Truth, problems: WalkProblems) -> Integers:
    return truth.positions[problems.walk, problems.target_step]


def _positions_met(truth: Truth, problems: WalkProblems, index: int, actions: Integers) -> list[int]:
    """The positions met by following actions from a problem's start, the start included."""
    met = [int(truth.positions[problems.walk[index], problems.start_step[index]])]
    for action in actions.tolist():
        met.append(int(truth.world.next_position[met[-1], action]))
    return met


def _keeps_off(world: TableWorld, met: list[int], avoid: int) -> bool:
    return not (world.observation[met[1:-1]] == avoid).any()


def _follow_all(world: TableWorld, start: Integers, actions: Integers) -> Integers:
    """(Q, W, T + 1) positions met by following actions (Q, W, T) from each problem's start (Q,)."""
    met = np.empty((*actions.shape[:2], actions.shape[2] + 1), dtype=np.int32)
    met[:, :, 0] = start[:, None]
    for step in range(actions.shape[2]):
        met[:, :, step + 1] = world.next_position[met[:, :, step], actions[:, :, step]]
    return met
