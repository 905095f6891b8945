"""What a report is made from: a model's map, its test walks, scores and training curves, and an example of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cogmap.environments.oracle import follow, optimal_distances
from cogmap.errors import BadWalks
from cogmap.evaluation.places import NodePlaces, node_places
from cogmap.evaluation.planning import WalkProblems, fitting_context, map_problems, paper_problems
from cogmap.planning.localise import estimated_nodes
from cogmap.planning.shortest_paths import solve_many
from cogmap.records import Codes, CognitiveMap, Floats, Integers, Plan, Truth, Walks
from cogmap.report.tables import Scored

_PROBLEMS = 200  # among which the example is chosen


@dataclass(frozen=True, eq=False)
class Reading:
    """A model's codes, predictions and estimated nodes on test walks."""

    walks: Walks
    codes: Codes
    predicted: Integers  # (B, N - 1) of the next observation
    nodes: Integers  # (B, N) the estimated node, -1 where there is none
    truth: Truth | None = None


@dataclass(frozen=True, eq=False)
class Material:
    """One model. A page leaves out the sections for which there is no data."""

    name: str  # as the paper prints it
    config: Mapping[str, Any]  # of the run folder
    cognitive_map: CognitiveMap
    layout: Floats  # (V, 2) x, y of the map's nodes, computed without truth
    rows: Sequence[Mapping[str, Any]] = ()  # of metrics.jsonl
    scored: tuple[Scored, ...] = ()
    reading: Reading | None = None

    @property
    def truth(self) -> Truth | None:
        return None if self.reading is None else self.reading.truth


def read_with(
    cognitive_map: CognitiveMap, walks: Walks, codes: Codes, predicted: Integers, truth: Truth | None
) -> Reading:
    """A model's reading of test walks, with the same nodes as for its scores."""
    nodes = estimated_nodes(cognitive_map, walks.observations, walks.actions, walks.lengths, codes)
    return Reading(walks, codes, predicted, nodes, truth)


def places_of(material: Material) -> NodePlaces:
    """The true places of the map's nodes on the test walks, the same as for the scores."""
    reading = material.reading
    if reading is None or reading.truth is None:
        raise BadWalks(f"true places must have test walks with truth, got none for {material.name}")
    num_nodes = material.cognitive_map.num_nodes
    return node_places(reading.nodes, reading.walks.step_mask(), num_nodes, reading.truth)


class Attempt(NamedTuple):
    """A plan, and the positions (L + 1,) that it visits from the true start."""

    plan: Plan
    visited: Integers


class Example(NamedTuple):
    """A planning problem, and the plans of one or two models; None where a model found no plan."""

    walk: int
    start_step: int
    goal_step: int
    context: Integers  # (C,) positions up to the start
    goal: int  # position
    own: Attempt | None
    baseline: Attempt | None


def example_problem(own: Material, baseline: Material | None = None) -> Example | None:
    """The problem with the farthest goal that `own` reaches and, if there is one, `baseline` misses."""
    reading, truth = own.reading, own.truth
    if reading is None or truth is None or reading.walks.lengths.min() < 4:
        return None
    problems = paper_problems(reading.walks, fitting_context(reading.walks), _PROBLEMS)
    ours = _attempts(own, problems, truth)
    theirs = [None] * len(ours) if baseline is None else _attempts(baseline, problems, truth)
    start, goal = (
        truth.positions[problems.walk, step] for step in (problems.start_step, problems.target_step)
    )
    distance = np.nan_to_num(optimal_distances(truth.world)[start, goal], posinf=-1)

    def preference(index: int) -> tuple[bool, bool, float]:
        own_attempt, other = ours[index], theirs[index]
        reached = own_attempt is not None and own_attempt.visited[-1] == goal[index]
        misled = other is not None and other.visited[-1] != goal[index]
        return bool(reached), bool(misled), float(distance[index])

    best = max(range(len(problems)), key=preference)
    walk, start_step, goal_step = (
        int(column[best]) for column in (problems.walk, problems.start_step, problems.target_step)
    )
    context = truth.positions[walk, : start_step + 1]
    return Example(walk, start_step, goal_step, context, int(goal[best]), ours[best], theirs[best])


def _attempts(material: Material, problems: WalkProblems, truth: Truth) -> list[Attempt | None]:
    if material.reading is None:
        return [None] * len(problems)
    outcomes = solve_many(material.cognitive_map, map_problems(problems, material.reading.nodes))
    start = truth.positions[problems.walk, problems.start_step].tolist()
    return [
        Attempt(outcome, follow(truth.world, position, outcome.actions))
        if isinstance(outcome, Plan)
        else None
        for position, outcome in zip(start, outcomes, strict=True)
    ]
