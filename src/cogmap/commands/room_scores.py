"""A family's model on walks in new rooms: how often it foretells them, and what its maps of them are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.errors import BadRun
from cogmap.records import Codes, CognitiveMap, Integers, Truth, Walks

if TYPE_CHECKING:
    from cogmap.evaluation.new_rooms import InContextAccuracy
    from cogmap.evaluation.prediction import Ceiling
    from cogmap.models.tdb import VanillaModel
    from cogmap.run import Run

# "atlas" is what `cogmap map` gives as the minimal map of a new room. "atlas, seen" leaves out what the room's own
# walks did not come by; "paper, atlas" is the paper's builder on nodes of the atlas instead of codes; "minimal" and
# "paper" are the two builders on the codes of the room's walks alone, both with tuples joined by Hamming distance.
KINDS = ("atlas", "atlas, seen", "paper, atlas", "minimal", "paper")
ROLLOUTS = 10  # of a model without a map for each problem, as in the paper's appendix


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """What a model reached in new rooms. `by_map` has plans and maps of each kind, or under "" those of rollouts."""

    accuracy: InContextAccuracy
    ceiling: Ceiling | None  # None without the truth
    by_map: dict[str, dict[str, Any]]
    disentanglement: float | None  # None unless there are several bottlenecks, and it was asked for

    def flat(self) -> dict[str, dict[str, float]]:
        """Every number by map and name; what belongs to no map is under ""."""
        of_model: dict[str, float] = {"test_accu": self.accuracy.accuracy}
        if self.ceiling is not None:
            of_model["ceiling"] = self.ceiling.accuracy
        if self.disentanglement is not None:
            of_model["disentanglement"] = self.disentanglement
        found = {"": of_model} | {kind: dict(row) for kind, row in self.by_map.items() if kind}
        found[""] |= self.by_map.get("", {})
        return {
            kind: {name: value for name, value in row.items() if value is not None}
            for kind, row in found.items()
        }


def score_family(
    opened: Run,
    walks: Walks,
    truth: Truth | None,
    rooms: Integers,
    kinds: Sequence[str] = KINDS,
    context_length: int = 100,
    rollouts: int = ROLLOUTS,
    disentangled: bool = False,
) -> FamilyScores:
    """All that the walks allow; `rooms` (B,) is the room of each. Without the truth there are no plans to judge.

    disentangled: also ask how well bottlenecks foretell one another, which takes half a minute.
    """
    from cogmap.evaluation.new_rooms import family_ceiling, in_context_accuracy, score_new_rooms
    from cogmap.models.inference import encode_targets, predict_targets
    from cogmap.models.tdb import VanillaModel

    if not opened.config.in_base:
        raise BadRun(f"a run must be of a family of rooms, {opened.folder} is not")
    ceiling = None if truth is None else family_ceiling(walks, truth.world)
    if isinstance(opened.model, VanillaModel):
        accuracy = in_context_accuracy(predict_targets(opened.model, walks), walks)
        planned = (
            {} if truth is None else {"": _roll_out(opened.model, walks, truth, context_length, rollouts)}
        )
        return FamilyScores(accuracy, ceiling, planned, None)
    codes, predicted = encode_targets(opened.model, walks)
    by_map = {}
    if truth is not None:
        by_map = {
            kind: asdict(score_new_rooms(codes, walks, truth, rooms, _builder(opened, kind), context_length))
            for kind in kinds
        }
    told = _disentanglement(codes) if disentangled else None
    return FamilyScores(in_context_accuracy(predicted, walks), ceiling, by_map, told)


def _builder(opened: Run, kind: str) -> Callable[[Codes, Walks], CognitiveMap]:
    """How a room is mapped from its codes and walks."""
    from cogmap.family_learning import load_atlas
    from cogmap.maps.atlas import room_map
    from cogmap.maps.build import D_HAMMING, build_map
    from cogmap.maps.cluster import hamming_clusters
    from cogmap.planning.localise import nodes_by_code

    if kind == "paper":
        return lambda codes, walks: build_map(codes, walks, kind)
    if kind == "minimal":
        # A room's few steps meet most code tuples once or twice, which says nothing of where they lead.
        joined = partial(hamming_clusters, d_hamming=D_HAMMING)
        return lambda codes, walks: build_map(codes, walks, kind, cluster=joined)
    atlas = load_atlas(opened)
    if kind == "paper, atlas":
        return lambda codes, walks: build_map(codes, walks, "paper", cluster=partial(_clusters, atlas))
    return lambda codes, walks: room_map(
        atlas, nodes_by_code(atlas, codes), codes, walks, inferred=kind == "atlas"
    )


def _clusters(atlas: CognitiveMap, code_tuples: Integers) -> Integers:
    """(J,) tuples (J, M) by their node of the atlas; one that has none is alone."""
    from cogmap.planning.localise import locate

    node = locate(atlas, code_tuples)
    alone = atlas.num_nodes + np.arange(len(node), dtype=np.int32)
    return np.unique(np.where(node >= 0, node, alone), return_inverse=True)[1].astype(np.int32)


def _roll_out(
    model: VanillaModel, walks: Walks, truth: Truth, context_length: int, rollouts: int
) -> dict[str, Any]:
    from cogmap.evaluation.planning import paper_problems, rollout_problems, score_rollouts
    from cogmap.models.rollout_predictor import BaseForecaster
    from cogmap.planning.rollouts import roll_out

    asked = paper_problems(walks, context_length, walks.num_walks)
    rows_at_once = 200 if model.config.encoder == "transformer" else 4000
    questions = rollout_problems(asked, walks)
    found = roll_out(BaseForecaster(model), questions, np.random.default_rng(0), rollouts, rows_at_once)
    planned = score_rollouts(found, asked, truth).planning
    return {
        "imp_fallback": planned.imp_fallback,
        "ratio_sp": planned.ratio_sp,
        "optimal": planned.optimal,
        "problems": len(asked),
    }


def _disentanglement(codes: Codes) -> float | None:
    from cogmap.evaluation.disentanglement import disentanglement

    if codes.bottlenecks < 2 or len(codes.lengths) < 2:
        return None
    half = len(codes.lengths) // 2
    first, second = codes.rows(slice(half)), codes.rows(slice(half, None))
    return disentanglement(first, second, np.random.default_rng(0)).accuracy
