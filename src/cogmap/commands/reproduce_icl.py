"""The paper's in-context study here: models trained on more and more rooms, scored in rooms they have never seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.commands.emergence import draw_emergence
from cogmap.commands.reproduce_options import Reproduce
from cogmap.commands.result_rows import Row, current_commit, merge_rows
from cogmap.commands.run_folders import can_go_on, is_finished, slug
from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import RoomFamily, default_base, restricted_families, room_families
from cogmap.errors import BadConfig
from cogmap.experiments import METHODS
from cogmap.records import Integers, Truth, Walks
from cogmap.report.paper_icl import METHODS as COLUMNS
from cogmap.report.paper_icl import RULE
from cogmap.tasks.family import FamilyScores, score_family

if TYPE_CHECKING:
    from cogmap.runs.run import Run

STEPS, TEST_ROOMS, WALKS_A_ROOM = 400, 64, 4
RULE_ROOMS = 5000  # training rooms under the rule R
RULE_METHODS = ("TDB(S=3, M=4)",)
LABEL_ENDS = {"none": ", nameless", "seen": "", "plain": ", plain"}


@dataclass(frozen=True)
class Size:
    """One table: what rooms there are, how many to train on, and what of the training goes with that."""

    base: Callable[[int], AliasedRoom]  # by seed
    colours: int
    training_rooms: tuple[int, ...]
    test_rooms: int  # drawn beside the training rooms as by `cogmap walk family`; the first are scored in
    training_walks: int
    change: Mapping[str, Any]


PAPER_SIZE = Size(lambda seed: default_base(seed=seed), 30, (200, 1000, 10_000), 512, 8092, {})
SIZES = {
    "icl": PAPER_SIZE,
    "icl-rule": PAPER_SIZE,
    "icl-small": Size(
        lambda seed: AliasedRoom(height=4, width=5, observations=3, patch=2, seed=seed),
        12,
        (20, 100, 1000),
        64,
        4096,
        {"width": 128, "num_codes": 200, "steps": 3000},
    ),
}


@dataclass(frozen=True)
class Method:
    """One model and how it is trained."""

    name: str  # as the paper prints it
    label: str  # with the encoder, where the paper has another
    choices: dict[str, Any]  # of `learn_family`
    folder: str  # what its run folders begin with


def run_icl(args: Reproduce) -> None:
    if min(args.training_rooms, default=2) < 2:
        raise BadConfig(f"`--training-rooms` must be numbers of at least 2, got {args.training_rooms}")
    path = args.results / f"{args.table}.csv"
    for row in _rule_rows(args) if args.table == "icl-rule" else _sweep_rows(args):
        merge_rows(path, [row_ | {"commit": current_commit(), "preset": args.preset} for row_ in row])
        print(f"wrote {len(row)} rows to {path}", flush=True)
    if args.table != "icl-rule":
        draw_emergence(path, with_paper=args.table == "icl")


def _sweep_rows(args: Reproduce) -> Iterator[list[Row]]:
    """The rows of each model for each number of training rooms, as they come."""
    seed, size = args.first_seed, SIZES[args.table]
    for method in _methods(args, COLUMNS):
        for count in args.training_rooms or size.training_rooms:
            train, test = room_families(count, size.test_rooms, size.base(seed), size.colours, seed)
            finished = _trained(args, method, train, f"{count}")
            scores = _tested(finished, test, seed)
            _tell(f"{method.label}, {count} training rooms", scores)
            _save_by_step(finished, scores)
            yield list(
                _rows(
                    args,
                    method,
                    finished,
                    f"{args.table}: {count} rooms",
                    scores.flat(),
                    f" --training-rooms {count}",
                )
            )


def _rule_rows(args: Reproduce) -> Iterator[list[Row]]:
    """Accuracy of a model trained under the rule R in the four families of test rooms."""
    seed = args.first_seed
    families = restricted_families(RULE_ROOMS, PAPER_SIZE.test_rooms, seed=seed)
    for method in _methods(args, RULE_METHODS):
        finished = _trained(args, method, families["train"], "rule")
        for name, paper in RULE.items():
            accuracy = _accuracy(finished, families[name], seed)
            print(f"{method.label} in rooms {name}: {accuracy:.2%}, paper {paper:.2%}", flush=True)
            yield list(_rows(args, method, finished, f"icl-rule: {name}", {"": {"test_accu": accuracy}}, ""))


def _methods(args: Reproduce, default: tuple[str, ...]) -> list[Method]:
    from cogmap.tasks.family import chosen_names

    sets = SIZES[args.table].base(args.first_seed).num_observations
    found = []
    for name in args.only or default:
        if name not in METHODS:
            raise BadConfig(f"a method must be one of {'; '.join(METHODS)}, got {name!r}")
        choices = {"encoder": args.encoder, **METHODS[name]}
        names = chosen_names(args.names, choices["encoder"], args.preset, sets)
        label = name if choices.get("vanilla") else f"{name}, {choices['encoder']}"
        folder = f"{slug(name)}-{choices['encoder']}-{args.preset}{LABEL_ENDS[names].replace(', ', '-')}"
        found.append(Method(name, label + LABEL_ENDS[names], {**choices, "names": names}, folder))
    return found


def _trained(args: Reproduce, method: Method, rooms: RoomFamily, name: str) -> Run:
    """The run of a model on walks in `rooms`: trained, resumed, or opened and its atlas made anew."""
    from cogmap.runs.run import load_run
    from cogmap.tasks.learning import learn
    from cogmap.tasks.mapping import build_maps
    from cogmap.walks.sample import sample_family_walks

    seed = args.first_seed
    folder = args.out / args.table / f"{method.folder}-{name}-{seed}"
    size = SIZES[args.table]
    rng = np.random.default_rng([seed, 1])
    walks, _, of_walk = sample_family_walks(rooms, size.training_walks, STEPS, rng)
    if is_finished(folder, args.steps):
        finished = load_run(folder)
        build_maps(finished, walks)
        return finished
    print(f"{method.label} on {len(rooms)} rooms", flush=True)
    return learn(
        walks,
        folder,
        rooms=of_walk,
        preset=args.preset,
        minutes=args.minutes,
        seed=seed,
        resume=can_go_on(folder),
        **{**size.change, **({"steps": args.steps} if args.steps else {}), **method.choices},
    )


def walks_in_each(family: RoomFamily, seed: int) -> tuple[Walks, Truth, Integers]:
    """Four walks in each of the first rooms, and the room of each."""
    from cogmap.walks.sample import sample_walks

    rooms = np.repeat(np.arange(min(len(family), TEST_ROOMS), dtype=np.int32), WALKS_A_ROOM)
    walks, truth = sample_walks(family.base, len(rooms), STEPS, np.random.default_rng([seed, 3]))
    return family.paint(walks, rooms), truth, rooms


def _tested(finished: Run, family: RoomFamily, seed: int) -> FamilyScores:
    return score_family(finished, *walks_in_each(family, seed), disentangled=True)


def _accuracy(finished: Run, family: RoomFamily, seed: int) -> float:
    from cogmap.evaluation.new_rooms import in_context_accuracy
    from cogmap.models.inference import predict_targets

    walks, _, _ = walks_in_each(family, seed)
    return in_context_accuracy(predict_targets(finished.model, walks), walks).accuracy


def _tell(what: str, scores: FamilyScores) -> None:
    print(what, flush=True)
    for kind, row in scores.flat().items():
        shown = ", ".join(f"{name} {value:.4g}" for name, value in row.items())
        print(f"  {kind or 'model'}: {shown}", flush=True)


def _rows(
    args: Reproduce,
    method: Method,
    finished: Run,
    environment: str,
    found: Mapping[str, Mapping[str, float]],
    options: str,
) -> Iterator[Row]:
    last = finished.metrics()[-1]
    command = f'cogmap reproduce {args.table} --first-seed {args.first_seed} --only "{method.name}"{options}'
    command += "" if method.choices.get("vanilla") else f" --encoder {method.choices['encoder']}"
    command += f" --names {method.choices['names']}" + (f" --steps {args.steps}" if args.steps else "")
    command += f" --minutes {args.minutes}" if args.minutes else ""
    for kind, row in {**found, "": {**found[""], "training_steps": last["step"]}}.items():
        for metric, value in row.items():
            yield {
                "method": method.label,
                "environment": environment,
                "seed": args.first_seed,
                "map": kind,
                "metric": metric,
                "value": round(float(value), 6),
                "seconds": round(last["seconds"]),
                "command": command,
            }


def _save_by_step(finished: Run, scores: FamilyScores) -> None:
    """The accuracy by step of the walk, as a figure in the run's folder."""
    from cogmap.report.curve_figures import accuracy_figure
    from cogmap.report.style import save_figure

    ceiling = None if scores.ceiling is None else scores.ceiling.by_step
    save_figure(
        accuracy_figure(scores.accuracy.by_step, ceiling),
        finished.folder / "figures" / "accuracy_by_step.png",
    )
