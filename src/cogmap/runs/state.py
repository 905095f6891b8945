"""What a run is doing, by its files alone."""

from __future__ import annotations

import time
from pathlib import Path

from cogmap.runs.names import (
    CONFIG_FILE,
    EARLY_MAP_FILE,
    LOCK_FILE,
    MAP_FILES,
    MODEL_FILE,
    STATES_FILE,
    State,
)
from cogmap.training.progress import METRICS_FILE

_SILENT_SECONDS = 600.0  # a training writes more often than this


def run_state(folder: Path, makes_map: bool = True) -> State:
    """What a run is doing: by its lock file if nobody writes, else by which of its files was written last.

    So no process has to be asked, and a copy, whose files are of one moment, is what it was copied from.
    """
    map_file = MAP_FILES["minimal"]
    files = (CONFIG_FILE, METRICS_FILE, MODEL_FILE, STATES_FILE, EARLY_MAP_FILE, map_file)
    written = {name: when for name in files if (when := _written(folder / name)) is not None}
    if not written:
        return "waiting"
    if _is_released(folder / LOCK_FILE):
        learned = MODEL_FILE in written or STATES_FILE in written
        return "finished" if learned and (map_file in written or not makes_map) else "stopped"
    model, metrics = written.get(MODEL_FILE, written.get(STATES_FILE)), written.get(METRICS_FILE, 0.0)
    silent = time.time() - max(written.values()) > _SILENT_SECONDS
    if model is None or model < metrics:
        if metrics == 0 and map_file in written:  # a map that was put there by hand
            return "finished"
        return "stopped" if silent else "training"
    mapped = not makes_map or written.get(map_file, 0.0) >= model
    return "finished" if mapped or silent else "mapping"


def _is_released(lock: Path) -> bool:
    """Whether the last process that wrote came to its end: then its lock file is empty, else it holds a number."""
    try:
        return lock.stat().st_size == 0
    except OSError:
        return False


def _written(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
