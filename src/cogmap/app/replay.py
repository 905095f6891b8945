"""A walk of the file, and where the filter over the map takes the agent to be on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cogmap.app.asking import belief_answer, filtered, placed
from cogmap.app.opened_map import OpenedMap
from cogmap.errors import NotOnMap
from cogmap.planning.localise import MIN_CERTAINTY, track
from cogmap.records import Booleans, Integers, Truth, Walks

_DIGITS = 6


def replay_answer(opened: OpenedMap, walks: Walks, truth: Truth | None, walk: int) -> dict[str, Any]:
    """/api/replay/{walk}"""
    _check(opened, walks, walk)
    length = int(walks.lengths[walk])
    seen, done = walks.observations[walk, :length], walks.actions[walk, : length - 1]
    nodes, certainty = (row[0] for row in track(opened.map, seen[None], done[None]))
    sure = certainty >= MIN_CERTAINTY
    return {
        "walk": walk,
        "map": opened.kind,
        "revision": opened.revision,
        "observations": seen.tolist(),
        "actions": done.tolist(),
        "nodes": nodes.tolist(),
        "certainty": certainty.round(_DIGITS).tolist(),
        "sure": sure.astype(int).tolist(),
        "teleported": teleported(opened, nodes, sure).tolist(),
        "positions": None if truth is None else truth.positions[walk, :length].tolist(),
    }


def belief_at(opened: OpenedMap, walks: Walks, walk: int, step: int) -> dict[str, Any]:
    """/api/replay/{walk}/{step}"""
    _check(opened, walks, walk)
    if not 0 <= step < walks.lengths[walk]:
        last = walks.lengths[walk] - 1
        raise NotOnMap(f"`step` must be a step of walk {walk}, 0 to {last}, got step {step}")
    seen, done = walks.observations[walk, : step + 1].tolist(), walks.actions[walk, :step].tolist()
    belief = filtered(opened.belief, seen, done)
    return {
        "walk": walk,
        "step": step,
        "revision": opened.revision,
        "observation": seen[-1],
        **placed(belief),
        "belief": belief_answer(belief),
    }


def teleported(opened: OpenedMap, nodes: Integers, sure: Booleans) -> Integers:
    """The steps at which a sure node (N,) is neither the sure one before it nor a neighbour of it by any action."""
    source, target = nodes[:-1].astype(np.int64), nodes[1:]
    near = np.isin(source * opened.map.num_nodes + target, opened.roads) | (source == target)
    return np.flatnonzero(sure[:-1] & sure[1:] & ~near).astype(np.int32) + 1


def _check(opened: OpenedMap, walks: Walks, walk: int) -> None:
    if not 0 <= walk < walks.num_walks:
        raise NotOnMap(f"`walk` must be in the walks file, 0 to {walks.num_walks - 1}, got walk {walk}")
    if opened.map.num_nodes == 0:
        raise NotOnMap("the map must have a node for this, it has none")
