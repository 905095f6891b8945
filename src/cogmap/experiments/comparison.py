"""`cogmap compare`: every method on a user's log, or on parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.errors import BadConfig, BadOutput
from cogmap.experiments.cell_rows import METHODS, merge_table
from cogmap.experiments.cells import Cell, check_methods, run_cells
from cogmap.experiments.csv_rows import lock_of
from cogmap.experiments.ledger import digest
from cogmap.files import read_json, write_json
from cogmap.parts import PART
from cogmap.records import Truth, Walks
from cogmap.runs.writing import held
from cogmap.walks.store import load_walks
from cogmap.walks.truth_store import load_truth, truth_path
from cogmap.walks.views import ViewWalks

TABLE, TIME_PICTURE, STEPS_PICTURE = "comparison.csv", "accuracy-by-time.png", "accuracy-by-steps.png"
ABOUT = "comparison.json"
FRACTIONS = (16, 4, 1)  # of the log: a sixteenth, a quarter, all of it
_FEWEST_STEPS = 200  # of a part of the log that is worth learning from
SHOWN = (  # column, heading, form
    ("method", "method", "{}"),
    ("steps", "steps", "{:,.0f}"),
    ("accuracy", "predicted", "{:.2%}"),
    ("log_loss", "log-loss", "{:.3f}"),
    ("states", "states", "{:.0f}"),
    ("exact", "exact", "{}"),
    ("optimal", "optimal plans", "{:.1%}"),
    ("compression_precision", "compression", "{:.2f}"),
    ("distinction_precision", "distinction", "{:.2f}"),
    ("distinction_recall", "recall", "{:.2f}"),
    ("detours", "detours", "{:.0%}"),
    ("seconds", "s", "{:.0f}"),
    ("memory_mb", "MB", "{:.0f}"),
)
Row = dict[str, Any]


@dataclass(frozen=True)
class LogData:
    """Some of the walks of a log, and test walks in its vocabulary."""

    log: Path
    test: Path
    steps: int

    def load(self) -> tuple[Walks, Walks, Truth | None]:
        walks = load_walks(self.log)
        if isinstance(walks, ViewWalks):
            raise BadConfig(f"walks to compare on must have observations, {self.log} has views")
        test = load_walks(self.test, like=walks)
        truth = load_truth(self.test, test) if truth_path(self.test).exists() else None
        return cut(walks, self.steps), test, truth


def cut(walks: Walks, steps: int) -> Walks:
    """The first walks, of so many steps together at the most; of a single long walk its beginning."""
    ends = np.cumsum(walks.lengths)
    whole = int(np.searchsorted(ends, steps, side="right"))
    if whole >= 1:
        return walks.rows(slice(whole))
    length = max(2, steps)
    return replace(
        walks,
        observations=walks.observations[:1, :length],
        actions=walks.actions[:1, : length - 1],
        lengths=np.minimum(walks.lengths[:1], length),
    )


def compare(
    log: str | Path,
    test: str | Path,
    out: str | Path = "comparison",
    methods: Sequence[str] = (),
    sizes: Sequence[int] = (),
    minutes: float = 5.0,
    seed: int = 0,
    jobs: int | None = None,
    tell: Callable[[str], None] = print,
) -> list[Row]:
    """Learn a log by every method within the same minutes, and score them on test walks.

    sizes: of the log's beginning that is learned from, in steps; by default a sixteenth, a quarter and all of it.
    out: a folder for the table, two pictures and the runs. What is measured there is not measured again.
    Returns: the rows of the table.
    """
    log, test, out = Path(log), Path(test), Path(out)
    chosen = tuple(methods) or tuple(METHODS)
    check_methods(chosen)
    if not minutes > 0:  # nor is NaN
        raise BadConfig(f"`minutes` must be above 0, got {minutes:g}")
    walks, held, _ = LogData(log, test, 1 << 62).load()
    total = int(walks.lengths.sum())
    for size in sizes:
        if not 2 <= size <= total:
            raise BadConfig(f"`sizes` must be from 2 to the {total} steps of the log, got {size}")
    asked = sorted(set(sizes)) or default_sizes(total)
    _claim(out, digest((walks, held)), minutes, seed)
    cells = [
        Cell(
            log=log.name,
            steps=size,
            seed=seed,
            method=method,
            minutes=minutes,
            data=LogData(log, test, size),
            folder=out / "runs" / f"{method}-{size}",
            command=f"cogmap compare {log} --test {test} --methods {method} --sizes {size} --minutes {minutes:g}",
        )
        for size in asked
        for method in chosen
    ]
    tell(f"{len(cells)} cells, at most {minutes:g} minutes each; the same command again resumes")
    rows: list[Row] = []
    for row in run_cells(cells, jobs, False, tell):
        rows = merge_table(out / TABLE, [row])
    _draw(rows, out)
    return rows


def default_sizes(total: int) -> list[int]:
    """A sixteenth, a quarter and all of the log's steps, without parts that are too small."""
    return [total // part for part in FRACTIONS if part == 1 or total // part >= _FEWEST_STEPS]


def _claim(out: Path, walks: str, minutes: float, seed: int) -> None:
    """Cells of other walks, minutes or seeds must not be mixed into one table."""
    about = {"walks": walks, "minutes": minutes, "seed": seed}
    path = out / ABOUT
    with held(lock_of(path), out):
        _claim_or_refuse(path, about)


def _claim_or_refuse(path: Path, about: Row) -> None:
    out = path.parent
    if path.is_file():
        if read_json(path, BadOutput) != about:
            raise BadOutput(
                f"{out} must hold a comparison of these walks, minutes and seed, it holds another: give --out"
            )
        return
    if out.exists() and (not out.is_dir() or any(each.suffix != PART for each in out.iterdir())):
        raise BadOutput(f"`out` must be a new folder or one of a comparison, {out} is not")
    write_json(path, about)


def _draw(rows: Sequence[Row], out: Path) -> None:
    from cogmap.report.comparison_figures import accuracy_by_steps, accuracy_by_time
    from cogmap.report.style import save_figure

    save_figure(accuracy_by_time(rows), out / TIME_PICTURE)
    save_figure(accuracy_by_steps(rows), out / STEPS_PICTURE)


def table_lines(rows: Sequence[Row]) -> list[str]:
    """The table for people, with a dash where there is nothing, and the notes below."""
    ordered = sorted(rows, key=lambda row: (-float(row["steps"]), list(METHODS).index(str(row["method"]))))
    shown = [column for column in SHOWN if any(row.get(column[0]) not in (None, "") for row in rows)]
    cells = [[heading for _, heading, _ in shown]]
    cells += [[_shown(row.get(name), form) for name, _, form in shown] for row in ordered]
    widths = [max(len(line[column]) for line in cells) for column in range(len(shown))]
    lines = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in cells]
    notes = {(row["method"], row["note"]): None for row in ordered if row.get("note")}
    return [*lines, *(f"{method}: {note}" for method, note in notes)]


def _shown(value: Any, form: str) -> str:
    if value in (None, ""):
        return "-"
    if str(value) in ("True", "False"):
        return "yes" if str(value) == "True" else "no"
    return form.format(value if form == "{}" else float(value))
