"""The GINC table: make the set, learn its text, complete every prompt; ours beside the paper's and the ceilings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogmap.environments.ginc import GincConfig, Prompts, read_prompts, read_truth, write_ginc
from cogmap.evaluation.concepts import SHARES
from cogmap.evaluation.diagnostics import training_above
from cogmap.evaluation.prompts import ceiling, in_context_rows
from cogmap.experiments.commits import current_commit
from cogmap.experiments.rows import Found, Row, flat, read_rows
from cogmap.experiments.trials import Kind, Options, Tell, Trial, new_trial, one_model, slug
from cogmap.records import Labels
from cogmap.walks.text import TextReading

if TYPE_CHECKING:
    from cogmap.runs.run import Run
    from cogmap.tasks.text import TextSource

METRIC = "in_context_accuracy"


@dataclass(frozen=True)
class Ginc(Kind):
    """One text for all models. The set holds more kinds of prompts than the paper's table."""

    methods: tuple[str, ...]
    lengths: tuple[int, ...] = (3, 5, 8, 10)  # k
    most_examples: int = 64  # n
    change: Mapping[str, Any] = field(default_factory=dict)  # of models and training
    own: ClassVar = frozenset({"splice"})
    trains_on: ClassVar[tuple[str, ...]] = ("change",)
    remaps: ClassVar[bool] = False  # the graph of a text stays as it was learned

    def trials(self, table: str, options: Options) -> list[Trial]:
        return [self._trial(table, one_model(options, method)) for method in options.only or self.methods]

    def _trial(self, table: str, options: Options) -> Trial:
        spliced = f", documents spliced {options.splice}" if options.splice else ""
        trial = new_trial(table, self, options, "GINC", spliced)
        folder = f"{slug(trial.label)}-{options.preset}-{trial.seed}"
        return replace(trial, folder=trial.folder.with_name(folder))

    def begin(self, options: Options, path: Path, tell: Tell) -> list[Row]:
        """Make the set, and the rows of the ceilings."""
        from cogmap.report.tables import GINC_CEILINGS

        folder = _data_folder(options)
        if not (folder / "truth.npz").is_file():
            tell(f"making the GINC set in {folder}")
            write_ginc(folder, GincConfig(), lambda name, share: None)
        if any(row["method"] in GINC_CEILINGS for row in read_rows(path)):
            return []
        shared = {"seed": options.first_seed, "map": "", "metric": METRIC, "seconds": 0}
        shared |= {"preset": options.preset, "command": "cogmap ginc --ceiling"}
        shared |= {"trained_at": "", "scored_at": current_commit()}
        world = read_truth(folder)[0]
        return [
            {**shared, "method": method, "environment": _environment(row), "value": round(accuracy, 6)}
            for row in ceiling(world, self._prompts(folder, world.vocabulary))
            for method, accuracy in zip(GINC_CEILINGS, row.accuracies(), strict=True)
        ]

    def training(self, trial: Trial) -> dict[str, Any]:
        return {"source": _text(_data_folder(trial.options), trial.options.splice, trial.seed), **self.change}

    def score(self, trial: Trial, run: Run, tell: Tell) -> Found:
        """Every accuracy, what the graph keeps apart, and what the training took."""
        from cogmap.models.inference import complete

        last, folder = run.metrics()[-1], _data_folder(trial.options)
        positions = last["step"] * run.training.batch_size * run.training.window
        of_documents: dict[str, float] = {
            "positions_per_second": round(positions / last["seconds"]),
            "positions": positions,
            "validation_accuracy": last["validation_accuracy"],
            **(_of_graph(run) if run.has_map else {}),
        }
        above = training_above(run.metrics(), of_best=True)
        if above is not None:
            of_documents["training_above_98"] = above
        found = flat(f"{trial.table}: documents", {"": of_documents})
        words = read_truth(folder)[0].vocabulary
        prompts = self._prompts(folder, words)
        for row in in_context_rows(lambda tokens: complete(run.model, tokens, words), prompts):
            found[_environment(row), "", METRIC] = row.accuracy
            tell(f"  k={row.length} n={row.examples} {row.accuracy:.3f}")
        return found

    def _prompts(self, folder: Path, vocabulary: Labels) -> list[Prompts]:
        """The prompts of the paper's table."""
        files = (folder / f"id_prompts_randomsample_{length}.json" for length in self.lengths)
        every = (prompts for file in files for prompts in read_prompts(file, vocabulary))
        return [prompts for prompts in every if prompts.examples <= self.most_examples]

    def end(self, path: Path, tell: Tell) -> None:
        from cogmap.report.tables import ginc_table

        tell(ginc_table(_accuracies(read_rows(path))).text())


def _data_folder(options: Options) -> Path:
    return options.out / "ginc" / "data"


@lru_cache(maxsize=1)  # all models of a table read the same text
def _text(folder: Path, splice: float, seed: int) -> TextSource:
    from cogmap.tasks.text import read_text

    return read_text(folder / "train.txt", TextReading(splice=splice), seed)


def _of_graph(run: Run) -> dict[str, float]:
    """Size of the run's graph, and how its nodes distinguish the concepts."""
    concepts = run.concepts(run.map.num_nodes)
    shares = {} if concepts is None else {f"concept_{name}": getattr(concepts, name) for name in SHARES}
    return {**shares, "nodes": run.map.num_nodes, "edges": run.map.num_edges}


def _environment(row: Any) -> str:
    return f"ginc: k={row.length} n={row.examples}"


def _accuracies(rows: Sequence[Mapping[str, str]]) -> dict[tuple[str, int, int], float]:
    """By method, k and n, which environments name as `_environment` has it."""
    found = {}
    for row in rows:
        named = re.fullmatch(r"ginc: k=(\d{1,9}) n=(\d{1,9})", row["environment"])
        if row["metric"] == METRIC and row["value"] and named:
            found[row["method"], int(named[1]), int(named[2])] = float(row["value"])
    return found
