"""What is asked of a planner: from which node to where, and what to keep away from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cogmap.errors import NotOnMap
from cogmap.records import CognitiveMap, Labels


@dataclass(frozen=True)
class Showing:
    """A goal by sight: any node that shows this observation, the nearest one first."""

    observation: int | str


Goal = int | Sequence[int] | Showing


@dataclass(frozen=True)
class Problem:
    """One question to the planner.

    A path keeps off nodes that show an observation of `avoid`; the start and the goal themselves may show
    one. Where no such path exists the constraint is dropped, as in the paper, unless `strict`.
    """

    start: int
    goal: Goal
    avoid: tuple[int | str, ...] = ()
    strict: bool = False


def observation_index(name: int | str, count: int, labels: Labels | None, what: str = "observation") -> int:
    """The index of an observation given by its label or by the index itself."""
    if labels is not None and name in labels:
        return labels.index(str(name))
    if isinstance(name, str) and not name.isdecimal():
        known = "has no labels" if labels is None else f"knows {_some(labels)}"
        raise NotOnMap(f"`{what}` must be an observation of the map, which {known}; got {name!r}")
    if not 0 <= int(name) < count:
        raise NotOnMap(f"`{what}` must be an observation of the map, 0 to {count - 1}, got {name}")
    return int(name)


def avoided_observations(cognitive_map: CognitiveMap, avoid: Iterable[int | str]) -> frozenset[int]:
    """The indices of the observations to keep away from."""
    if isinstance(avoid, str):
        avoid = (avoid,)
    count, labels = cognitive_map.num_observations, cognitive_map.observation_labels
    return frozenset(observation_index(name, count, labels, "avoid") for name in avoid)


def goal_nodes(cognitive_map: CognitiveMap, goal: Goal) -> tuple[int, ...]:
    """The nodes that would each do as a goal, in rising order."""
    if isinstance(goal, Showing):
        count, labels = cognitive_map.num_observations, cognitive_map.observation_labels
        index = observation_index(goal.observation, count, labels, "goal")
        nodes = tuple(np.flatnonzero(cognitive_map.node_observation == index).tolist())
        if not nodes:
            raise NotOnMap(f"`goal` must be shown by a node of the map, no node shows {goal.observation!r}")
        return nodes
    chosen = (goal,) if isinstance(goal, int | np.integer) else tuple(goal)
    if not chosen:
        raise NotOnMap("`goal` must name at least one node of the map, got none")
    return tuple(sorted({check_node(cognitive_map, node, "goal") for node in chosen}))


def check_node(cognitive_map: CognitiveMap, node: int, what: str) -> int:
    """The node itself, if the map has it."""
    if not 0 <= node < cognitive_map.num_nodes:
        raise NotOnMap(f"`{what}` must be a node of the map, 0 to {cognitive_map.num_nodes - 1}, got {node}")
    return int(node)


def _some(labels: Labels, most: int = 12) -> str:
    return ", ".join(labels[:most]) + (", ..." if len(labels) > most else "")
