"""Rows of measured figures: one CSV a table, each row with its command and the commits that trained and scored it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cogmap.experiments.csv_rows import header_of, lock_of, read_csv, write_csv
from cogmap.experiments.trials import Trial
from cogmap.runs.writing import held

Row = dict[str, Any]
Found = Mapping[tuple[str, str, str], float]  # figures by environment, map and metric
KEY = ("method", "environment", "seed", "map", "metric", "preset")
MODEL = ("method", "environment", "seed", "preset")
COLUMNS = (*KEY[:5], "value", "seconds", "preset", "trained_at", "scored_at", "command")


def flat(environment: str, by_map: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str, str], float]:
    return {(environment, kind, name): value for kind, row in by_map.items() for name, value in row.items()}


def rows_of(trial: Trial, found: Found, seconds: float, trained_at: str, scored_at: str) -> list[Row]:
    shared = {
        "method": trial.label,
        "seed": trial.seed,
        "seconds": round(seconds),
        "preset": trial.options.preset,
        "trained_at": trained_at,
        "scored_at": scored_at,
        "command": trial.command,
    }
    return [
        {**shared, "environment": environment, "map": kind, "metric": metric, "value": round(float(value), 6)}
        for (environment, kind, metric), value in found.items()
    ]


def read_rows(path: Path) -> list[dict[str, str]]:
    """All rows of a file, none where there is no file. Older rows have one commit: that at which they were scored."""
    commits = () if "commit" in header_of(path) else ("trained_at", "scored_at")
    rows = read_csv(path, (*KEY, "value", "seconds", "command", *commits), ("value", "seconds"))
    for row in rows:
        if "commit" in row:
            row |= {"trained_at": "", "scored_at": row.pop("commit")}
    return rows


def holds_rows(path: Path) -> bool:
    """Whether a file is of these rows; others may lie beside it."""
    return set(KEY) <= set(header_of(path))


def merge_rows(path: Path, rows: Iterable[Row]) -> None:
    """Put rows into a file: each in the place of the one with the same key, or at the end.

    Other rows of the same models in the same worlds go: they are of figures that are measured no more. Several
    processes may do so at once.
    """
    with held(lock_of(path), path):
        _merge_rows(path, rows)


def _merge_rows(path: Path, rows: Iterable[Row]) -> None:
    fresh = {_key(row): row for row in rows}
    models = {_model(row) for row in fresh.values()}
    kept = {_key(row): {name: row[name] for name in COLUMNS} for row in read_rows(path)}
    kept = {key: row for key, row in kept.items() if key in fresh or _model(row) not in models}
    write_csv(path, COLUMNS, (kept | fresh).values())


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in KEY)


def _model(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in MODEL)
