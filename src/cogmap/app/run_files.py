"""The files of a run folder, read without torch: the app shows what was saved, and loads no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun, BadWalks
from cogmap.evaluation.scores import Scores
from cogmap.files import read_arrays, read_json, read_text
from cogmap.records import Labels, Truth, Walks
from cogmap.report.tables import Scored
from cogmap.walks.store import load_walks
from cogmap.walks.truth_store import load_truth, truth_path

if TYPE_CHECKING:
    from cogmap.evaluation.concepts import NodeConcepts

FORMAT = 1
CONFIG_FILE, METRICS_FILE, MODEL_FILE = "config.json", "metrics.jsonl", "model.safetensors"
VIEWS_FILE, QUANTIZER_FILE, CONCEPTS_FILE = "views.npz", "quantizer.npz", "concepts.json"
EARLY_MAP_FILE = "map.early.npz"  # of a training under way
MAP_FILES = {"minimal": ("map.npz", EARLY_MAP_FILE), "paper": ("map.paper.npz",)}
SCORE_FILES = {"scores.json": "here", "scores.paper.json": "here, the paper's map"}


@dataclass(frozen=True)
class RunConfig:
    """What config.json says that the explorer needs, and all of it to show."""

    name: str
    num_observations: int
    num_actions: int
    num_codes: int
    last_step: int | None
    observation_labels: Labels | None
    action_labels: Labels | None
    makes_map: bool  # a vanilla model and one of a family of rooms have no map of their own
    stored: Mapping[str, Any]


class NodeViews(NamedTuple):
    """What is seen at the nodes of the minimal map of a run that learned from images."""

    views: NDArray[np.uint8]  # (U, H, W, C)
    view_of_node: NDArray[Any]  # (V,) -1 for none


def read_config(folder: Path) -> RunConfig:
    """The run's choices; BadRun where there is no run, or one of another version."""
    if not folder.is_dir():
        raise BadRun(f"a run must be a folder made by `cogmap learn`, there is no folder {folder.name}")
    stored = read_json(folder / CONFIG_FILE, BadRun)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        found = stored.get("format") if isinstance(stored, dict) else type(stored).__name__
        raise BadRun(f"{CONFIG_FILE} must be of format {FORMAT}, got {found}")
    model: Any = stored.get("model")
    training: Any = stored.get("training")
    try:
        steps = training.get("steps") if isinstance(training, dict) else None
        return RunConfig(
            name=str(stored.get("name", "a model")),
            num_observations=_size(model, "num_observations"),
            num_actions=_size(model, "num_actions"),
            num_codes=_size(model, "num_codes"),
            last_step=steps if isinstance(steps, int) else None,
            observation_labels=_labels(stored, "observation_labels"),
            action_labels=_labels(stored, "action_labels"),
            makes_map=not (model.get("vanilla") or model.get("in_base")),
            stored=stored,
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadRun(f"{CONFIG_FILE} must hold the model's options, it lacks {problem}") from problem


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of metrics.jsonl; none before the first was written."""
    path = folder / METRICS_FILE
    if not path.exists():
        return []
    try:
        rows = [json.loads(line) for line in read_text(path, BadRun).splitlines()]
    except ValueError as problem:
        raise BadRun(f"{METRICS_FILE} must hold one JSON object a line: {problem}") from problem
    if not all(isinstance(row, dict) for row in rows):
        raise BadRun(f"{METRICS_FILE} must hold one JSON object a line")
    return rows


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """A list a field, null where a row has none; numbers that JSON has no word for are null too."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_finite(row.get(name)) for row in rows] for name in names}


def read_scores(folder: Path, name: str) -> tuple[Scored, ...]:
    """What `cogmap evaluate` wrote into the run folder, the minimal map's first."""
    present = [(folder / file, remark) for file, remark in SCORE_FILES.items() if (folder / file).is_file()]
    return tuple(Scored(name, remark, Scores.load(path)) for path, remark in present)


def read_walks(path: Path, folder: Path, config: RunConfig) -> Walks:
    """Walks in the run's own vocabulary; views as the clusters that its quantizer puts them into."""
    quantizer = _quantizer(folder)
    if quantizer is not None:
        return quantizer.walks(load_walks(path))
    known = Walks(
        observations=np.zeros((1, 2), dtype=np.int32),
        actions=np.zeros((1, 1), dtype=np.int32),
        lengths=np.array([2], dtype=np.int32),
        num_observations=config.num_observations,
        num_actions=config.num_actions,
        observation_labels=config.observation_labels,
        action_labels=config.action_labels,
    )
    return load_walks(path, like=known)


def read_truth(path: Path, folder: Path, walks: Walks, config: RunConfig) -> Truth | None:
    """The truth beside a walks file, if it is there and of a world with the run's actions."""
    if not truth_path(path).is_file():
        return None
    quantizer = _quantizer(folder)
    if quantizer is None:
        truth = load_truth(path, walks)
    else:
        seen = load_walks(path)
        truth = quantizer.walks_and_truth(seen, load_truth(path, seen))[1]
    has, own = truth.world.num_actions, config.num_actions
    if has != own:
        raise BadWalks(f"the true world must have the run's {own} actions, it has {has}")
    if truth.world.observation.max() >= config.num_observations:
        rule = f"the true world must show the run's {config.num_observations} observations"
        raise BadWalks(f"{rule}, it shows {truth.world.observation.max()}")
    return truth


def _quantizer(folder: Path) -> Any:
    """What turns views into observations in a run that learned from views; None in any other."""
    if not (folder / QUANTIZER_FILE).is_file():
        return None
    from cogmap.walks.quantize import load_quantizer

    return load_quantizer(folder / QUANTIZER_FILE)


def read_concepts(folder: Path, num_nodes: int) -> NodeConcepts | None:
    """The concepts of a text run's nodes; None where there is no concepts.json."""
    from cogmap.evaluation.concepts import load_concepts

    path = folder / CONCEPTS_FILE
    return load_concepts(path, num_nodes) if path.is_file() else None


def read_views(folder: Path) -> NodeViews | None:
    """views.npz of a run that learned from images; None where there is none."""
    path = folder / VIEWS_FILE
    if not path.is_file():
        return None
    arrays = read_arrays(path, BadRun)
    views, chosen = arrays.get("views"), arrays.get("view_of_node")
    if views is None or views.ndim != 4 or views.shape[3] not in (1, 3, 4) or views.dtype != np.uint8:
        raise BadRun(f"{VIEWS_FILE} must hold `views` (U, H, W, C) of bytes")
    if chosen is None or chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise BadRun(f"{VIEWS_FILE} must hold `view_of_node` (V,) of integers")
    if chosen.size and chosen.max() >= len(views):
        raise BadRun(f"`view_of_node` must be below the number of views (={len(views)}), got {chosen.max()}")
    return NodeViews(views, chosen)


def _size(model: Any, name: str) -> int:
    value = model[name]
    if type(value) is not int or value < 1:
        raise BadRun(f"{CONFIG_FILE}: `{name}` must be a whole number above 0, got {value!r}")
    return value


def _labels(stored: Mapping[str, Any], key: str) -> Labels | None:
    labels = stored.get(key)
    return None if labels is None else tuple(str(label) for label in labels)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
