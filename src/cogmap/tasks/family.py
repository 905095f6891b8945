"""Runs on walks in many rooms of a family: one model that maps a new room from a few walks there.

Training in base (section 4.5): the model predicts the rank of the next observation among those seen so far, which
means the same in every room. What the encoder is given of an observation decides how many rooms and steps that takes.

A run has no map of its own. Its atlas says what its codes stand for, and maps of new rooms are read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cogmap.errors import BadConfig, BadRun, BadWalks
from cogmap.maps.store import save_map
from cogmap.records import Codes, CognitiveMap, Integers, Truth, Walks
from cogmap.runs.names import ATLAS_FILE, MapKind
from cogmap.tasks import Choices, TrainingData
from cogmap.tasks.evaluation import Evaluation, EvaluationOptions, TestWalks, context_of
from cogmap.walks.family import base_targets, check_rooms, observations_in_a_room, room_of_each_walk

if TYPE_CHECKING:
    from cogmap.evaluation.new_rooms import InContextAccuracy
    from cogmap.evaluation.prediction import Ceiling
    from cogmap.models.tdb import VanillaModel
    from cogmap.runs.run import Run
    from cogmap.training.progress import Progress

Names = Literal["auto", "none", "seen", "plain"]

# What the encoder is given of an observation. none: only which steps look alike (models/slot_encoder.py). seen: an
# embedding, and the set of all that the walk has shown (models/seen_set_encoder.py). plain: an embedding, as in the
# paper.
NAMES: dict[Names, dict[str, Any]] = {
    "none": {"slot_encoder": True},
    "seen": {"seen_so_far": True, "present_weight": 1.0},
    "plain": {},
}
MOST_SLOTS = 16  # observations in a room: each has a slot, and each slot costs a recurrent network

# What learned new rooms soonest in short trials; `cogmap reproduce icl-small` shows what it comes to.
_RECURRENT: dict[str, Any] = {
    "batch_size": 48,
    "fresh_share": 0.3,
    "steps": 40_000,
    "bottleneck_from": 40_000,
    "validate_every": 200,
}
_TRANSFORMER = _RECURRENT | {"batch_size": 32, "window": 100, "attention_span": 100, "fresh_share": 1.0}
# The most walks that an atlas is made from; each of many code tuples must be visited often.
_ATLAS_WALKS = 10_000

# How a new room is mapped when it is scored. "atlas" is what `new_room_map` gives as the minimal map; "atlas, seen"
# leaves out what the room's own walks did not visit; "paper, atlas" is the paper's builder on nodes of the atlas
# instead of codes; "minimal" and "paper" are the two builders on the codes of the room's walks alone, both with tuples
# merged by Hamming distance.
MAP_KINDS = ("atlas", "atlas, seen", "paper, atlas", "minimal", "paper")
ROLLOUTS = 10  # of a model without a map for each problem, as in the paper's appendix
BY_ROLLOUTS = ("imp_fallback", "ratio_sp", "optimal")
SCORES_FILE = "scores.rooms.json"


@dataclass(frozen=True, eq=False)
class FamilySource:
    """Walks in many rooms that are alike but for their observations."""

    walks: Walks
    rooms: Integers  # (B,) of each walk
    names: Names = "auto"


def prepare(source: FamilySource, choices: Choices) -> TrainingData:
    """Targets in base, whole rooms held out, and the options that learn them soonest."""
    walks, rooms = source.walks, source.rooms
    if len(np.unique(rooms)) < 2:
        raise BadWalks(
            "a family must have at least 2 rooms, the walks are all of one: learn it without --family"
        )
    most = observations_in_a_room(walks, rooms)
    if most == walks.num_observations:
        rule = f"a room of a family must show fewer observations than there are (={walks.num_observations})"
        raise BadWalks(f"{rule}, one shows {most}")
    if choices.resumed is not None:
        choices.resumed.check_walks(walks)
    encoder = "gru" if choices.encoder == "auto" else choices.encoder
    names = chosen_names(source.names, encoder, choices.preset, most)
    defaults: dict[str, Any] = {"encoder": encoder, "in_base": True}
    if choices.preset == "fast":
        defaults |= (_TRANSFORMER if encoder == "transformer" else _RECURRENT) | NAMES[names]
    return TrainingData(
        "family", walks, targets=base_targets(walks), num_targets=most, rooms=rooms, defaults=defaults
    )


def chosen_names(names: Names, encoder: str, preset: str, observations: int) -> Names:
    """What an encoder is given, where a room shows at most so many different observations.

    "auto" is "none" where that can be, with a GRU, and "seen" otherwise; the paper's preset has plain names.
    """
    if preset == "paper":
        if names not in ("auto", "plain"):
            raise BadConfig(f"`names` must be plain in the preset paper, got {names!r}")
        return "plain"
    if names != "auto":
        return names
    return "none" if encoder == "gru" and observations <= MOST_SLOTS else "seen"


def rooms_of(path: str | Path) -> Integers:
    """(B,): the room of each of the walks in a file."""
    rooms = room_of_each_walk(path)
    if rooms is None:
        raise BadWalks(
            f"{path} must say which room each walk is of, in an array `rooms` (B,) of the .npz file"
        )
    return rooms


def build_maps(run: Run, data: TrainingData) -> None:
    """The atlas: what the codes stand for, from walks in the training rooms."""
    from cogmap.maps.atlas import build_atlas

    some = data.walks.rows(slice(0, _ATLAS_WALKS))
    codes, _ = run.encode(some)
    save_map(run.folder / ATLAS_FILE, build_atlas(codes, some, run.config.num_targets))


def early_map(codes: Codes, walks: Walks) -> None:
    """A family has no map of its own."""


def map_walks(run: Run, walks: Walks, kind: MapKind, progress: Progress | None = None) -> CognitiveMap:
    return new_room_map(run, walks, kind)


def new_room_map(run: Run, walks: Walks, kind: MapKind = "minimal") -> CognitiveMap:
    """The map of a room that the run's model has never been trained in, from walks there and nowhere else.

    "minimal" knows the family's atlas, and so the places and moves that the walks did not visit. "paper" is made of
    the walks' codes alone.
    """
    from cogmap.maps.atlas import room_map
    from cogmap.maps.build import build_map
    from cogmap.planning.localise import nodes_by_code

    shown = _check_new_room(run, walks)
    codes, _ = run.encode(walks)
    if kind == "minimal":
        found = room_map(run.atlas, nodes_by_code(run.atlas, codes), codes, walks)
    else:
        found = build_map(codes, walks, kind=kind)
    if shown == run.config.num_targets:
        return found
    doubt = (
        f"the walks show {shown} of the {run.config.num_targets} observations that rooms of the family have"
    )
    return replace(found, warnings=(*found.warnings, f"{doubt}: more of the room may be unseen"))


def _check_new_room(run: Run, walks: Walks) -> int:
    """How many observations the walks show: no more than the family's rooms have."""
    if run.task != "family":
        raise BadRun(f"a run must be of a family of rooms to map a new one, {run.folder} is not")
    run.check_walks(walks)
    shown = len(np.unique(walks.observations[walks.step_mask()]))
    if shown > run.config.num_targets:
        rule = f"a room of this family must show at most {run.config.num_targets} different observations"
        raise BadWalks(f"{rule}, these walks show {shown}: are they of one room?")
    return shown


def one_room(walks: Walks, rooms: Integers | None, room: int | None) -> Walks:
    """The walks of one room, where a file has the walks of several."""
    if rooms is None:
        if room is not None:
            raise BadConfig("`--room` needs walks that say which room each is of, these do not")
        return walks
    check_rooms(walks, rooms)
    names = np.unique(rooms)
    if room is None and len(names) > 1:
        raise BadConfig(
            f"the walks must be of one room, these are of {len(names)}: give --room, such as {names[0]}"
        )
    if room is not None and room not in names:
        raise BadConfig(
            f"`--room` must be one of the walks' {len(names)} rooms, {names[0]} to {names[-1]}, got {room}"
        )
    return walks if room is None else walks.rows(np.flatnonzero(rooms == room))


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


def evaluate(run: Run, test: TestWalks, options: EvaluationOptions) -> Evaluation:
    """In-context accuracy and, with the truth, plans on the maps of new rooms."""
    if test.rooms is None:
        raise BadWalks("a family is scored on walks that say which room each is of, in `rooms` (B,)")
    check_rooms(test.walks, test.rooms)
    kinds = ("atlas" if options.map == "minimal" else options.map,)
    context = context_of(options, test.walks)
    scores = score_family(run, test.walks, test.truth, test.rooms, kinds, context, options.rollouts)
    values = scores.flat()
    lines = (f"  {len(np.unique(test.rooms))} rooms", *_lines(values))
    return Evaluation(scores, values, lines, SCORES_FILE)


def score_family(
    run: Run,
    walks: Walks,
    truth: Truth | None,
    rooms: Integers,
    kinds: Sequence[str] = MAP_KINDS,
    context_length: int = 100,
    rollouts: int = ROLLOUTS,
    disentangled: bool = False,
    fewer: Sequence[int] = (),
    shown: Callable[[float], None] = lambda share: None,
) -> FamilyScores:
    """All that the walks allow; `rooms` (B,) is the room of each. Without the truth no plans can be scored.

    disentangled: also measure how well bottlenecks predict one another, which takes half a minute.
    fewer: numbers of rollouts that a model without a map is scored with too; `imp_fallback_1` is that of one.
    shown: called with the share of the rollouts that is done.
    """
    from cogmap.evaluation.new_rooms import family_ceiling, in_context_accuracy, score_new_rooms
    from cogmap.models.inference import encode_targets, predict_targets
    from cogmap.models.tdb import VanillaModel

    if run.task != "family":
        raise BadRun(f"a run must be of a family of rooms, {run.folder} is not")
    ceiling = None if truth is None else family_ceiling(walks, truth.world)
    if isinstance(run.model, VanillaModel):
        accuracy = in_context_accuracy(predict_targets(run.model, walks), walks)
        by_rollouts = {}
        if truth is not None:
            counts = (rollouts, *fewer)
            by_rollouts = {"": _roll_out(run.model, walks, truth, context_length, counts, shown)}
        return FamilyScores(accuracy, ceiling, by_rollouts, None)
    codes, predicted = encode_targets(run.model, walks)
    by_map = {}
    if truth is not None:
        by_map = {
            kind: asdict(score_new_rooms(codes, walks, truth, rooms, _builder(run, kind), context_length))
            for kind in kinds
        }
    apart = _disentanglement(codes) if disentangled else None
    return FamilyScores(in_context_accuracy(predicted, walks), ceiling, by_map, apart)


def _builder(run: Run, kind: str) -> Callable[[Codes, Walks], CognitiveMap]:
    """How a room is mapped from its codes and walks."""
    from cogmap.maps.atlas import room_map
    from cogmap.maps.build import D_HAMMING, build_map
    from cogmap.maps.paper import hamming_clusters
    from cogmap.planning.localise import nodes_by_code

    if kind == "paper":
        return lambda codes, walks: build_map(codes, walks, kind)
    if kind == "minimal":
        # A room's few steps visit most code tuples once or twice, which says nothing of where they lead.
        merged = partial(hamming_clusters, d_hamming=D_HAMMING)
        return lambda codes, walks: build_map(codes, walks, kind, cluster=merged)
    atlas = run.atlas
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
    model: VanillaModel,
    walks: Walks,
    truth: Truth,
    context_length: int,
    counts: Sequence[int],
    shown: Callable[[float], None],
) -> dict[str, Any]:
    """Plans of the first of `counts` rollouts for each problem, and, with the number in their names, of the others."""
    from cogmap.evaluation.planning import paper_problems, rollout_problems, score_rollouts
    from cogmap.models.rollout_predictor import InBaseRolloutPredictor, rows_at_once
    from cogmap.planning.rollouts import first_rollouts, roll_out

    asked = paper_problems(walks, context_length, walks.num_walks)
    questions = rollout_problems(asked, walks)
    rng = np.random.default_rng(0)
    at_once = rows_at_once(model.config)
    found = roll_out(InBaseRolloutPredictor(model), questions, rng, max(counts), at_once, shown)
    values: dict[str, Any] = {}
    for count in counts:
        planned = score_rollouts(first_rollouts(found, count), asked, truth).planning
        end = "" if count == counts[0] else f"_{count}"
        values |= {f"{name}{end}": getattr(planned, name) for name in BY_ROLLOUTS}
    return values | {"problems": len(asked)}


def _disentanglement(codes: Codes) -> float | None:
    from cogmap.evaluation.disentanglement import disentanglement

    if codes.bottlenecks < 2 or len(codes.lengths) < 2:
        return None
    half = len(codes.lengths) // 2
    first, second = codes.rows(slice(half)), codes.rows(slice(half, None))
    return disentanglement(first, second, np.random.default_rng(0)).accuracy


_PERCENT = ("test_accu", "ceiling", "disentanglement", "imp_fallback", "optimal", "exact", "explained")
_PRINTED = {
    "test_accu": "in-context accuracy",
    "ceiling": "ceiling of it",
    "imp_fallback": "ImpFallback",
    "ratio_sp": "RatioSP",
    "norm_ged": "NormGED",
    "norm_ged_lower": "NormGED at least",
    "optimal": "optimal plans",
    "exact": "exact maps",
    "explained": "steps explained",
}


def _lines(values: dict[str, dict[str, float]]) -> Sequence[str]:
    lines = []
    for kind, row in values.items():
        lines.append(f"  {kind} maps, each of its room's own walks:" if kind else "  predictions:")
        lines += [f"    {_PRINTED.get(name, name):<20}  {_shown(name, value)}" for name, value in row.items()]
    return lines


def _shown(name: str, value: float) -> str:
    if name in _PERCENT:
        return f"{100 * value:.2f} %"
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def write_report(run: Run, walks: Path | None, beside: Run | None) -> Path:
    """The page of the room that `cogmap map` mapped last."""
    from cogmap.tasks import places

    if not run.has_map:
        rule = "a report needs a map, and a family has one only for a room"
        raise BadRun(f"{rule}: map one first, with `cogmap map {run.folder} --walks NEW.npz`")
    return places.write_report(run, walks, beside)
