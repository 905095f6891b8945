"""Walks from what a program holds: a data frame, or lists of (observation, action)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cogmap.errors import BadWalks
from cogmap.records import Walks
from cogmap.walks.csv_table import walks_from_cells
from cogmap.walks.ragged import Column, walks_from_columns

_FORM = "walks must be a file, a data frame, or lists of (observation, action)"


def as_walks(source: Any) -> Walks:
    """Walks from a data frame of pandas or polars, one row a step, or from lists of (observation, action).

    A list of pairs is one walk, a list of such lists several. The last action of a walk may be None.
    """
    if isinstance(source, Walks):
        return source
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        return _from_frame(source)
    if isinstance(source, Sequence) and not isinstance(source, str | bytes) and len(source):
        return _from_lists(source)
    raise BadWalks(f"{_FORM}, got {type(source).__name__}")


def _from_frame(frame: Any) -> Walks:
    """A data frame has the columns of a CSV table, under the same names."""
    names = [str(name) for name in frame.columns]
    columns = [
        frame[name].tolist() if hasattr(frame[name], "tolist") else list(frame[name])
        for name in frame.columns
    ]
    rows = [[_cell(value) for value in row] for row in zip(*columns, strict=True)]
    if not rows:
        raise BadWalks("there must be at least one walk, got none")
    return walks_from_cells(names, rows)


def _cell(value: Any) -> str:
    """As it would stand in a table; what is missing is empty."""
    missing = value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
    return "" if missing else str(value)


def _from_lists(source: Sequence[Any]) -> Walks:
    walks = [source] if _is_pair(source[0]) else list(source)
    seen: list[Any] = []
    taken: list[Any] = []
    lengths = []
    for number, walk in enumerate(walks):
        wrong = next((step for step in walk if not _is_pair(step)), None)
        if wrong is not None:
            raise BadWalks(f"walk {number} must be a list of (observation, action), got {wrong!r:.60} in it")
        seen += [_plain(step[0]) for step in walk]
        taken += [_plain(step[1]) for step in walk[:-1]]
        lengths.append(len(walk))
    for name, values in (("observations", seen), ("actions", taken)):
        if {type(value) for value in values} not in ({int}, {str}, set()):
            raise BadWalks(f"`{name}` must be all integers or all strings, got {values[0]!r:.60}, ...")
    return walks_from_columns(Column("observations", seen), Column("actions", taken), lengths)


def _is_pair(step: Any) -> bool:
    return isinstance(step, tuple | list) and len(step) == 2 and not isinstance(step[0], tuple | list)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
