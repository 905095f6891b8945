"""Compute the best action at every node of a map, for worlds with chance."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from cogmap.commands.output import print_json
from cogmap.errors import BadConfig
from cogmap.planning.policies import Policy, find_policy
from cogmap.planning.shortest_paths import Showing, check_node
from cogmap.records import CognitiveMap, label_of
from cogmap.runs.names import MapKind
from cogmap.runs.plans import moment, nodes_at
from cogmap.runs.run import Run, load_run

_ROWS = 20  # nodes that are printed for a person


@dataclass(frozen=True)
class Args:
    """Compute the best action at every node, for worlds with chance, and the probability of arriving."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    to: str | None = None
    """where to go: a node of the map, or WALK:STEP in --walks"""
    showing: str | None = None
    """instead of --to: any place that shows this observation; without either, maximise the rewards of the walks"""
    from_: Annotated[str | None, tyro.conf.arg(name="from")] = None
    """where to start, a node or WALK:STEP: print what to expect from there"""
    walks: Path | None = None
    """walks that WALK:STEP refers to"""
    avoid: tuple[str, ...] = ()
    """observations that must never be passed"""
    cost: tuple[str, ...] = ()
    """OBSERVATION=STEPS: an extra cost, in steps, each time that the observation is passed"""
    discount: float | None = None
    """discount per step, below 1; by default none to a goal, and 0.95 for rewards"""
    map: MapKind = "minimal"
    """which of the run's maps to use"""
    json: bool = False
    """print the action, probability of arriving, expected steps and value of every node as JSON"""


def run(args: Args) -> None:
    if args.to is not None and args.showing is not None:
        raise BadConfig("a policy has one goal: give --to or --showing, not both")
    opened = load_run(args.run)
    found = opened.map_of(args.map)
    goal = Showing(args.showing) if args.showing is not None else _node(opened, args, "--to", args.to)
    start = _node(opened, args, "--from", args.from_)
    policy = find_policy(found, goal, args.avoid, dict(map(_cost, args.cost)), args.discount)
    if args.json:
        print_json(_as_json(policy, start))
        return
    print("\n".join(_lines(policy, found, start)))


def _node(opened: Run, args: Args, name: str, text: str | None) -> int | None:
    """A node by its number, or the node at a moment of a walk."""
    if text is None:
        return None
    found = opened.map_of(args.map)
    if ":" not in text:
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise BadConfig(f"`{name}` must be a node or WALK:STEP, got {text!r:.60}")
        return check_node(found, int(text), name)
    if args.walks is None:
        raise BadConfig(f"`{name}` {text:.60} is a moment of a walk: give --walks too")
    at = moment(name, text)
    return nodes_at(opened, found, opened.load_walks(args.walks), [(name, at)])[at]


def _cost(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        if name:
            return name, float(number)
        raise ValueError
    except ValueError:
        raise BadConfig(f"`--cost` must be OBSERVATION=STEPS, got {text!r:.60}") from None


def _as_json(policy: Policy, start: int | None) -> dict[str, Any]:
    columns = {
        "action": [policy.label(node) for node in range(len(policy.action))],
        "action_indices": policy.action.tolist(),
        "arrival": _column(policy.arrival),
        "steps": _column(policy.steps),
        "value": _column(policy.value),
    }
    answer: dict[str, Any] = {"goals": list(policy.goals)} | columns
    if start is not None:
        answer["from"] = {"node": start} | {
            name: None if column is None else column[start] for name, column in columns.items()
        }
    return answer


def _column(values: Any) -> list[float | None] | None:
    """Numbers, null where there is none: JSON has no infinity."""
    return None if values is None else [value if np.isfinite(value) else None for value in values.tolist()]


def _lines(policy: Policy, found: CognitiveMap, start: int | None) -> list[str]:
    lines = [str(policy)]
    if start is not None:
        lines.append(_expected(policy, start))
        return lines
    lines += [
        f"  node {node} ({label_of(found.observation_labels, found.node_observation[node])}): {_at(policy, node)}"
        for node in range(min(_ROWS, found.num_nodes))
    ]
    if found.num_nodes > _ROWS:
        lines.append(f"  and {found.num_nodes - _ROWS} nodes more: --json prints all")
    return lines


def _at(policy: Policy, node: int) -> str:
    chosen = policy.label(node)
    if chosen is None:
        return "the goal" if node in policy.goals else "no action leads away from here"
    if policy.arrival is None or policy.steps is None:
        assert policy.value is not None
        return f"{chosen}, value {policy.value[node]:.3f}"
    return f"{chosen}, arrives {policy.arrival[node]:.1%}, {policy.steps[node]:.1f} steps"


def _expected(policy: Policy, node: int) -> str:
    if policy.arrival is None or policy.steps is None:
        return f"from node {node}: {_at(policy, node)}"
    if node in policy.goals:
        return f"node {node} is the goal already"
    if policy.label(node) is None:
        return f"from node {node} the goal is never reached"
    sure = "for sure" if policy.arrival[node] >= 1 - 1e-9 else f"with probability {policy.arrival[node]:.3f}"
    return f"from node {node} it arrives {sure}, in {policy.steps[node]:.1f} expected steps: first {policy.label(node)}"
