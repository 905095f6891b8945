"""Runs on walks in one place, or on a camera's log of one: views are clustered first.

A run has two maps: the minimal one, and the paper's for comparison.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.errors import BadRun
from cogmap.hmm.counts import unique_codes
from cogmap.maps.build import build_map
from cogmap.maps.store import save_map
from cogmap.records import Codes, CognitiveMap, Integers, Truth, Walks
from cogmap.runs.names import MAP_FILES, REMARKS, SCORE_FILES, VIEWS_FILE, MapKind
from cogmap.search.shortest import LONGEST
from cogmap.tasks import Choices, TrainingData
from cogmap.tasks.counting import Counter, count_here
from cogmap.tasks.evaluation import Evaluation, EvaluationOptions, TestWalks, aligned, context_of
from cogmap.tasks.states import map_of_states
from cogmap.tasks.watching import watched
from cogmap.walks.log import WalkLog, total_steps
from cogmap.walks.quantize import save_node_views, without_views

if TYPE_CHECKING:
    from cogmap.evaluation.scores import Scores
    from cogmap.report.material import Material, Reading
    from cogmap.report.tables import Scored
    from cogmap.runs.run import Run
    from cogmap.training.progress import Progress

SEARCH_SHARE = 1 / 3  # of the seconds for a map, which a search gets in any case
NEARLY_ALL = 0.998  # of held-out observations; a map that predicts them has its places
MAP_STEPS = 1 << 21  # of a longer log: a random share that the places are found in; all of it is then counted


@dataclass(frozen=True, eq=False)
class PlacesSource:
    """Walks in one place."""

    walks: Walks
    clusters: int | None = None  # k of the k-means, for walks of views


def prepare(source: PlacesSource, choices: Choices) -> TrainingData:
    """Walks with observations in place of views, and the quantizer that made them."""
    if choices.resumed is not None:
        walks = choices.resumed.categorical(source.walks)
        choices.resumed.check_walks(walks)
        return TrainingData("places", walks)
    walks, quantizer = without_views(source.walks, source.clusters, choices.seed)
    return TrainingData("places", walks, quantizer=quantizer)


def build_maps(run: Run, data: TrainingData) -> None:
    """Both maps, and for pages what is seen at the nodes of the minimal one."""
    if not run.has_network:
        save_map(run.folder / MAP_FILES["minimal"], map_walks(run, data.walks, "minimal"))
        return
    began = time.perf_counter()
    walks, codes, predicted = _encoded(run, data.walks)
    maps: dict[MapKind, CognitiveMap] = {"paper": map_of_codes(run, codes, walks, "paper", predicted)}
    left = LONGEST if data.map_seconds is None else data.map_seconds - (time.perf_counter() - began)
    maps["minimal"] = map_of_codes(run, codes, walks, "minimal", predicted, left, data.progress)
    count = partial(count_here, progress=data.progress)
    maps["minimal"] = _counted(_half_learned(maps["minimal"], data.learned), data.walks, count)
    for kind, found in maps.items():
        save_map(run.folder / MAP_FILES[kind], found)
    if run.quantizer is not None:
        save_node_views(run.folder / VIEWS_FILE, run.quantizer, maps["minimal"])


def early_map(codes: Codes, walks: Walks) -> CognitiveMap:
    return build_map(codes, walks)


def map_walks(
    run: Run,
    walks: Walks,
    kind: MapKind,
    progress: Progress | None = None,
    count: Counter | None = None,
) -> CognitiveMap:
    """The map of walks by a trained model. count: counts it in all walks of a log of which it is made from a sample."""
    if not run.has_network:
        if kind == "paper":
            raise BadRun(f"only a TDB has the paper's map, {run.folder} was learned by {run.name}")
        run.check_walks(walks)
        return map_of_states(run.states, walks)
    some, codes, predicted = _encoded(run, walks)
    found = map_of_codes(run, codes, some, kind, predicted, progress=progress)
    return (
        _counted(found, walks, count or partial(count_here, progress=progress))
        if kind == "minimal"
        else found
    )


def _encoded(run: Run, walks: Walks) -> tuple[Walks, Codes, Integers]:
    """Walks to make a map from, their codes and predictions; of a log about `MAP_STEPS` steps at the most."""
    if not isinstance(walks, WalkLog):
        return walks, *run.encode(walks)
    from cogmap.models.inference import encode_log

    run.check_walks(walks)
    return encode_log(run.model, walks.sample(MAP_STEPS))


def _counted(found: CognitiveMap, walks: Walks, count: Counter) -> CognitiveMap:
    """The map with the counts of all walks, where it was made from a sample of a log."""
    if not isinstance(walks, WalkLog) or total_steps(walks) <= MAP_STEPS:
        return found
    return count(found, walks)


def map_of_codes(
    run: Run,
    codes: Codes,
    walks: Walks,
    kind: MapKind,
    predicted: Integers,
    seconds: float = LONGEST,
    progress: Progress | None = None,
) -> CognitiveMap:
    """The map of walks from their codes, from what the model predicts after these, and beside what it predicts next."""
    from cogmap.models.futures import predicted_futures
    from cogmap.models.imagination import imagined_futures, imagined_moves
    from cogmap.models.tdb import TDB

    assert isinstance(run.model, TDB)  # a vanilla model has no codes
    code_tuples, index = unique_codes(codes)
    began = time.perf_counter()
    futures = predicted_futures(run.model, code_tuples, walks)
    moves = None
    if futures is not None and kind == "minimal":
        futures = replace(futures, imagined=imagined_futures(run.model, index, walks))
        moves = imagined_moves(run.model, code_tuples, index, walks)
    began, left = time.perf_counter(), max(seconds - (time.perf_counter() - began), SEARCH_SHARE * seconds)
    with watched(progress, left) as watch:
        found = build_map(
            codes,
            walks,
            kind=kind,
            futures=futures,
            predicted=predicted,
            seconds=left,
            moves=moves,
            watch=watch,
        )
    is_over = kind == "minimal" and (watch.interrupted or time.perf_counter() - began > left)
    return _cut_short(found) if is_over and found.explained < NEARLY_ALL else found


def _half_learned(found: CognitiveMap, learned: float | None) -> CognitiveMap:
    """The map with a warning if its training ended too early, and the map itself knows no more than the model does."""
    knows_more = found.model_accuracy is not None and found.explained > found.model_accuracy
    if learned is None or knows_more or found.num_nodes == 0:
        return found
    warning = (
        f"the training ended while the model was learning (it predicts {learned:.0%} of what is hard to predict): "
        "places may be missing or merged, and some plans end elsewhere; train longer (--resume --minutes 5)"
    )
    return replace(found, warnings=(warning, *found.warnings))


def _cut_short(found: CognitiveMap) -> CognitiveMap:
    """The map with a warning that its search had no time to end."""
    warning = (
        "the search for places was ended before it was done: some may be missing or there twice, so that "
        "plans may end elsewhere or be too long; "
        "give more minutes (--resume --minutes 5)"
    )
    return replace(found, warnings=(warning, *found.warnings))


def evaluate(run: Run, test: TestWalks, options: EvaluationOptions) -> Evaluation:
    """TestAccu, and with the truth ImpFallback, RatioSP, NormGED and more."""
    scores = _scores(run, test.walks, test.truth, options)
    if options.world_model and test.truth is not None:
        scores = replace(scores, **_world_model(run, test.walks, test.truth, options))
    lines = aligned(scores.printed())
    if run.quantizer is not None and test.truth is not None:
        from cogmap.environments.oracle import aliasing

        lines += (f"  clusters of views: {aliasing(test.truth.world).sentence()}",)
    return Evaluation(scores, asdict(scores), lines, SCORE_FILES[options.map])


def _world_model(run: Run, walks: Walks, truth: Truth, options: EvaluationOptions) -> dict[str, Any]:
    """Of the map; of a vanilla model itself, which has no planner that could be asked at every step."""
    from cogmap.evaluation.world_model import language_scores, world_model_scores

    if not run.config.vanilla:
        return vars(world_model_scores(run.map_of(options.map), walks, truth, options.seed))
    from cogmap.models.rollout_predictor import RolloutPredictor

    predictor = RolloutPredictor(run.model)  # type: ignore[arg-type]
    return vars(language_scores(predictor, walks, truth, np.random.default_rng(options.seed)))


def _scores(run: Run, walks: Walks, truth: Truth | None, options: EvaluationOptions) -> Scores:
    from cogmap.evaluation.scores import score, score_without_truth

    if run.config.vanilla:
        return _scores_without_map(run, walks, truth, options)
    cognitive_map = run.map_of(options.map)
    codes, predicted = run.encode(walks)
    if truth is None:
        return score_without_truth(cognitive_map, predicted, walks)
    return score(
        cognitive_map,
        codes,
        predicted,
        walks,
        truth,
        context_length=context_of(options, walks),
        problems=options.problems,
        seed=options.seed,
        networkx_timeout=options.networkx_timeout,
    )


def _scores_without_map(run: Run, walks: Walks, truth: Truth | None, options: EvaluationOptions) -> Scores:
    from cogmap.evaluation.scores import score_without_map, score_without_truth
    from cogmap.models.rollout_predictor import RolloutPredictor, rows_at_once

    predicted = run.predict(walks)
    if truth is None:
        return score_without_truth(None, predicted, walks)
    return score_without_map(
        RolloutPredictor(run.model),  # type: ignore[arg-type]
        predicted,
        walks,
        truth,
        context_length=context_of(options, walks),
        problems=options.problems,
        rollouts=options.rollouts,
        rows_at_once=rows_at_once(run.config),
        seed=options.seed,
    )


def write_report(run: Run, walks: Path | None, beside: Run | None) -> Path:
    """The page of a run on places, with another run `beside` it."""
    from cogmap.report.page import write_report as write_page
    from cogmap.tasks.reporting import learn_command, report_command

    test = None if walks is None else run.load_walks(walks)
    truth = None if walks is None or test is None else run.load_truth(walks, test)
    runs = [run] if beside is None else [run, beside]
    commands = [learn_command(each) for each in runs]
    commands.append(report_command(run.folder, walks, None if beside is None else beside.folder))
    other = None if beside is None else material_of(beside, test, truth)
    return write_page(run.folder, material_of(run, test, truth), other, commands)


def material_of(
    run: Run, walks: Walks | None = None, truth: Truth | None = None, kind: MapKind = "minimal"
) -> Material:
    """All that a run holds for a report on one of its maps; with walks, also how it reads and scores on them."""
    from cogmap.report.layout import layout_map
    from cogmap.report.material import Material, read_with

    found = run.map_of(kind)
    reading = None
    if walks is not None:
        codes, predicted = run.encode(walks)
        reading = read_with(found, walks, codes, predicted, truth)
    return Material(
        name=run.name,
        config=run.stored,
        cognitive_map=found,
        layout=layout_map(found),
        rows=run.metrics(),
        scored=run.scores(kind) if reading is None else _scored(run, reading, kind),
        reading=reading,
    )


def _scored(run: Run, reading: Reading, shown: MapKind) -> tuple[Scored, ...]:
    """The scores of the shown map and, with truth, of the other one too."""
    from cogmap.report.tables import Scored

    kinds = sorted(run.map_kinds, key=lambda kind: kind != shown) if reading.truth is not None else [shown]
    return tuple(Scored(run.name, REMARKS[kind], _score_reading(run.map_of(kind), reading)) for kind in kinds)


def _score_reading(found: CognitiveMap, reading: Reading) -> Scores:
    from cogmap.evaluation.planning import fitting_context
    from cogmap.evaluation.scores import score, score_without_truth

    walks, truth = reading.walks, reading.truth
    if truth is None or walks.lengths.min() < 3:  # too short for a problem to be posed
        return score_without_truth(found, reading.predicted, walks)
    return score(found, reading.codes, reading.predicted, walks, truth, context_length=fitting_context(walks))
