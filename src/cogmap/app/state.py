"""What a run is doing, read off which of its files was written last: no process has to be asked."""

from __future__ import annotations

import time
from pathlib import Path

from cogmap.app.run_files import CONFIG_FILE, EARLY_MAP_FILE, MAP_FILES, METRICS_FILE, MODEL_FILE

_SILENT_SECONDS = 600.0  # a training writes more often than this
_MAP_FILE = MAP_FILES["minimal"][0]


def run_state(folder: Path, makes_map: bool = True) -> str:
    """waiting, training, mapping, finished or stopped; `makes_map` is false for models that have none."""
    files = (CONFIG_FILE, METRICS_FILE, MODEL_FILE, EARLY_MAP_FILE, _MAP_FILE)
    written = {name: when for name in files if (when := _written(folder / name)) is not None}
    if not written:
        return "waiting"
    model, metrics = written.get(MODEL_FILE), written.get(METRICS_FILE, 0.0)
    silent = time.time() - max(written.values()) > _SILENT_SECONDS
    if model is None or model < metrics:
        if metrics == 0 and _MAP_FILE in written:  # a map that was put there by hand
            return "finished"
        return "stopped" if silent else "training"
    mapped = not makes_map or written.get(_MAP_FILE, 0.0) >= model
    return "finished" if mapped or silent else "mapping"


def _written(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
