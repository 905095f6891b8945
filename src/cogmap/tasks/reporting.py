"""The report of any run, and the command lines that make a run and its report again."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cogmap.models.config import ModelConfig
from cogmap.runs.folder import RunFolder
from cogmap.runs.writing import writing
from cogmap.training.config import preset_configs

if TYPE_CHECKING:
    from cogmap.runs.run import Run

# Fields that `cogmap learn` has options for, or that follow from the walks.
_WITH_OPTIONS = (
    "num_observations",
    "num_actions",
    "num_targets",
    "encoder",
    "vanilla",
    "prediction_steps",
    "bottlenecks",
    "next_encoding",
    "clone_structured",
)


def write_report(run: Run, walks: str | Path | None = None, beside: Run | None = None) -> Path:
    """Write report.html, which opens offline, and figures/ into the run folder. Returns the page.

    walks: a file of test walks to read, draw and score; with its truth beside it, against the truth.
    beside: another run to show beside it on the same walks, as one that plans worse.
    """
    from cogmap.tasks import task_of

    with writing(run.folder):
        return task_of(run.task).write_report(run, None if walks is None else Path(walks), beside)


def learn_command(run: RunFolder, walks: str = "WALKS") -> str:
    """The line that learns this run again from its walks: every choice that is not the preset's own."""
    model, training = run.config, run.training
    words: list[str | int | float] = ["cogmap", "learn", walks, "--out", str(run.folder)]
    if not run.has_network:
        return shlex.join(map(str, [*words, "--method", run.method, "--seed", training.seed]))
    words += ["--encoder", model.encoder, "--prediction-steps", model.prediction_steps]
    words += ["--bottlenecks", model.bottlenecks, "--seed", training.seed]
    words += ["--preset", "paper"] if model.form == "paper" else []
    words += ["--next-encoding"] if model.next_encoding else []
    words += ["--clone-structured"] if model.clone_structured else []
    words += ["--minutes", training.minutes] if training.minutes is not None else []
    changes = _changes(run)
    words += ["--change", *changes] if changes else []
    return shlex.join(map(str, words))


def report_command(run: Path, walks: Path | None, beside: Path | None) -> str:
    """The line that writes this report again."""
    words = ["cogmap", "report", str(run)]
    words += ["--walks", str(walks)] if walks is not None else []
    words += ["--beside", str(beside)] if beside is not None else []
    return shlex.join(words)


def _changes(run: RunFolder) -> list[str]:
    """Fields of both configs that differ from the preset's, apart from those that have an option of their own."""
    chosen = {name: getattr(run.config, name) for name in _WITH_OPTIONS}
    usual = preset_configs(run.config.form, ModelConfig(**chosen))
    pairs = ((asdict(run.config), asdict(usual[0])), (asdict(run.training), asdict(usual[1])))
    return [
        f"{name}={value}"
        for config, preset in pairs
        for name, value in config.items()
        if name not in ("seed", "minutes") and value != preset[name]
    ]
