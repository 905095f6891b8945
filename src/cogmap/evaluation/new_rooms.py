"""Scores in rooms that a model was never trained in: each mapped from its own few walks, and planned in.

The ceiling of in-context accuracy is a Bayes filter that knows the family's partition, but not the room's colours. Its
hypotheses are a position and an order: which set of the partition is the first that this walk showed, which the second,
and so on. Colours themselves say nothing of sets, since rooms draw them without regard to order; only which steps look
alike does. It predicts the target in base: of an observation seen before, its rank; of a new one, the ranks that the
colours not seen yet would have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.evaluation.ged import edit_distance, map_graph, world_graph
from cogmap.evaluation.places import is_exact, true_places
from cogmap.evaluation.planning import map_problems, paper_problems, score_plans
from cogmap.evaluation.prediction import Ceiling
from cogmap.planning.shortest_paths import Outcome, solve_many
from cogmap.records import Booleans, Codes, CognitiveMap, Floats, Integers, TableWorld, Truth, Walks
from cogmap.walks.family import base_targets

WALKS_AT_ONCE = 64


def family_ceiling(walks: Walks, base: TableWorld) -> Ceiling:
    """Accuracy of the filter on whole walks in rooms of the family whose `base` shows the sets."""
    right = np.concatenate(
        [
            _foretold(walks.rows(np.arange(first, min(first + WALKS_AT_ONCE, walks.num_walks))), base)
            for first in range(0, walks.num_walks, WALKS_AT_ONCE)
        ]
    )  # (B, N - 1)
    return Ceiling(accuracy=float(right.mean()), by_step=right.mean(axis=0))


def _foretold(walks: Walks, base: TableWorld) -> Booleans:
    """(B, N - 1) whether the filter's likeliest target at step n + 1 comes."""
    # (H, O) the set met first, second, ...
    orders = np.array(list(permutations(range(base.num_observations))))
    slot = np.argsort(orders, axis=1)[:, base.observation]  # (H, P) as which the look of a position is met
    likelihood = base.legal_actions() / base.legal_actions().sum(axis=1, keepdims=True)  # (P, A)
    moves = [_move(base, likelihood[:, action], action) for action in range(base.num_actions)]
    met = _Met(walks)
    targets = base_targets(walks)
    belief = np.ones((walks.num_walks, *slot.shape))  # (B, H, P)
    right = np.zeros((walks.num_walks, walks.num_steps - 1), dtype=bool)
    for step in range(walks.num_steps):
        if step:
            belief = np.stack(
                [row @ moves[a] for row, a in zip(belief, walks.actions[:, step - 1], strict=True)]
            )
            chances = _target_chances(_slot_mass(belief, slot), met)
            right[:, step - 1] = chances.argmax(axis=1) == targets[:, step]
        belief = belief * (slot[None] == met.look(walks.observations[:, step])[:, None, None])
        total = belief.sum(axis=(1, 2), keepdims=True)
        if not total.all():
            rule = "walks must be possible in the family"
            raise BadWalks(f"{rule}, walk {int(np.argmin(total))} is not from step {step} on")
        belief /= total
    return right


def _move(base: TableWorld, likelihood: Floats, action: int) -> Floats:
    """(P, P) how a belief moves with an action, and what drawing that action says of the place."""
    matrix = np.zeros((base.num_positions, base.num_positions))
    matrix[np.arange(base.num_positions), base.next_position[:, action]] = likelihood
    return matrix


def _slot_mass(belief: Floats, slot: NDArray[np.int_]) -> Floats:
    """(B, O) how likely the next look is the first one met, the second, ..."""
    looks = range(int(slot.max()) + 1)
    return np.stack([(belief * (slot == look)).sum(axis=(1, 2)) for look in looks], axis=1)


class _Met:
    """The observations that each walk has met so far, in the order in which it met them."""

    def __init__(self, walks: Walks) -> None:
        # (B, C) as which each was met, or -1
        self.order = np.full((walks.num_walks, walks.num_observations), -1)
        self.count = np.zeros(walks.num_walks, dtype=np.int64)  # (B,)

    def look(self, observations: Integers) -> NDArray[np.int_]:
        """(B,) as which one each observation (B,) is met; a new one is the next."""
        rows = np.arange(len(observations))
        new = self.order[rows, observations] < 0
        self.order[rows[new], observations[new]] = self.count[new]
        self.count += new
        return self.order[rows, observations]


def _target_chances(mass: Floats, met: _Met) -> Floats:
    """(B, O) the chance of every target, given how likely each look is (B, O)."""
    known = met.order >= 0  # (B, C)
    rank: NDArray[np.int_] = np.cumsum(known, axis=1) - known  # (B, C) observations met below each
    chances = np.zeros_like(mass)
    rows, observation = np.nonzero(known)
    chances[rows, rank[rows, observation]] += mass[rows, met.order[rows, observation]]
    slots = np.arange(mass.shape[1])
    new = np.where(slots >= met.count[:, None], mass, 0).sum(axis=1)  # (B,)
    share = new / np.maximum((~known).sum(axis=1), 1)
    rows, observation = np.nonzero(~known & (new > 0)[:, None])
    np.add.at(chances, (rows, np.minimum(rank[rows, observation], mass.shape[1] - 1)), share[rows])
    return chances


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
    places = true_places(found, walks, truth, codes)
    distance = edit_distance(map_graph(found, places.position), world_graph(truth.world))
    asked = paper_problems(walks, context_length, walks.num_walks)
    return list(solve_many(found, map_problems(asked, places.nodes))), {
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
