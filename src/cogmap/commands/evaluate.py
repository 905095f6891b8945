"""Score a run on walks: TestAccu, and with their truth ImpFallback, RatioSP, NormGED and more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json
from cogmap.runs.names import MapKind
from cogmap.runs.run import load_run
from cogmap.tasks.evaluation import EvaluationOptions, evaluate_file
from cogmap.walks.truth_store import truth_path


@dataclass(frozen=True)
class Args:
    """Score a run on walks that it was not trained on."""

    run: tyro.conf.Positional[Path]
    """run folder, as `cogmap learn` made it"""
    walks: Path
    """test walks, with or without <name>.truth.npz beside them; for a run on a text: a text, or GINC prompts (.json)"""
    map: MapKind = "minimal"
    """which of the run's maps to score"""
    context_length: int | None = None
    """C: observations read before a plan starts; 50 by default, or a quarter of the shortest walk if that is less"""
    problems: int = 200
    """planning problems, one from each of the first walks"""
    rollouts: int = 100
    """of a model without a map, for each problem"""
    networkx_timeout: float | None = None
    """seconds for networkx to try NormGED too"""
    world_model: bool = False
    """also compression, distinction and detours: whether it knows the world's automaton (docs/comparison.md)"""
    seed: int = 0
    """of the observation to avoid in each constrained problem, and of rollouts"""
    json: bool = False
    """print the scores as JSON, fractions and all"""


def run(args: Args) -> None:
    opened = load_run(args.run)
    prompts = args.walks.suffix == ".json"
    if not args.json:
        print(
            f"{opened.name} on {args.walks}"
            + (": in-context accuracy in % (standard error)" if prompts else "")
        )
    options = EvaluationOptions(
        map=args.map,
        context_length=args.context_length,
        problems=args.problems,
        rollouts=args.rollouts,
        networkx_timeout=args.networkx_timeout,
        world_model=args.world_model,
        seed=args.seed,
        tell=(lambda line: None) if args.json else (lambda line: print(line, flush=True)),
    )
    found = evaluate_file(opened, args.walks, options)
    # Scores are printed before they are kept: a folder that cannot be written to must not cost them.
    if args.json:
        print_json(found.values)
        found.save(opened.folder)
        return
    if prompts:  # each line was printed when it was found
        return
    print("\n".join(found.lines), flush=True)
    path = found.save(opened.folder)
    if opened.task != "text" and not truth_path(args.walks).exists():
        print(f"there is no {truth_path(args.walks)}: without the truth there is no more to score")
    print(f"wrote {path}")
