"""One small file of each kind that is read."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np


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
