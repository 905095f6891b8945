"""Where an agent is on a map after a history: one that is sent, or a walk of the file, by the map's belief filter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cogmap.app import schema
from cogmap.app.security import Deadline
from cogmap.app.shown_map import ShownMap
from cogmap.errors import BadWalks, NotOnMap
from cogmap.hmm.belief import BeliefModel
from cogmap.planning.localise import MIN_CERTAINTY, track
from cogmap.planning.shortest_paths import transition_graph
from cogmap.records import Booleans, Floats, Integers, Truth, Walks

_LEAST = 1e-4  # a node less likely than this is among the rest of a belief
_MOST_NODES = 1000  # of a belief
_DIGITS = 6


def locate(shown: ShownMap, asked: schema.LocateRequest, until: Deadline) -> schema.Place:
    """/api/locate: by the map alone, since the server has no model whose codes could help."""
    seen = [shown.observation_of(value) for value in asked.observations]
    done = [shown.action_of(value) for value in asked.actions]
    if len(done) != len(seen) - 1:
        rule = "a history must have one action fewer than observations"
        raise BadWalks(f"{rule}, got {len(seen)} and {len(done)}")
    shown.check_not_empty()
    return {**estimate(filtered(shown.belief, seen, done, until)), "revision": shown.revision}


def replay(shown: ShownMap, walks: Walks, truth: Truth | None, walk: int) -> schema.Replay:
    """/api/replay/{walk}"""
    _check(shown, walks, walk)
    length = int(walks.lengths[walk])
    seen, done = walks.observations[walk, :length], walks.actions[walk, : length - 1]
    nodes, certainty = (row[0] for row in track(shown.map, seen[None], done[None]))
    sure = certainty >= MIN_CERTAINTY
    return {
        "walk": walk,
        "map": shown.kind,
        "revision": shown.revision,
        "observations": seen.tolist(),
        "actions": done.tolist(),
        "nodes": nodes.tolist(),
        "certainty": certainty.round(_DIGITS).tolist(),
        "sure": sure.astype(int).tolist(),
        "teleported": teleported(shown, nodes, sure).tolist(),
        "positions": None if truth is None else truth.positions[walk, :length].tolist(),
    }


def replay_step(shown: ShownMap, walks: Walks, walk: int, step: int, until: Deadline) -> schema.ReplayStep:
    """/api/replay/{walk}/{step}"""
    _check(shown, walks, walk)
    if not 0 <= step < walks.lengths[walk]:
        last = walks.lengths[walk] - 1
        raise NotOnMap(f"`step` must be a step of walk {walk}, 0 to {last}, got step {step}")
    seen, done = walks.observations[walk, : step + 1].tolist(), walks.actions[walk, :step].tolist()
    here = estimate(filtered(shown.belief, seen, done, until))
    return {"walk": walk, "step": step, "revision": shown.revision, "observation": seen[-1], **here}


def filtered(model: BeliefModel, seen: Sequence[int], done: Sequence[int], until: Deadline) -> Floats:
    """(V,) the belief after a history."""
    belief = model.after_seeing(model.prior, seen[0])
    for action, observation in zip(done, seen[1:], strict=True):
        until.check()
        belief = model.after_seeing(model.after_action(belief, action), observation)
    return belief


def estimate(belief: Floats) -> schema.Estimate:
    """The likeliest node, how likely it is, and the others."""
    node, certainty = estimated_node(belief)
    return {
        "node": node,
        "certainty": certainty,
        "sure": bool(belief[node] >= MIN_CERTAINTY),
        "belief": _belief_answer(belief),
    }


def estimated_node(belief: Floats) -> tuple[int, float]:
    """The likeliest node, and how likely it is."""
    node = int(belief.argmax())
    return node, round(float(belief[node]), _DIGITS)


def teleported(shown: ShownMap, nodes: Integers, sure: Booleans) -> Integers:
    """The steps at which a sure node (N,) is neither the sure one before it nor a neighbour of it by any action."""
    source, target = nodes[:-1], nodes[1:]
    near = transition_graph(shown.map).has_edge(source, target) | (source == target)
    return np.flatnonzero(sure[:-1] & sure[1:] & ~near).astype(np.int32) + 1


def _belief_answer(belief: Floats) -> schema.Belief:
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


def _check(shown: ShownMap, walks: Walks, walk: int) -> None:
    if not 0 <= walk < walks.num_walks:
        raise NotOnMap(f"`walk` must be in the walks file, 0 to {walks.num_walks - 1}, got walk {walk}")
    shown.check_not_empty()
