"""Rows of measured figures: one CSV a table, each row with its commit and its command."""

from __future__ import annotations

import csv
import io
import subprocess
from pathlib import Path
from typing import Any

from cogmap.files import write_whole

Row = dict[str, Any]
COLUMNS = (
    "method",
    "environment",
    "seed",
    "map",
    "metric",
    "value",
    "seconds",
    "preset",
    "commit",
    "command",
)


def merge_rows(path: Path, rows: list[Row]) -> None:
    """The file's rows with these in place of their forerunners."""
    kept = []
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as stream:
            kept = list(csv.DictReader(stream))
    key = ("method", "environment", "seed", "map", "metric", "preset")
    fresh = {tuple(str(row[name]) for name in key) for row in rows}
    kept = [row for row in kept if tuple(row[name] for name in key) not in fresh]
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
