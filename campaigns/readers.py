"""What is read from files: one small file of each kind, and every reader, from library and commands to the explorer.

A new reader belongs into `TARGETS`, and a file that it reads into `material`.
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

import numpy as np


@dataclass(frozen=True)
class Target:
    """A file that is mutated, and what reads it; `of` is the folder that is copied with it, or only the file."""

    name: str
    file: str
    read: Callable[[Path], Any]


def material(folder: Path) -> None:
    """One small file of each kind."""
    from campaigns.kills import LEARN, _family, _learned, _text, _views, cogmap

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for name, prepare, source, more in (
            ("places", _learned, "", ()),
            ("family", _family, "walks.npz", ("--family",)),
            ("text", _text, "book.txt", ("--words",)),
            ("views", _views, "views.npz", ()),
        ):
            (folder / name).mkdir(parents=True)
            prepare(folder / name)
            if source:
                cogmap(
                    "learn", str(folder / name / source), "--out", str(folder / name / "run"), *more, *LEARN
                )
        walks, run = folder / "places" / "walks.npz", folder / "places" / "run"
        cogmap("evaluate", str(run), "--walks", str(walks), "--problems", "3")
        _other_files(folder, walks)
        _rewarded(folder)
        _states(folder)
        _rows(folder)


def _other_files(folder: Path, walks: Path) -> None:
    from cogmap.environments.ginc import GincConfig, write_ginc
    from cogmap.evaluation.concepts import NodeConcepts
    from cogmap.evaluation.text_baselines import TextBaselines
    from cogmap.files import write_arrays, write_json
    from cogmap.walks.store import load_walks, save_walks

    read = load_walks(walks)
    save_walks(folder / "places" / "walks.jsonl", read)
    save_walks(folder / "places" / "walks.csv", read)
    save_walks(folder / "places" / "log.walks", read)
    sizes = {"concepts": 2, "symbols": 8, "values": 2, "slots": 3, "documents": 3, "document_length": 20}
    more = {"validation_documents": 2, "validation_length": 10, "prompts": 2}
    few = {"prompt_lengths": (2,), "prompt_examples": (1, 2)}
    write_ginc(folder / "ginc", GincConfig(**sizes, **more, **few))
    problems = [{"from": [0, 1], "to": [0, 20], "avoid": [2]}, {"from": [0, 1], "showing": 1, "strict": True}]
    write_json(folder / "places" / "problems.json", problems)
    _chance_and_machines(folder)
    names = NodeConcepts(("a", "b"), np.array([0, 1, -1]), 0.5, 0.5, 0.5, 0.5)
    names.save(folder / "places" / "run" / "concepts.json")
    TextBaselines(0.1, 0.2, 0.3).save(folder / "places" / "run" / "baselines.json")
    write_arrays(
        folder / "views" / "run" / "views.npz",
        {"views": np.zeros((2, 4, 4, 3), np.uint8), "view_of_node": np.array([0, 1, -1])},
    )


def _chance_and_machines(folder: Path) -> None:
    """A world with chance, a machine in both of its formats, and the record of a trial."""
    from dataclasses import asdict

    from campaigns.kills import cogmap
    from cogmap.environments.machines import load_machine, save_machine
    from cogmap.experiments.ledger import Record, Step
    from cogmap.files import write_json

    (folder / "chance").mkdir()
    cogmap("walk", "room", "--height", "3", "--width", "3", "--observations", "3", "--walks", "5", "--steps", "9",
           "--slip", "0.1", "--start", "0", "--out", str(folder / "chance" / "walks.npz"))  # fmt: skip
    (folder / "machines" / "trials").mkdir(parents=True)
    save_machine(folder / "machines" / "one.json", load_machine("coffee_mealy"))
    edges = '__start0 -> s0; s0 -> s1 [label="a/x"]; s1 -> s0 [label="a/y"]'
    (folder / "machines" / "one.dot").write_text(f"digraph g {{\n{edges}\n}}\n")
    record = Record(
        "c", "cogmap reproduce", 0, trained_at=("a", "b"), rows=({"metric": "nodes", "value": 1},)
    )
    write_json(folder / "machines" / "trials" / "run.json", asdict(record))
    write_json(folder / "machines" / "trials" / "run.progress.json", asdict(Step("training", 1, 2, 0.5)))


def _rewarded(folder: Path) -> None:
    """Walks with rewards in every format that has them, a table of another program, and drawings of worlds."""
    from dataclasses import replace

    from cogmap.walks.store import load_walks, save_walks

    (folder / "rewards").mkdir()
    read = load_walks(folder / "places" / "walks.npz")
    rewarded = replace(read, rewards=np.where(read.step_mask()[:, 1:], read.actions * 0.5, 0.0))
    for suffix in (".npz", ".jsonl", ".csv"):
        save_walks(folder / "rewards" / f"walks{suffix}", rewarded)
    rows = [
        f"s{row // 9};2024-01-01 10:00:0{row % 9};p{row % 4};go {row % 2};{row % 3},5" for row in range(36)
    ]
    table = "\n".join(["session;timestamp;seen;action;reward", *rows])
    (folder / "rewards" / "table.csv").write_text(table + "\n")
    (folder / "rewards" / "maze.txt").write_text("#####\n#a.b#\n#.#.#\n#b.a#\n#####\n")


def _states(folder: Path) -> None:
    """A run of a method without a network."""
    from campaigns.kills import _places, cogmap

    (folder / "states").mkdir()
    _places(folder / "states")
    walks, run = folder / "states" / "walks.npz", folder / "states" / "run"
    cogmap("learn", str(walks), "--out", str(run), "--method", "cscg", "--change", "clones=8", "rounds=5")


def _rows(folder: Path) -> None:
    """Tables of measured rows, and what a comparison keeps of itself."""
    from cogmap.experiments.cell_rows import COLUMNS, merge_table
    from cogmap.experiments.rows import COLUMNS as MEASURED
    from cogmap.experiments.rows import merge_rows
    from cogmap.files import write_json

    (folder / "rows" / "trials").mkdir(parents=True)
    merge_rows(folder / "rows" / "small-room.csv", [dict.fromkeys(MEASURED, 1)])
    row = dict.fromkeys(COLUMNS, 1) | {"method": "cscg", "log": "walks.npz", "note": ""}
    merge_table(folder / "rows" / "comparison.csv", [row])
    write_json(folder / "rows" / "trials" / "cell.json", row)


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
