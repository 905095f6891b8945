"""Every reader of files, from the library and the commands to the explorer.

A new reader belongs in `TARGETS`, and a file that it reads in `material.py`.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Target:
    """A file that is mutated, and what reads it; `of` is the folder that is copied with it, or only the file."""

    name: str
    file: str
    read: Callable[[Path], Any]


def _machine(path: Path) -> None:
    from cogmap.environments.machines import MachineWorld, load_machine

    MachineWorld(load_machine(path))


def _trial(path: Path) -> None:
    from dataclasses import replace

    from cogmap.experiments import Options, trials_of
    from cogmap.experiments.ledger import read_record, read_step

    trial = replace(trials_of("small-room", Options())[0], folder=path.parents[1] / "run")
    read_record(trial)
    read_step(trial)


def _drawing(path: Path) -> None:
    from cogmap.environments.table import maze_from_text
    from cogmap.errors import BadWorld
    from cogmap.files import read_text

    maze_from_text(read_text(path, BadWorld))


def _measured(path: Path) -> None:
    from cogmap.experiments.hours import measured
    from cogmap.experiments.rows import COLUMNS, merge_rows

    measured(path.parent)
    merge_rows(path, [dict.fromkeys(COLUMNS, 2)])


def _compared(path: Path) -> None:
    from cogmap.experiments.cell_rows import merge_table
    from cogmap.experiments.comparison import table_lines

    table_lines(merge_table(path, []))


def _cell(path: Path) -> None:
    from cogmap.experiments.cell_rows import merge_table
    from cogmap.experiments.cells import Cell, read_cell
    from cogmap.experiments.comparison import LogData, table_lines

    data = LogData(path, path, 1)
    row = read_cell(Cell("walks.npz", 1, 0, "cscg", 1.0, data, path.parents[1] / "cell", ""))
    assert row is not None
    table_lines(merge_table(path.parent / "table.csv", [row]))
    (path.parent / "table.csv").unlink()


def _walks(path: Path) -> None:
    from cogmap.walks.family import room_of_each_walk
    from cogmap.walks.store import load_walks
    from cogmap.walks.summary import summarise

    walks = load_walks(path)
    summary = summarise(walks)
    json.dumps(summary.described(walks), ensure_ascii=False).encode()
    room_of_each_walk(path)


def _log(path: Path) -> None:
    _walks(path.parent)


def _converted(path: Path) -> None:
    from cogmap.walks.convert import converted
    from cogmap.walks.summary import summarise

    summarise(converted(path, path.with_suffix(".walks")))


def _truth(path: Path) -> None:
    from cogmap.walks.store import load_walks
    from cogmap.walks.truth_store import load_truth

    load_truth(path.with_name("walks.npz"), load_walks(path.with_name("walks.npz")))


def _run(path: Path) -> None:
    """Everything that a run folder holds, each part by itself; the first error is raised at last."""
    from cogmap.errors import CogmapError
    from cogmap.runs.folder import RunFolder

    folder = path.parent
    run = RunFolder(folder)
    error = None
    for part in (
        run.metrics,
        run.scores,
        lambda: run.concepts(3),
        run.text_baselines,
        lambda: run.text_reading if run.task == "text" else None,
        lambda: run.quantizer,
        run.node_views,
        run.state,
        lambda: run.name,
    ):
        try:
            part()
        except CogmapError as problem:
            error = problem
    if error is not None:
        raise error


def _map(path: Path) -> None:
    from cogmap.maps.store import load_map

    load_map(path)


def _model(path: Path) -> None:
    from cogmap.runs.run import load_run

    assert load_run(path.parent).model is not None


def _hidden(path: Path) -> None:
    """What a run without a network says of its own walks."""
    from cogmap.runs.run import load_run

    run = load_run(path.parent)
    assert run.states.num_states
    run.encode(run.load_walks(path.parents[1] / "walks.npz"))


def _checkpoint(path: Path) -> None:
    import torch

    from cogmap.runs.run import load_run
    from cogmap.training.devices import Processes
    from cogmap.training.loop import Trainer
    from cogmap.training.split import split_walks
    from cogmap.walks.store import load_walks

    run = load_run(path.parents[1])
    walks = load_walks(path.parents[2] / "walks.npz")
    data = split_walks(walks, walks.observations, run.training.seed)
    trainer = Trainer(run.config, run.training, data, torch.device("cpu"), Processes())
    trainer.restore(run.folder)
    trainer.step()
    trainer.validate()


def _ginc(path: Path) -> None:
    from cogmap.environments.ginc import read_truth

    world, training, _ = read_truth(path.parent)
    training.tokens(world)


def _prompts(path: Path) -> None:
    from cogmap.environments.ginc import read_prompts, read_truth

    read_prompts(path, read_truth(path.parent)[0].vocabulary)


def _problems(path: Path) -> None:
    from cogmap.runs.plans import read_questions

    [str(question).encode() for question in read_questions(path)]


def _book(path: Path) -> None:
    from cogmap.walks.text import load_text

    load_text(path, "words", 64, least_count=2)


def _page(path: Path) -> None:
    """What the explorer makes of a run folder."""
    from cogmap.app.bodies import encode_json
    from cogmap.app.handlers import Call, Handlers
    from cogmap.app.security import Limits
    from cogmap.app.watcher import RunWatcher

    watcher = RunWatcher(path.parent)
    watcher.refresh()
    handlers = Handlers(watcher, Limits())
    for name in ("run", "live", "metrics"):
        encode_json(getattr(handlers, name)(Call({}, {}, None)))


def _commands(path: Path) -> None:
    """Commands on a folder in which one file is broken."""
    from cogmap.cli import main

    folder = next(parent for parent in path.parents if (parent / "walks.npz").exists())
    run, walks, rng = str(folder / "run"), str(folder / "walks.npz"), random.Random(path.read_bytes())
    out = folder / rng.choice(["out.json", "out.dot", "out.graphml", "out.drn", "out.prism", "out.npz"])
    made = str(folder / f"out{rng.choice(['.csv', '.jsonl', '.walks'])}")
    asked = [
        ["plan", run, "--walks", walks, "--from", "0:5", "--to", "0:20"],
        ["policy", run, "--to", "1", "--json"],
        ["evaluate", run, "--walks", walks, "--problems", "3", "--json"],
        ["map", run, "--out", str(out), "--force"],
        ["map", run, "--outputs-on-moves", "--out", str(folder / "out.dot"), "--force"],
        ["check", walks, "--json"],
        ["convert", walks, "--out", made, "--force"],
    ][rng.randrange(7)]
    if rng.random() < _MAPPED:
        asked = ["map", run, "--walks", walks, "--out", str(out), "--force"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = main(asked)
    if code not in (0, 2):
        raise RuntimeError(f"{asked[0]}: exit code {code}")


_MAPPED = 0.01  # share of commands that build a map, which takes a second where others take ten milliseconds

TARGETS = (
    Target("commands, config", "places/run/config.json", _commands),
    Target("commands, model", "places/run/model.safetensors", _commands),
    Target("commands, walks", "places/walks.npz", _commands),
    Target("commands, truth", "places/walks.truth.npz", _commands),
    Target("commands, rooms", "family/walks.npz", _commands),
    Target("commands, quantizer", "views/run/quantizer.npz", _commands),
    Target("commands, map", "places/run/map.npz", _commands),
    Target("commands, states", "states/run/states.npz", _commands),
    Target("commands, map of states", "states/run/map.npz", _commands),
    Target("commands, config of states", "states/run/config.json", _commands),
    Target("commands, rewards", "rewards/walks.npz", _commands),
    Target("states", "states/run/states.npz", _hidden),
    Target("rewards npz", "rewards/walks.npz", _walks),
    Target("rewards jsonl", "rewards/walks.jsonl", _walks),
    Target("rewards csv", "rewards/walks.csv", _walks),
    Target("table", "rewards/table.csv", _walks),
    Target("drawing", "rewards/maze.txt", _drawing),
    Target("measured rows", "rows/small-room.csv", _measured),
    Target("comparison", "rows/comparison.csv", _compared),
    Target("cell of a comparison", "rows/trials/cell.json", _cell),
    Target("walks npz", "places/walks.npz", _walks),
    Target("walks jsonl", "places/walks.jsonl", _walks),
    Target("walks csv", "places/walks.csv", _walks),
    Target("log sizes", "places/log.walks/walks.json", _log),
    Target("log observations", "places/log.walks/observations.npy", _log),
    Target("log actions", "places/log.walks/actions.npy", _log),
    Target("log offsets", "places/log.walks/offsets.npy", _log),
    Target("converted jsonl", "places/walks.jsonl", _converted),
    Target("converted csv", "places/walks.csv", _converted),
    Target("walks views", "views/views.npz", _walks),
    Target("walks rooms", "family/walks.npz", _walks),
    Target("truth", "places/walks.truth.npz", _truth),
    Target("truth of chance", "chance/walks.truth.npz", _truth),
    Target("machine json", "machines/one.json", _machine),
    Target("machine dot", "machines/one.dot", _machine),
    Target("trial", "machines/trials/run.json", _trial),
    Target("trial progress", "machines/trials/run.progress.json", _trial),
    Target("config", "places/run/config.json", _run),
    Target("metrics", "places/run/metrics.jsonl", _run),
    Target("scores", "places/run/scores.json", _run),
    Target("concepts", "places/run/concepts.json", _run),
    Target("baselines", "places/run/baselines.json", _run),
    Target("reading", "text/run/text.json", _run),
    Target("quantizer", "views/run/quantizer.npz", _run),
    Target("views", "views/run/views.npz", _run),
    Target("map", "places/run/map.npz", _map),
    Target("atlas", "family/run/atlas.npz", _map),
    Target("model", "places/run/model.safetensors", _model),
    Target("model config", "places/run/config.json", _model),
    Target("checkpoint", "places/run/checkpoint/checkpoint.safetensors", _checkpoint),
    Target("ginc truth", "ginc/truth.npz", _ginc),
    Target("ginc prompts", "ginc/id_prompts_randomsample_2.json", _prompts),
    Target("problems", "places/problems.json", _problems),
    Target("text", "text/book.txt", _book),
    Target("explorer config", "places/run/config.json", _page),
    Target("explorer metrics", "places/run/metrics.jsonl", _page),
    Target("explorer map", "places/run/map.npz", _page),
)
