"""CSV files of rows: their columns are checked when they are read, and they are written whole."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cogmap.checks import shown
from cogmap.errors import BadRun
from cogmap.files import read_bytes, write_whole
from cogmap.runs.writing import held

MOST_BYTES = 64 << 20


def read_csv(path: Path, columns: Iterable[str] = (), numbers: Iterable[str] = ()) -> list[dict[str, str]]:
    """The rows of a file with a header, none where there is no file; `BadRun` with the first that is wrong.

    columns: must be there; others may be. numbers: columns that hold a number, or nothing.
    """
    if not path.is_file():
        return []
    rows = _parsed(path)
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():  # where the csv module puts cells too many, and too few
            raise BadRun(f"{path}, row {line}: it must have as many cells as the header")
        for name in columns:
            if name not in row:
                raise BadRun(f"{path} must have the column `{name}`, got {shown(list(row))}")
        for name in numbers:
            if not is_number(row.get(name, "")):
                raise BadRun(f"{path}, row {line}: `{name}` must be a number, got {shown(row[name])}")
    return rows


def header_of(path: Path) -> tuple[str, ...]:
    """The columns that a file names in its first line; none where there is no file, or no CSV in it."""
    if not path.is_file():
        return ()
    first = read_bytes(path, BadRun, MOST_BYTES).partition(b"\n")[0].decode("utf-8", "replace")
    try:
        return tuple(next(csv.reader([first[:10_000]]), ()))
    except csv.Error:
        return ()


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of rows whole. What a row lacks is empty; it must have no other columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with write_whole(path) as stream:
        stream.write(text.getvalue().encode())


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Put a row at the end of a file. Columns that are new to the file come last, and are empty in its other rows."""
    with held(lock_of(path), path):
        rows = read_csv(path)
        columns = list(dict.fromkeys([*header_of(path), *row]))
        write_csv(path, columns, [*rows, row])


def lock_of(path: Path) -> Path:
    """Several processes may write into one file. The lock is kept out of the folder, which may be committed."""
    name = sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"cogmap-rows-{os.getuid()}-{name}.lock"


def _parsed(path: Path) -> list[dict[str, str]]:
    content = read_bytes(path, BadRun, MOST_BYTES)
    try:
        return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))
    except (UnicodeDecodeError, csv.Error) as problem:
        reason = problem.reason if isinstance(problem, UnicodeDecodeError) else problem
        raise BadRun(f"{path} must be a CSV file in UTF-8: {reason}") from problem


def is_number(text: str) -> bool:
    """Whether a cell holds a number, or nothing."""
    try:
        float(text or 0)
    except ValueError:
        return False
    return True
