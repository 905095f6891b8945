"""Scores in rooms that a model was never trained in: each room is mapped from its own few walks, then planned in.

The ceiling of in-context accuracy is the accuracy of a Bayes filter that knows the family's partition of positions into
sets of one colour, but not the room's colours. A hypothesis of the filter is a position and an order: which set this
walk saw first, which second, and so on. The colours themselves carry no information about the sets, since rooms draw
them at random; only which steps share a colour does. The filter predicts the target in base: for an observation seen
before, its rank among those seen; for a new one, the ranks that the colours not seen yet would have.
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
CONTEXT_LENGTH = 100


@dataclass(frozen=True, eq=False)
class InContextAccuracy:
    """How often the next target in base is predicted in new rooms."""

    accuracy: float  # over all steps of all walks
    by_step: Floats  # (N - 1,)


@dataclass(frozen=True)
class InContextScores:
    """Scores of maps of new rooms: shares of all planning problems, and means over rooms for the rest."""

    imp_fallback: float  # share of problems with a valid path shorter than the walk's own
    ratio_sp: float | None  # mean length of such a path divided by the optimal length
    optimal: float  # share of problems solved with a path of optimal length
    norm_ged: float  # an upper bound
    norm_ged_lower: float
    exact: float  # share of rooms whose map equals the room
    nodes: float  # of the map
    explained: float  # share of a room's steps that follow an edge of its map
    rooms: int
    problems: int


def in_context_accuracy(predicted: Integers, walks: Walks) -> InContextAccuracy:
    """Accuracy of predictions in base (B, N - 1), of which [b, n] is for the target at n + 1; walks of one length."""
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
    """Map each room from the codes of its own walks, then solve the planning problem of each walk.

    `rooms` (B,) is the room of each walk. The truth's world is the one that all rooms share; colours do not matter
    for paths without constraints.
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


def family_ceiling(walks: Walks, base: TableWorld) -> Ceiling:
    """Accuracy of the filter on whole walks in rooms of a family; the observations of `base` are the sets."""
    right = np.concatenate(
        [
            _correct(walks.rows(np.arange(first, min(first + WALKS_AT_ONCE, walks.num_walks))), base)
            for first in range(0, walks.num_walks, WALKS_AT_ONCE)
        ]
    )  # (B, N - 1)
    return Ceiling(accuracy=float(right.mean()), by_step=right.mean(axis=0))


def _score_room(
    codes: Codes,
    walks: Walks,
    truth: Truth,
    map_room: Callable[[Codes, Walks], CognitiveMap],
    context_length: int,
) -> tuple[list[Outcome], dict[str, float]]:
    """The plans for one room's problems, and the scores of its map."""
    found = map_room(codes, walks)
    places = true_places(found, walks, truth, codes)
    distance = edit_distance(map_graph(found, places.position), world_graph(truth.world))
    asked = paper_problems(walks, context_length, walks.num_walks)
    return list(solve_many(found, map_problems(asked, places.nodes))), {
        "norm_ged": distance.norm_ged,
        "norm_ged_lower": distance.lower / distance.size,
        "exact": is_exact(found, places.position, _with_colours(truth, walks)),
        "nodes": found.num_nodes,
        "explained": found.explained,
    }


def _with_colours(truth: Truth, walks: Walks) -> TableWorld:
    """The room in the colours that its walks show; all positions of a set have one colour."""
    colours = np.zeros(truth.world.num_observations, dtype=np.int32)
    mask = walks.step_mask()
    colours[truth.world.observation[truth.positions[mask]]] = walks.observations[mask]
    return TableWorld(
        next_position=truth.world.next_position,
        observation=colours[truth.world.observation],
        num_observations=walks.num_observations,
        legal=truth.world.legal,
    )


def _correct(walks: Walks, base: TableWorld) -> Booleans:
    """(B, N - 1) whether the filter's likeliest target at step n + 1 is the right one."""
    # (H, O) the set seen first, second, ...
    orders = np.array(list(permutations(range(base.num_observations))))
    slot = np.argsort(orders, axis=1)[:, base.observation]  # (H, P) where a position's set is in the order
    likelihood = base.legal_actions() / base.legal_actions().sum(axis=1, keepdims=True)  # (P, A)
    moves = [_move(base, likelihood[:, action], action) for action in range(base.num_actions)]
    seen = _SeenObservations(walks)
    targets = base_targets(walks)
    belief = np.ones((walks.num_walks, *slot.shape))  # (B, H, P)
    right = np.zeros((walks.num_walks, walks.num_steps - 1), dtype=bool)
    for step in range(walks.num_steps):
        if step:
            belief = np.stack(
                [row @ moves[a] for row, a in zip(belief, walks.actions[:, step - 1], strict=True)]
            )
            probability = _target_probability(_slot_probability(belief, slot), seen)
            right[:, step - 1] = probability.argmax(axis=1) == targets[:, step]
        belief = belief * (slot[None] == seen.add(walks.observations[:, step])[:, None, None])
        total = belief.sum(axis=(1, 2), keepdims=True)
        if not total.all():
            walk = int(np.argmin(total))
            raise BadWalks(
                f"walks must be possible in the family, walk {walk} becomes impossible at step {step}"
            )
        belief /= total
    return right


def _move(base: TableWorld, likelihood: Floats, action: int) -> Floats:
    """(P, P) the transition matrix of an action, times the probability of choosing it at each position (P,)."""
    matrix = np.zeros((base.num_positions, base.num_positions))
    matrix[np.arange(base.num_positions), base.next_position[:, action]] = likelihood
    return matrix


def _slot_probability(belief: Floats, slot: NDArray[np.int_]) -> Floats:
    """(B, O) the probability that the next observation is the first one seen, the second, ..."""
    slots = range(int(slot.max()) + 1)
    return np.stack([(belief * (slot == number)).sum(axis=(1, 2)) for number in slots], axis=1)


class _SeenObservations:
    """The observations that each walk has seen so far, in the order of their first appearance."""

    def __init__(self, walks: Walks) -> None:
        # (B, C) the place of each in that order, or -1
        self.order = np.full((walks.num_walks, walks.num_observations), -1)
        self.count = np.zeros(walks.num_walks, dtype=np.int64)  # (B,)

    def add(self, observations: Integers) -> NDArray[np.int_]:
        """(B,) the place in that order of each walk's next observation (B,); a new one comes last."""
        rows = np.arange(len(observations))
        new = self.order[rows, observations] < 0
        self.order[rows[new], observations[new]] = self.count[new]
        self.count += new
        return self.order[rows, observations]


def _target_probability(by_slot: Floats, seen: _SeenObservations) -> Floats:
    """(B, O) the probability of every target, given that of every slot (B, O)."""
    known = seen.order >= 0  # (B, C)
    rank: NDArray[np.int_] = np.cumsum(known, axis=1) - known  # (B, C) seen observations below each
    probability = np.zeros_like(by_slot)
    rows, observation = np.nonzero(known)
    probability[rows, rank[rows, observation]] += by_slot[rows, seen.order[rows, observation]]
    slots = np.arange(by_slot.shape[1])
    new = np.where(slots >= seen.count[:, None], by_slot, 0).sum(axis=1)  # (B,)
    share = new / np.maximum((~known).sum(axis=1), 1)
    rows, observation = np.nonzero(~known & (new > 0)[:, None])
    np.add.at(probability, (rows, np.minimum(rank[rows, observation], by_slot.shape[1] - 1)), share[rows])
    return probability
