"""Rows of measured figures: one CSV a table, each row with its commit and its command."""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cogmap.experiments.trials import Trial
from cogmap.files import PART, write_whole
from cogmap.runs.writing import held

Row = dict[str, Any]
Found = Mapping[tuple[str, str, str], float]  # figures by environment, map and metric
KEY = ("method", "environment", "seed", "map", "metric", "preset")
COLUMNS = (*KEY[:5], "value", "seconds", "preset", "commit", "command")


def flat(environment: str, by_map: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str, str], float]:
    return {(environment, kind, name): value for kind, row in by_map.items() for name, value in row.items()}


def rows_of(trial: Trial, found: Found, seconds: float) -> list[Row]:
    shared = {
        "method": trial.label,
        "seed": trial.seed,
        "seconds": round(seconds),
        "preset": trial.options.preset,
        "commit": current_commit(),
        "command": trial.command,
    }
    return [
        {**shared, "environment": environment, "map": kind, "metric": metric, "value": round(float(value), 6)}
        for (environment, kind, metric), value in found.items()
    ]


def read_rows(path: Path) -> list[dict[str, str]]:
    """All rows of a file, none where there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def merge_rows(path: Path, rows: list[Row]) -> None:
    """Add rows to a file, in place of those with the same key. Several processes may do so at once."""
    with held(path.with_name(f".{path.name}.lock"), path):
        for left in path.parent.glob(f".{path.name}.*{PART}"):
            left.unlink(missing_ok=True)
        _merge_rows(path, rows)


def _merge_rows(path: Path, rows: list[Row]) -> None:
    fresh = {tuple(str(row[name]) for name in KEY) for row in rows}
    kept = [row for row in read_rows(path) if tuple(row[name] for name in KEY) not in fresh]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*kept, *rows])
    with write_whole(path) as output:
        output.write(text.getvalue().encode())


def current_commit() -> str:
    """The commit that made a row, where there is git to ask."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
