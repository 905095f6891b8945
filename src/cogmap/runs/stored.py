"""The single files of a run folder, checked as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cogmap.checks import checked, shown
from cogmap.errors import BadRun
from cogmap.files import read_arrays, read_json, read_json_lines, write_json
from cogmap.models.config import ModelConfig, with_current_names
from cogmap.records import Walks
from cogmap.runs.names import CONFIG_FILE, FORMAT, TaskName
from cogmap.training.config import TrainingConfig
from cogmap.version import __version__
from cogmap.walks.text import TextReading

_LISTS = ("codes_in_use", "perplexity")  # of a row of metrics


class NodeViews(NamedTuple):
    """What is seen at the nodes of the minimal map of a run that learned from images."""

    views: NDArray[np.uint8]  # (U, H, W, C)
    view_of_node: NDArray[Any]  # (V,) -1 for none


def save_config(
    folder: Path, task: TaskName, model: ModelConfig, training: TrainingConfig, walks: Walks, chosen: str = ""
) -> None:
    """Write every choice into the run folder. chosen: what the log is and what was chosen for it, in words."""
    stored = {
        "format": FORMAT,
        "cogmap": __version__,
        "task": task,
        "name": model.name,
        "model": asdict(model),
        "training": asdict(training),
        "observation_labels": walks.observation_labels,
        "action_labels": walks.action_labels,
        "walks": walks.num_walks,
        "chosen": chosen,
    }
    write_json(folder / CONFIG_FILE, stored)


def read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadRun(f"a run must be a folder made by `cogmap learn`, there is no folder {folder}")
    stored = read_json(folder / CONFIG_FILE, BadRun)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        found = shown(stored.get("format")) if isinstance(stored, dict) else type(stored).__name__
        raise BadRun(f"{folder / CONFIG_FILE} must be of format {FORMAT}, got {found}")
    known = {"model", "training", "observation_labels", "action_labels"}  # what else there is, is only shown
    return {key: value for key, value in stored.items() if key in known or not isinstance(value, dict | list)}


def read_options(kind: type, stored: Mapping[str, Any], key: str, folder: Path) -> Any:
    """One of the two config records. An option that came after the run was made has its default."""
    values = stored.get(key)
    if isinstance(values, dict):
        values = with_current_names(values)
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if not isinstance(values, dict) or not needed <= set(values) <= known:
        got = shown(sorted(set(values) ^ known) if isinstance(values, dict) else values)
        rule = f"{folder / CONFIG_FILE} must hold the {key} options of this version"
        raise BadRun(f"{rule}, these differ: {got}")
    return checked(kind, values, f"{folder / CONFIG_FILE}, the {key} options", BadRun)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Rows of numbers, some with a list of them, a number for each bottleneck; NaN may be among them."""
    rows = read_json_lines(path, BadRun, nan=True)
    for line, row in enumerate(rows, 1):
        for name, value in row.items():
            many = name in _LISTS
            if isinstance(value, list) != many or not all(map(_is_number, value if many else [value])):
                rule = (
                    f"{path}, line {line}: `{name[:40]}` must be a {'list of numbers' if many else 'number'}"
                )
                raise BadRun(f"{rule}, got {shown(value)}")
            if name == "step" and not (isinstance(value, int) and value >= 0):
                raise BadRun(
                    f"{path}, line {line}: `step` must be an integer of at least 0, got {shown(value)}"
                )
    return rows


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 2**63)


def read_views(path: Path) -> NodeViews:
    arrays = read_arrays(path, BadRun)
    views, chosen = arrays.get("views"), arrays.get("view_of_node")
    if views is None or views.ndim != 4 or views.shape[3] not in (1, 3, 4) or views.dtype != np.uint8:
        raise BadRun(f"{path.name} must hold `views` (U, H, W, C) of bytes")
    if chosen is None or chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise BadRun(f"{path.name} must hold `view_of_node` (V,) of integers")
    if 0 in views.shape[1:]:
        raise BadRun(f"{path.name} must hold `views` of at least a pixel, got shape {views.shape}")
    if chosen.size and (chosen.max() >= len(views) or chosen.min() < -1):
        rule = f"`view_of_node` must be -1 or below the number of views (={len(views)})"
        raise BadRun(f"{rule}, got {chosen.min()} to {chosen.max()}")
    return NodeViews(views, chosen)


def read_text_reading(path: Path) -> TextReading:
    """text.json of a run that learned from a text."""
    where = f"{path} must say how a text is read, by unit, least_count and splice"
    return checked(TextReading, read_json(path, BadRun), where, BadRun)
