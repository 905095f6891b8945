"""Rows of a comparison: what is measured of a method on a log, and the tables that hold such rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cogmap.checks import shown
from cogmap.errors import BadRun
from cogmap.experiments.csv_rows import is_number, lock_of, read_csv, write_csv
from cogmap.runs.writing import held

# Keyword arguments of `cogmap.learn` by the name that tables print.
METHODS: dict[str, dict[str, Any]] = {
    "tdb": {"encoder": "gru"},
    "tdb-transformer": {"encoder": "transformer"},
    "vanilla": {"vanilla": True, "encoder": "gru"},
    "cscg": {"method": "cscg"},
    "rpni": {"method": "rpni"},
    "edsm": {"method": "edsm"},
    "alergia": {"method": "alergia"},
    "ngram": {},
}
COLUMNS = (
    *(
        "log",
        "steps",
        "seed",
        "method",
        "accuracy",
        "log_loss",
        "predictor",
        "ceiling",
        "ceiling_log_loss",
        "states",
        "places",
        "unseen_moves",
    ),
    *("exact", "optimal", "compression_precision", "distinction_precision", "distinction_recall", "detours"),
    *("seconds", "cpu_seconds", "memory_mb", "minutes", "note", "commit", "command"),
)
KEY = ("log", "steps", "seed", "method")
_WORDS = ("log", "method", "predictor", "exact", "note", "commit", "command")  # the other columns are figures
Row = dict[str, Any]


def read_table(path: Path) -> list[Row]:
    """The rows of a table, as text; none where there is no file."""
    rows: list[Row] = [dict(row) for row in read_csv(path, KEY)]
    for row in rows:
        check_row(row, path)
    return rows


def check_row(row: Mapping[str, Any], path: Path) -> None:
    """The row of a cell: figures are numbers or empty, and the rest is text."""
    if not set(KEY) <= set(row) <= set(COLUMNS):
        raise BadRun(
            f"{path} must hold rows of cells, these columns differ: {shown(sorted(set(row) ^ set(COLUMNS)))}"
        )
    if row["method"] not in list(METHODS) or row["steps"] in (None, ""):
        raise BadRun(
            f"{path} must hold steps and one of our methods, got {shown([row['steps'], row['method']])}"
        )
    for name, value in row.items():
        number = isinstance(value, float | None) or (isinstance(value, int) and abs(value) < 2**63)
        figure = number or (isinstance(value, str) and is_number(value))
        if not (figure or (name in _WORDS and isinstance(value, str))):
            raise BadRun(
                f"{path}: `{name}` must be {'text' if name in _WORDS else 'a number'}, got {shown(value)}"
            )


def merge_table(path: Path, rows: Iterable[Row]) -> list[Row]:
    """Put rows into a table: each in the place of the one with the same log, steps, seed and method, or at the end."""
    with held(lock_of(path), path):  # several processes may share a table
        kept = {_key(row): row for row in read_table(path)}
        for row in rows:
            kept[_key(row)] = {name: "" if row.get(name) is None else row[name] for name in COLUMNS}
        write_csv(path, COLUMNS, kept.values())
    return list(kept.values())


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in KEY)
