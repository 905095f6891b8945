"""The paper's GINC table here: make the set, learn, complete every prompt; ours beside the paper's and the ceiling."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogmap.commands.reproduce_options import Reproduce
from cogmap.commands.result_rows import Row, current_commit, merge_rows
from cogmap.commands.run_folders import can_go_on, is_finished, slug
from cogmap.environments.ginc import GincConfig, GincWorld, Prompts, read_prompts, read_truth, write_ginc
from cogmap.errors import BadConfig
from cogmap.evaluation.concepts import SHARES, load_concepts
from cogmap.evaluation.prompts import ceiling, in_context_rows
from cogmap.experiments import METHODS
from cogmap.report.ginc_table import CEILINGS, METRIC, Cell, ginc_table

if TYPE_CHECKING:
    from cogmap.runs.run import Run
    from cogmap.tasks.text import TextSource

COLUMNS = ("Vanilla LSTM", "Vanilla transformer", "TDB(S=3, M=4)", "TDB(S=5, M=1)")
LENGTHS, MOST_EXAMPLES = (3, 5, 8, 10), 64  # the paper's; the set holds more


@dataclass(frozen=True)
class Method:
    """One column of ours: a model, how it is trained, and where it goes."""

    name: str  # as the paper prints it
    label: str  # with the encoder, where the paper has another
    choices: dict[str, Any]  # of `learn`
    folder: Path
    command: str


def run_ginc(args: Reproduce) -> None:
    methods = [_method(args, name) for name in args.only or COLUMNS]
    folder, path = args.out / "ginc" / "data", args.results / "ginc.csv"
    if not (folder / "truth.npz").is_file():
        print(f"making the GINC set in {folder}", flush=True)
        write_ginc(folder, GincConfig(), lambda name, share: None)
    world = read_truth(folder)[0]
    cells = list(_cells(folder, world))
    shared = {"seed": args.first_seed, "map": "", "preset": args.preset, "commit": current_commit()}
    if not _has_ceiling(path):
        merge_rows(path, [row | shared for row in _ceiling_rows(world, cells)])
    source = None
    for method in methods:
        source = source or _source(args, folder)
        finished = _trained(args, method, source)
        rows = [row | shared for row in _rows(args, method, finished, world, cells)]
        merge_rows(path, rows)
        print(f"wrote {len(rows)} rows to {path}", flush=True)
    print(ginc_table(_read_cells(path)).text())


def _method(args: Reproduce, name: str) -> Method:
    if name not in METHODS:
        raise BadConfig(f"a method must be one of {'; '.join(METHODS)}, got {name!r}")
    choices = {"encoder": args.encoder, **METHODS[name]}
    label = name if choices.get("vanilla") else f"{name}, {choices['encoder']}"
    label += f", documents spliced {args.splice}" if args.splice else ""
    command = f'cogmap reproduce ginc --only "{name}"'
    command += "" if choices.get("vanilla") else f" --encoder {choices['encoder']}"
    command += f" --splice {args.splice} --preset {args.preset} --first-seed {args.first_seed}"
    command += f" --minutes {args.minutes}" if args.minutes else ""
    command += f" --steps {args.steps}" if args.steps else ""
    folder = args.out / "ginc" / f"{slug(label)}-{args.preset}-{args.first_seed}"
    return Method(name, label, choices, folder, command)


def _source(args: Reproduce, folder: Path) -> TextSource:
    from cogmap.tasks.text import read_text
    from cogmap.walks.text import TextReading

    return read_text(folder / "train.txt", TextReading(splice=args.splice), args.first_seed)


def _trained(args: Reproduce, method: Method, source: TextSource) -> Run:
    """The run of a method: opened if it is there and whole, else trained, or trained on."""
    from cogmap.runs.run import load_run
    from cogmap.tasks.learning import learn

    if is_finished(method.folder, args.steps):
        return load_run(method.folder)
    print(f"GINC: {method.label}, {args.preset}", flush=True)
    return learn(
        source,
        method.folder,
        preset=args.preset,
        minutes=args.minutes,
        steps=args.steps,
        seed=args.first_seed,
        resume=can_go_on(method.folder),
        **method.choices,
    )


def _rows(
    args: Reproduce, method: Method, finished: Run, world: GincWorld, cells: Iterable[Prompts]
) -> list[Row]:
    """Every accuracy of a run, what its graph keeps apart, and what the training took."""
    from cogmap.models.inference import complete
    from cogmap.runs.folder import CONCEPTS_FILE

    last = finished.metrics()[-1]
    positions = last["step"] * finished.training.batch_size * finished.training.window
    told: dict[tuple[str, str], float] = {
        ("ginc: documents", "positions_per_second"): round(positions / last["seconds"]),
        ("ginc: documents", "positions"): positions,
        ("ginc: documents", "validation_accuracy"): last["validation_accuracy"],
    }
    if finished.has_map:
        concepts = load_concepts(finished.folder / CONCEPTS_FILE, finished.map.num_nodes)
        told |= {("ginc: documents", f"concept_{name}"): getattr(concepts, name) for name in SHARES}
        told["ginc: documents", "nodes"] = finished.map.num_nodes
        told["ginc: documents", "edges"] = finished.map.num_edges
    for row in in_context_rows(lambda tokens: complete(finished.model, tokens, world.vocabulary), cells):
        told[_environment(row), METRIC] = row.accuracy
        print(f"  {method.label} k={row.length} n={row.examples} {row.accuracy:.3f}", flush=True)
    return [
        {
            "method": method.label,
            "environment": environment,
            "metric": metric,
            "value": round(float(value), 6),
            "seconds": round(last["seconds"]),
            "command": method.command,
        }
        for (environment, metric), value in told.items()
    ]


def _cells(folder: Path, world: GincWorld) -> Iterable[Prompts]:
    """The prompts of the paper's table."""
    for length in LENGTHS:
        for prompts in read_prompts(folder / f"id_prompts_randomsample_{length}.json", world.vocabulary):
            if prompts.examples <= MOST_EXAMPLES:
                yield prompts


def _ceiling_rows(world: GincWorld, cells: Iterable[Prompts]) -> list[Row]:
    rows: list[Row] = []
    for row in ceiling(world, cells):
        for method, accuracy in zip(CEILINGS, row.accuracies(), strict=True):
            rows.append(
                {
                    "method": method,
                    "environment": _environment(row),
                    "metric": METRIC,
                    "value": round(accuracy, 6),
                    "seconds": 0,
                    "command": "cogmap ginc --ceiling",
                }
            )
    return rows


def _environment(row: Any) -> str:
    return f"ginc: k={row.length} n={row.examples}"


def _has_ceiling(path: Path) -> bool:
    return path.is_file() and any(cell.method in CEILINGS for cell in _read_cells(path))


def _read_cells(path: Path) -> list[Cell]:
    """The accuracies in a file of rows."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == METRIC]
    found = []
    for row in rows:
        length, examples = (int(part.split("=")[1]) for part in row["environment"].split()[1:])
        found.append(Cell(row["method"], length, examples, float(row["value"])))
    return found
