"""From an opened run and test walks to the material of a report, and the lines that make both again."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cogmap.commands.run_walks import MapKind, map_of
from cogmap.errors import BadRun
from cogmap.evaluation.scores import Scores, score, score_without_truth
from cogmap.files import read_json
from cogmap.maps.layout import layout_map
from cogmap.models.config import ModelConfig
from cogmap.records import CognitiveMap, Truth, Walks
from cogmap.report.example import fitting_context
from cogmap.report.material import Material, Reading, read_with
from cogmap.report.tables import Scored
from cogmap.run import CONFIG_FILE
from cogmap.training.config import preset_configs
from cogmap.training.loop import read_metrics

if TYPE_CHECKING:
    from cogmap.run import Run

REMARKS = {"minimal": "here", "paper": "here, the paper's map"}
STORED_SCORES = {"minimal": "scores.json", "paper": "scores.paper.json"}

# What `cogmap learn` is told by options of their own, or by the walks.
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


def material_of(
    opened: Run, walks: Walks | None = None, truth: Truth | None = None, kind: MapKind = "minimal"
) -> Material:
    """All that a run holds for a report on one of its maps; with walks, also how it reads and scores on them."""
    found = map_of(opened, kind)
    reading = None
    if walks is not None:
        codes, predicted = opened.encode(walks)
        reading = read_with(found, walks, codes, predicted, truth)
    return Material(
        name=opened.name,
        config=read_json(opened.folder / CONFIG_FILE, BadRun),
        cognitive_map=found,
        layout=layout_map(found),
        rows=read_metrics(opened.folder),
        scored=_stored(opened, kind) if reading is None else _scored(opened, reading, kind),
        reading=reading,
    )


def _stored(opened: Run, kind: MapKind) -> tuple[Scored, ...]:
    """What `cogmap evaluate` wrote into the run folder, the shown map's scores first."""
    paths = [(each, opened.folder / STORED_SCORES[each]) for each in _kinds(kind)]
    return tuple(
        Scored(opened.name, REMARKS[each], Scores.load(path)) for each, path in paths if path.exists()
    )


def _scored(opened: Run, reading: Reading, kind: MapKind) -> tuple[Scored, ...]:
    """The scores of the shown map and, with truth, of the other one too."""
    kinds = _kinds(kind) if reading.truth is not None else (kind,)
    return tuple(Scored(opened.name, REMARKS[each], _score(map_of(opened, each), reading)) for each in kinds)


def _kinds(shown: MapKind) -> tuple[MapKind, MapKind]:
    return ("minimal", "paper") if shown == "minimal" else ("paper", "minimal")


def _score(found: CognitiveMap, reading: Reading) -> Scores:
    walks, truth = reading.walks, reading.truth
    if truth is None or walks.lengths.min() < 3:  # too short for a problem to be posed
        return score_without_truth(found, reading.predicted, walks)
    return score(found, reading.codes, reading.predicted, walks, truth, context_length=fitting_context(walks))


def learn_command(opened: Run, walks: str = "WALKS") -> str:
    """The line that learns this run again from its walks: every choice that is not the preset's own."""
    model, training = opened.config, opened.training
    told: list[str | int | float] = ["cogmap", "learn", walks, "--out", str(opened.folder)]
    told += ["--encoder", model.encoder, "--prediction-steps", model.prediction_steps]
    told += ["--bottlenecks", model.bottlenecks, "--seed", training.seed]
    told += ["--preset", "paper"] if model.form == "paper" else []
    told += ["--next-encoding"] if model.next_encoding else []
    told += ["--clone-structured"] if model.clone_structured else []
    told += ["--minutes", training.minutes] if training.minutes is not None else []
    changes = _changes(opened)
    told += ["--change", *changes] if changes else []
    return shlex.join(map(str, told))


def _changes(opened: Run) -> list[str]:
    """Fields of both configs that differ from the preset's, apart from those that have an option of their own."""
    chosen = {name: getattr(opened.config, name) for name in _WITH_OPTIONS}
    usual = preset_configs(opened.config.form, ModelConfig(**chosen))
    pairs = ((asdict(opened.config), asdict(usual[0])), (asdict(opened.training), asdict(usual[1])))
    return [
        f"{name}={value}"
        for config, preset in pairs
        for name, value in config.items()
        if name not in ("seed", "minutes") and value != preset[name]
    ]


def report_command(run: Path, walks: Path | None, beside: Path | None) -> str:
    told = ["cogmap", "report", str(run)]
    told += ["--walks", str(walks)] if walks is not None else []
    told += ["--beside", str(beside)] if beside is not None else []
    return shlex.join(told)
