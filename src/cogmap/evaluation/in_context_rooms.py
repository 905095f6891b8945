"""Scores in rooms that a model was never trained in: each mapped from its own few walks, and planned in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cogmap.evaluation.ged import edit_distance, map_graph, world_graph
from cogmap.evaluation.places import is_exact, node_places
from cogmap.evaluation.planning import map_problems, paper_problems, score_plans
from cogmap.planning.solve import Outcome, solve_many
from cogmap.planning.whereabouts import whereabouts
from cogmap.records import Codes, CognitiveMap, Floats, Integers, TableWorld, Truth, Walks
from cogmap.walks.base_targets import base_targets

CONTEXT_LENGTH = 100


@dataclass(frozen=True, eq=False)
class InContextAccuracy:
    """How often the next target in base is foretold in new rooms."""

    accuracy: float  # over all steps of all walks
    by_step: Floats  # (N - 1,)


@dataclass(frozen=True)
class InContextScores:
    """What maps of new rooms are worth: shares over all planning problems, means over rooms for the rest."""

    imp_fallback: float  # share of problems with a valid path shorter than the walk's own
    ratio_sp: float | None  # length of such a path by the optimal length
    optimal: float  # share of problems solved with a path of optimal length
    norm_ged: float  # an upper bound of each room's, its mean
    norm_ged_lower: float
    exact: float  # share of rooms whose map is the room
    nodes: float  # of a map
    explained: float  # share of a room's steps that follow an edge of its map
    rooms: int
    problems: int


def in_context_accuracy(predicted: Integers, walks: Walks) -> InContextAccuracy:
    """Of predictions in base (B, N - 1): `predicted[b, n]` foretells the target at n + 1. Walks are of one length."""
    right = predicted == base_targets(walks)[:, 1:]
    return InContextAccuracy(float(right.mean()), right.mean(axis=0))


def score_new_rooms(
    codes: Codes,
    walks: Walks,
    truth: Truth,
    rooms: Integers,
    map_room: Callable[[Codes, Walks], CognitiveMap],
    context_length: int = CONTEXT_LENGTH,
) -> InContextScores:
    """Map each room of `rooms` (B,) from the codes of its own walks, then solve the planning problem of each walk.

    The truth's world is the one that all rooms share; in a path without constraints colours play no part.
    """
    outcomes: list[Outcome | None] = [None] * walks.num_walks
    scores = []
    for room in np.unique(rooms):
        index = np.flatnonzero(rooms == room)
        found, row = _score_room(
            codes.rows(index),
            walks.rows(index),
            Truth(truth.positions[index], truth.world),
            map_room,
            context_length,
        )
        scores.append(row)
        for walk, outcome in zip(index, found, strict=True):
            outcomes[walk] = outcome
    planned = score_plans(
        [outcome for outcome in outcomes if outcome is not None],
        paper_problems(walks, context_length, walks.num_walks),
        truth,
    )
    mean = {name: float(np.mean([row[name] for row in scores])) for name in scores[0]}
    return InContextScores(
        imp_fallback=planned.imp_fallback,
        ratio_sp=planned.ratio_sp,
        optimal=planned.optimal,
        rooms=len(scores),
        problems=walks.num_walks,
        **mean,
    )


def _score_room(
    codes: Codes,
    walks: Walks,
    truth: Truth,
    map_room: Callable[[Codes, Walks], CognitiveMap],
    context_length: int,
) -> tuple[list[Outcome], dict[str, float]]:
    """The plans of one room's problems, and how near its map comes to it."""
    found = map_room(codes, walks)
    nodes = whereabouts(found, codes, walks.observations, walks.actions)
    places = node_places(nodes, walks.step_mask(), found.num_nodes, truth)
    distance = edit_distance(map_graph(found, places.position), world_graph(truth.world))
    asked = paper_problems(walks, context_length, walks.num_walks)
    return list(solve_many(found, map_problems(asked, nodes))), {
        "norm_ged": distance.norm_ged,
        "norm_ged_lower": distance.lower / distance.size,
        "exact": is_exact(found, places.position, _painted(truth, walks)),
        "nodes": found.num_nodes,
        "explained": found.explained,
    }


def _painted(truth: Truth, walks: Walks) -> TableWorld:
    """The room in the colours that its walks show, all positions of a set alike."""
    colours = np.zeros(truth.world.num_observations, dtype=np.int32)
    mask = walks.step_mask()
    colours[truth.world.observation[truth.positions[mask]]] = walks.observations[mask]
    return TableWorld(
        next_position=truth.world.next_position,
        observation=colours[truth.world.observation],
        num_observations=walks.num_observations,
        legal=truth.world.legal,
    )
