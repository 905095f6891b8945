"""One planning problem that shows what a model can do, and what another cannot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cogmap.environments.oracle import optimal_distances
from cogmap.evaluation.planning import WalkProblems, map_problems, paper_problems
from cogmap.planning.solve import solve_many
from cogmap.records import Integers, Plan, TableWorld, Truth, Walks
from cogmap.report.material import Material, Reading

CONTEXT_LENGTH = 50  # the paper's
_PROBLEMS = 200


class Attempt(NamedTuple):
    """A plan, and the positions met (L + 1,) by following it from the true start."""

    plan: Plan
    met: Integers


class Example(NamedTuple):
    """A problem, and what one or two models made of it; None where one found no plan."""

    walk: int
    start_step: int
    goal_step: int
    context: Integers  # (C,) positions up to the start
    goal: int  # position
    own: Attempt | None
    rival: Attempt | None


def example_problem(own: Material, rival: Material | None = None) -> Example | None:
    """The farthest goal that `own` reaches and, if there is such a one, `rival` misses."""
    reading, truth = own.reading, own.truth
    if reading is None or truth is None or reading.walks.lengths.min() < 4:
        return None
    problems = _problems(reading)
    ours = _attempts(own, problems, truth)
    theirs = [None] * len(ours) if rival is None else _attempts(rival, problems, truth)
    start, goal = (
        truth.positions[problems.walk, step] for step in (problems.start_step, problems.target_step)
    )
    distance = optimal_distances(truth.world)[start, goal]

    def showing(index: int) -> tuple[bool, bool, float]:
        attempt = theirs[index]
        misled = attempt is not None and attempt.met[-1] != goal[index]
        return _reaches(ours[index], goal[index]), misled, float(np.nan_to_num(distance[index], posinf=-1))

    best = max(range(len(problems)), key=showing)
    walk, start_step, goal_step = (
        int(column[best]) for column in (problems.walk, problems.start_step, problems.target_step)
    )
    context = truth.positions[walk, : start_step + 1]
    return Example(walk, start_step, goal_step, context, int(goal[best]), ours[best], theirs[best])


def fitting_context(walks: Walks) -> int:
    """The paper's context length, or a quarter of walks that are too short for it."""
    return max(1, min(CONTEXT_LENGTH, int(walks.lengths.min()) // 4))


def _problems(reading: Reading) -> WalkProblems:
    return paper_problems(reading.walks, fitting_context(reading.walks), _PROBLEMS)


def _attempts(material: Material, problems: WalkProblems, truth: Truth) -> list[Attempt | None]:
    if material.reading is None:
        return [None] * len(problems)
    outcomes = solve_many(material.cognitive_map, map_problems(problems, material.reading.nodes))
    start = truth.positions[problems.walk, problems.start_step].tolist()
    return [
        Attempt(outcome, _follow(truth.world, place, outcome.actions)) if isinstance(outcome, Plan) else None
        for place, outcome in zip(start, outcomes, strict=True)
    ]


def _follow(world: TableWorld, start: int, actions: Integers) -> Integers:
    """(L + 1,) positions met by taking these actions, the start included."""
    met = [start]
    for action in actions.tolist():
        met.append(int(world.next_position[met[-1], action]))
    return np.array(met, dtype=np.int32)


def _reaches(attempt: Attempt | None, goal: int) -> bool:
    return attempt is not None and int(attempt.met[-1]) == goal
