"""Planning and locating, in the words of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cogmap.app.opened_map import OpenedMap
from cogmap.errors import BadWalks, CogmapError, NotOnMap
from cogmap.planning.localise import MIN_CERTAINTY, BeliefModel
from cogmap.planning.shortest_paths import (
    Problem,
    Showing,
    avoided_observations,
    observation_index,
    solve,
    solve_many,
)
from cogmap.records import Floats, Labels, Plan, TableWorld

_LEAST = 1e-4  # a node less likely than this is among the rest of a belief
_MOST_NODES = 1000  # of a belief
_DIGITS = 6


def plan_answer(opened: OpenedMap, asked: Mapping[str, Any], world: TableWorld | None) -> dict[str, Any]:
    """/api/plan, or the error that says why there is no plan."""
    problem = _problem(asked)
    plan = solve(opened.map, problem.start, problem.goal, problem.avoid, problem.strict)
    return _plan(opened, problem, plan, world)


def plans_answer(
    opened: OpenedMap, asked: Sequence[Mapping[str, Any]], world: TableWorld | None
) -> dict[str, Any]:
    """/api/plans: one after the other, errors in their places."""
    problems = [_problem(one) for one in asked]
    outcomes = zip(problems, solve_many(opened.map, problems), strict=True)
    return {
        "plans": [
            {"error": str(outcome)}
            if isinstance(outcome, CogmapError)
            else _plan(opened, problem, outcome, world)
            for problem, outcome in outcomes
        ]
    }


def locate_answer(opened: OpenedMap, asked: Mapping[str, Any]) -> dict[str, Any]:
    """/api/locate: by the map alone, what the codes of the model would say is not asked."""
    found = opened.map
    seen = [observation_of(opened, value) for value in asked["observations"]]
    done = [action_of(opened, value) for value in asked["actions"]]
    if len(done) != len(seen) - 1:
        rule = "a history must have one action fewer than observations"
        raise BadWalks(f"{rule}, got {len(seen)} and {len(done)}")
    if found.num_nodes == 0:
        raise NotOnMap("the map must have a node for this, it has none")
    belief = filtered(opened.belief, seen, done)
    return {**placed(belief), "belief": belief_answer(belief), "revision": opened.revision}


def filtered(model: BeliefModel, seen: Sequence[int], done: Sequence[int]) -> Floats:
    """(V,) the belief after a history."""
    belief = model.after_seeing(model.uniform_prior(), seen[0])
    for action, observation in zip(done, seen[1:], strict=True):
        belief = model.after_seeing(model.after_action(belief, action), observation)
    return belief


def placed(belief: Floats) -> dict[str, Any]:
    """The likeliest node, and how likely it is."""
    node = int(belief.argmax())
    certainty = float(belief[node])
    return {"node": node, "certainty": round(certainty, _DIGITS), "sure": certainty >= MIN_CERTAINTY}


def belief_answer(belief: Floats) -> dict[str, Any]:
    """The likely nodes, likeliest first, and how much is left for all others."""
    likely = np.flatnonzero(belief >= _LEAST)
    likely = likely[np.argsort(-belief[likely], kind="stable")][:_MOST_NODES]
    shares = belief[likely]
    positive = belief[belief > 0]
    return {
        "nodes": likely.tolist(),
        "probabilities": shares.round(_DIGITS).tolist(),
        "rest": round(max(0.0, 1 - float(shares.sum())), _DIGITS),
        "candidates": round(float(np.exp(-(positive * np.log(positive)).sum())), 3),
    }


def observation_of(opened: OpenedMap, value: int | str) -> int:
    found = opened.map
    return observation_index(value, found.num_observations, found.observation_labels)


def action_of(opened: OpenedMap, value: int | str) -> int:
    """The index of an action given by its label or by the index itself."""
    labels: Labels = opened.map.action_labels or ()
    if isinstance(value, str) and value in labels:
        return labels.index(value)
    count = opened.map.num_actions
    if isinstance(value, int) and 0 <= value < count:
        return value
    known = ", ".join(labels[:12]) if labels else f"0 to {count - 1}"
    raise NotOnMap(f"`action` must be one of {known}, got {value!r}")


def _problem(asked: Mapping[str, Any]) -> Problem:
    goal = Showing(asked["showing"]) if "showing" in asked else asked["goal"]
    return Problem(asked["start"], goal, tuple(asked.get("avoid", ())), asked.get("strict", False))


def _plan(opened: OpenedMap, problem: Problem, plan: Plan, world: TableWorld | None) -> dict[str, Any]:
    avoided = avoided_observations(opened.map, problem.avoid)
    observations = plan.observations.tolist()
    return {
        "nodes": plan.nodes.tolist(),
        "actions": plan.actions.tolist(),
        "observations": observations,
        "avoided": avoided.isdisjoint(observations[1:-1]),
        "positions": _met(opened, plan, world),
    }


def _met(opened: OpenedMap, plan: Plan, world: TableWorld | None) -> list[int] | None:
    """The true positions that following the plan meets, from the one that its first node stands for."""
    if world is None or opened.places is None or opened.places.position[plan.nodes[0]] < 0:
        return None
    met = [int(opened.places.position[plan.nodes[0]])]
    for action in plan.actions.tolist():
        met.append(int(world.next_position[met[-1], action]))
    return met
