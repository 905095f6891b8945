"""Run one of the paper's tables here: sample, learn, score with both maps, and write every figure as a row."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from cogmap.commands.reproduce_3d import of_room
from cogmap.commands.reproduce_options import Reproduce
from cogmap.commands.result_rows import Row, current_commit, merge_rows
from cogmap.commands.run_folders import can_go_on, is_finished, slug
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import BadConfig
from cogmap.experiments import EXPERIMENTS, METHODS, Experiment
from cogmap.records import Codes, TableWorld, Truth, Walks

if TYPE_CHECKING:
    from cogmap.runs.run import Run

GOALS = {"minimal": 200, "paper": 0}  # in closed loop; the navigator needs moves that lead to one place
TEST_WALKS = 512  # of which the first 200 give the planning problems, as in the paper


Args = Reproduce


def run(args: Reproduce) -> None:
    if args.rollouts < 1:
        raise BadConfig(f"`--rollouts` must be at least 1, got {args.rollouts}")
    if args.table == "ginc":
        from cogmap.commands.reproduce_ginc import run_ginc

        run_ginc(args)
        return
    if args.table in ("icl", "icl-small", "icl-rule"):
        from cogmap.commands.reproduce_icl import run_icl

        run_icl(args)
        return
    experiment = EXPERIMENTS.get(args.table)
    if experiment is None:
        raise BadConfig(
            f"the table must be one of {', '.join(EXPERIMENTS)}, ginc, icl, icl-small, icl-rule, got {args.table!r}"
        )
    methods = args.only or experiment.methods
    for method in methods:
        if method not in METHODS:
            raise BadConfig(f"a method must be one of {'; '.join(METHODS)}, got {method!r}")
    for seed in range(args.first_seed, args.first_seed + args.rooms):
        for method in methods:
            rows = run_one(args, experiment, method, seed)
            path = args.results / f"{args.table}.csv"
            merge_rows(path, rows)
            print(f"wrote {len(rows)} rows to {path}", flush=True)


def run_one(args: Reproduce, experiment: Experiment, method: str, seed: int) -> list[Row]:
    """Train one model in one world, if that has not been done, and score it."""
    from cogmap.runs.run import load_run
    from cogmap.tasks.learning import learn
    from cogmap.tasks.mapping import build_maps
    from cogmap.walks.sample import add_noise
    from cogmap.walks.views import draw_walks

    world = experiment.world(seed)
    walks, _ = draw_walks(world, experiment.walks, experiment.steps, np.random.default_rng([seed, 1]))
    if experiment.noise:
        walks = add_noise(walks, experiment.noise, np.random.default_rng([seed, 2]))
    choices = {"encoder": args.encoder, **METHODS[method]}
    folder = args.out / args.table / f"{slug(method)}-{choices['encoder']}-{args.preset}-{seed}"
    print(f"{experiment.what}, seed {seed}: {method}, {choices['encoder']}, {args.preset}", flush=True)
    if is_finished(folder, args.steps):
        build_maps(load_run(folder), walks)
        finished = load_run(folder)
    else:
        finished = learn(
            walks,
            folder,
            preset=args.preset,
            minutes=args.minutes,
            steps=args.steps,
            seed=seed,
            resume=can_go_on(folder),
            **choices,
        )
    test = draw_walks(world, TEST_WALKS, experiment.steps, np.random.default_rng([seed, 3]))
    if finished.quantizer is not None:
        test = finished.quantizer.walks_and_truth(*test)
    return _score(args, experiment, method, seed, finished, world, *test)


def _score(
    args: Reproduce,
    experiment: Experiment,
    method: str,
    seed: int,
    finished: Run,
    world: TableWorld,
    walks: Walks,
    truth: Truth,
) -> list[Row]:
    from cogmap.evaluation.scores import score, score_without_map
    from cogmap.models.inference import encode, predict_next
    from cogmap.models.rollout_predictor import RolloutPredictor, rows_at_once
    from cogmap.models.tdb import VanillaModel

    context, codes = experiment.context_length, None
    seconds = finished.metrics()[-1]["seconds"]
    if isinstance(finished.model, VanillaModel):
        predicted = predict_next(finished.model, walks)
        predictor = RolloutPredictor(finished.model)
        at_once = rows_at_once(finished.config)
        found = {
            "": score_without_map(
                predictor, predicted, walks, truth, context, rollouts=args.rollouts, rows_at_once=at_once
            )
        }
    else:
        codes, predicted = encode(finished.model, walks)
        maps = {"minimal": finished.map, "paper": finished.paper_map}
        found = {
            kind: score(map_, codes, predicted, walks, truth, context, goals=GOALS[kind])
            for kind, map_ in maps.items()
        }
    rows: list[Row] = []
    for kind, scores in found.items():
        print(
            f"  {kind or 'rollouts'}: " + ", ".join(f"{k} {v}" for k, v in scores.printed().items()),
            flush=True,
        )
        for metric, value in asdict(scores).items():
            if isinstance(value, int | float) and metric != "context_length":
                rows.append(_row(args, method, world, seed, kind, metric, value, seconds))
    of_model = _of_model(finished, codes)
    if isinstance(world, EgocentricRoom):
        of_model |= of_room(finished, world, codes, walks, truth)
    print("  model: " + ", ".join(f"{name} {value:.4g}" for name, value in of_model.items()), flush=True)
    rows += [_row(args, method, world, seed, "", name, value, seconds) for name, value in of_model.items()]
    return rows


def _of_model(finished: Run, codes: Codes | None) -> dict[str, float]:
    """What is known of a model without a map: when it had learned, and whether its bottlenecks tell different things.

    Training accuracy is of windows, whose first steps nobody can foretell: held-back walks say when it was above 98 %.
    """
    from cogmap.evaluation.diagnostics import training_above, training_after
    from cogmap.evaluation.disentanglement import disentanglement

    metrics = finished.metrics()
    found: dict[str, float] = {"training_steps": metrics[-1]["step"]}
    found["training_after_1k"] = training_after(metrics)
    found["validation_after_1k"] = training_after(metrics, accuracy="validation_accuracy")
    above = training_above(metrics, accuracy="validation_accuracy")
    if above is not None:
        found["training_above_98"] = above
    if codes is not None and codes.bottlenecks > 1:
        half = len(codes.lengths) // 2
        told = disentanglement(
            codes.rows(slice(half)), codes.rows(slice(half, None)), np.random.default_rng(0)
        )
        found |= {"disentanglement": told.accuracy, "disentanglement_chance": told.chance}
    return found


def _row(
    args: Reproduce,
    method: str,
    world: TableWorld,
    seed: int,
    kind: str,
    metric: str,
    value: float,
    seconds: float,
) -> Row:
    vanilla = METHODS[method].get("vanilla", False)
    encoder = METHODS[method].get("encoder", args.encoder)
    command = f'cogmap reproduce {args.table} --first-seed {seed} --only "{method}"'
    command += "" if vanilla else f" --encoder {encoder}"
    command += f" --preset {args.preset}" + (f" --minutes {args.minutes}" if args.minutes else "")
    command += f" --steps {args.steps}" if args.steps else ""
    command += f" --rollouts {args.rollouts}" if vanilla and args.rollouts != Reproduce.rollouts else ""
    return {
        "method": method if vanilla else f"{method}, {encoder}",
        "environment": f"{args.table}: {world.name}",
        "seed": seed,
        "map": kind,
        "metric": metric,
        "value": round(float(value), 6),
        "seconds": round(seconds),
        "preset": args.preset,
        "commit": current_commit(),
        "command": command,
    }
