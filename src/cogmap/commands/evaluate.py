"""Score a run on walks: TestAccu, and with their truth ImpFallback, RatioSP, NormGED and more."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from cogmap.commands.output import print_json
from cogmap.commands.run_walks import MapKind, map_of, truth_for, walks_for
from cogmap.environments.oracle import aliasing
from cogmap.walks.truth_store import truth_path

if TYPE_CHECKING:
    from cogmap.evaluation.scores import Scores
    from cogmap.records import Truth, Walks
    from cogmap.run import Run

# Rollouts held together. A transformer keeps keys and values of all it has read for each of them.
ROWS_AT_ONCE = {"transformer": 200, "gru": 4000, "lstm": 4000}


@dataclass(frozen=True)
class Args:
    """Score a run on walks that it was not trained on."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path
    """test walks; where they really were is read from <name>.truth.npz beside them, if it is there. For a run on a
    text: another text, or a .json file of GINC prompts"""
    map: MapKind = "minimal"
    """which of the run's maps to score"""
    context_length: int = 50
    """C: plans start when C observations have been read, and end C before the walk does"""
    problems: int = 200
    """planning problems, one from each of the first walks"""
    rollouts: int = 100
    """of a model without a map, for each problem"""
    networkx_timeout: float | None = None
    """seconds for networkx to try NormGED too"""
    seed: int = 0
    """of the observation to avoid in each constrained problem, and of rollouts"""
    json: bool = False
    """print the scores as JSON, fractions and all"""


def run(args: Args) -> None:
    from cogmap.run import load_run

    opened = load_run(args.run)
    if args.walks.suffix == ".json":
        from cogmap.commands.evaluate_prompts import evaluate_prompts

        evaluate_prompts(opened, args.walks, args.json)
        return
    if opened.config.in_base:
        from cogmap.commands.evaluate_rooms import evaluate_rooms

        kinds = ("atlas" if args.map == "minimal" else args.map,)
        evaluate_rooms(opened, args.walks, kinds, args.context_length, args.rollouts, args.json)
        return
    walks = walks_for(opened, args.walks)
    truth = truth_for(opened, args.walks, walks)
    scores = score_run(opened, walks, truth, args)
    path = args.run / ("scores.json" if args.map == "minimal" else f"scores.{args.map}.json")
    scores.save(path)
    if args.json:
        print_json(asdict(scores))
        return
    printed = scores.printed()
    width = max(map(len, printed))
    print(f"{opened.name} on {args.walks}")
    print("\n".join(f"  {name:<{width}}  {value}" for name, value in printed.items()))
    if truth is None:
        print(f"there is no {truth_path(args.walks)}: without the truth there is no more to score")
    elif opened.quantizer is not None:
        print(f"  clusters of views: {aliasing(truth.world).sentence()}")
    print(f"wrote {path}")


def score_run(opened: Run, walks: Walks, truth: Truth | None, args: Args) -> Scores:
    """All scores that the run and the walks allow."""
    from cogmap.evaluation.scores import score, score_without_map, score_without_truth

    if opened.config.vanilla:
        from cogmap.models.inference import predict_next

        predicted = predict_next(opened.model, walks)
        if truth is None:
            return score_without_truth(None, predicted, walks)
        from cogmap.models.rollout_predictor import Forecaster

        return score_without_map(
            Forecaster(opened.model),  # type: ignore[arg-type]
            predicted,
            walks,
            truth,
            context_length=args.context_length,
            problems=args.problems,
            rollouts=args.rollouts,
            rows_at_once=ROWS_AT_ONCE[opened.config.encoder],
            seed=args.seed,
        )
    cognitive_map = map_of(opened, args.map)
    codes, predicted = opened.encode(walks)
    if truth is None:
        return score_without_truth(cognitive_map, predicted, walks)
    return score(
        cognitive_map,
        codes,
        predicted,
        walks,
        truth,
        context_length=args.context_length,
        problems=args.problems,
        seed=args.seed,
        networkx_timeout=args.networkx_timeout,
    )
