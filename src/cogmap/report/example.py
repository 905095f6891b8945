"""One planning problem that shows what a model can do and another cannot, and the sentences made from its numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cogmap.environments.oracle import optimal_distances
from cogmap.evaluation.planning import WalkProblems, fitting_context, map_problems, paper_problems
from cogmap.evaluation.scores import Scores
from cogmap.planning.shortest_paths import solve_many
from cogmap.records import Integers, Plan, TableWorld, Truth, label_of
from cogmap.report.material import Material, Reading

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


def summary_sentence(own: Material) -> str:
    """What was learned."""
    found = own.cognitive_map
    walks = own.config.get("walks")
    source = f"From {walks} walks" if walks else "From its walks"
    told = (
        f"{source}, in which it saw {found.num_observations} different things, {own.name} made a map of "
        f"{found.num_nodes} places that explains {found.explained:.2%} of the steps"
    )
    return f"{told}{_truth(own.scored[0].scores) if own.scored else ''}."


def _truth(scores: Scores) -> str:
    if scores.positions is None:
        return ""
    exact = "and the map is exact" if scores.exact else f"{scores.places_covered or 0:.2%} of them on the map"
    plans = (
        ""
        if scores.imp_fallback is None
        else f"; it solves {scores.imp_fallback:.2%} of the planning problems"
    )
    return f". There are {scores.positions} places, {exact}{plans}"


def plan_sentence(example: Example, plan: Plan) -> str:
    """The problem, and the answer as actions in the user's words."""
    actions = ", ".join(str(label_of(plan.action_labels, action)) for action in plan.actions.tolist())
    return (
        f"Test walk {example.walk}: having seen its first {example.start_step + 1} observations, how does one "
        f"get to where the walk will be at step {example.goal_step}? The walk takes "
        f"{example.goal_step - example.start_step} actions, the plan {len(plan)}: {actions or 'none'}."
    )


def rival_sentence(rival: Material, merged: int) -> str:
    """Why a model that predicts as well plans worse; or, where no node is merged, how it does."""
    predicts = (
        f" foretells {rival.scored[0].scores.test_accu:.2%} of the next observations" if rival.scored else ""
    )
    if merged == 0:
        told = (
            f"{rival.name}{predicts or ' is shown beside it'}; none of its nodes stands for several places."
        )
    else:
        model = rival.config.get("model", {})
        steps, codes = model.get("prediction_steps"), model.get("num_codes")
        horizon = "one step" if steps == 1 else f"{steps} steps"
        told = (
            f"{rival.name}{predicts + ', but' if predicts else ''} takes places for one another: {merged} of its "
            f"{rival.cognitive_map.num_nodes} nodes stand for several. To foretell {horizon} ahead it need not tell "
            f"apart all places whose neighbours look alike, and with {codes} codes it does not; so its map has "
            "shortcuts that the world has not, and plans along them lead astray."
        )
    solved = [entry for entry in rival.scored if entry.scores.imp_fallback is not None]
    shares = ", ".join(f"{entry.scores.imp_fallback:.2%} ({_map_name(entry.scores)})" for entry in solved)
    return f"{told} Problems solved: {shares}." if shares else told


def _map_name(scores: Scores) -> str:
    return "the paper's map" if scores.map_kind == "paper" else "the minimal map"
