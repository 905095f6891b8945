"""Cells of a comparison: one method on one log, scored on test walks; each in a process of its own, with a record.

`cogmap compare` and the bench of worlds are tables of such cells. They run on the engine of `cogmap reproduce`: one
process and one thread each, a lock, a log and a record beside the run folder. A cell with a record is not run again.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exc
from typing import TYPE_CHECKING, Any, Protocol, cast

from cogmap.checks import checked_object
from cogmap.errors import BadConfig, BadRun, BadWalks, MissingExtra
from cogmap.experiments.cell_rows import COLUMNS, METHODS, Row, check_row
from cogmap.experiments.cell_scores import ceilings, ngram_scores, scores_of
from cogmap.experiments.commits import current_commit
from cogmap.experiments.ledger import Claimed, claimed, log_line, trial_file
from cogmap.experiments.runner import Outcome
from cogmap.experiments.trials import Tell, Trial
from cogmap.files import read_json, write_json
from cogmap.records import Truth, Walks

if TYPE_CHECKING:
    from cogmap.runs.run import Run


class Data(Protocol):
    """Where a cell's walks come from; small, so that it can be sent to a process."""

    def load(self) -> tuple[Walks, Walks, Truth | None]:
        """The log, the test walks, and their truth."""


@dataclass(frozen=True)
class Cell:
    """One method on one log."""

    log: str  # its name in tables
    steps: int
    seed: int
    method: str
    minutes: float
    data: Data
    folder: Path  # of the run
    command: str
    keeps_run: bool = True  # the run folder stays after it was scored

    @property
    def title(self) -> str:
        return f"{self.log}, {self.steps} steps, seed {self.seed}: {self.method}"

    @property
    def as_trial(self) -> Trial:
        """For the engine's files, which need no more of a trial than its folder and its title."""
        return cast(Trial, self)


@dataclass(frozen=True)
class CellJob:
    """As the engine's jobs have it."""

    trial: Trial  # a cell

    @property
    def cell(self) -> Cell:
        return cast(Cell, self.trial)


def check_methods(methods: Sequence[str]) -> None:
    from difflib import get_close_matches

    for method in methods:
        if method not in METHODS:
            near = get_close_matches(method, METHODS, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise BadConfig(f"a method must be one of {', '.join(METHODS)}, got {method!r:.60}{hint}")


def read_cell(cell: Cell) -> Row | None:
    """The row of a cell that is done, else None."""
    path = trial_file(cell.as_trial, "json")
    if not path.is_file():
        return None
    row = read_json(path, BadRun, nan=True)
    check_row(checked_object(row, f"{path} must hold the row of a cell, which", BadRun), path)
    return cast(Row, row)


def run_cells(cells: Sequence[Cell], jobs: int | None, again: bool, tell: Tell) -> Iterator[Row]:
    """The rows of all cells as they come: those that are done first. again: measure them all again."""
    from cogmap.experiments.local import free_cores, run_locally

    waiting = []
    for cell in cells:
        row = None if again else read_cell(cell)
        if row is None:
            waiting.append(cell)
        else:
            yield row
    if len(waiting) < len(cells):
        tell(f"{len(cells) - len(waiting)} of {len(cells)} cells are measured already")
    done, at_once = 0, max(1, min(len(waiting), jobs or free_cores()))
    for outcome in run_locally([CellJob(cell.as_trial) for cell in waiting], at_once, attempt_cell):
        if outcome is None:
            continue
        done += 1
        if outcome.elsewhere:
            tell(f"another process runs {outcome.trial.title}")
            continue
        row = dict(outcome.rows[0]) if outcome.rows else _failed(cast(Cell, outcome.trial), outcome.failed)
        tell(f"{done} of {len(waiting)}: {outcome.trial.title}: {_sentence(row)}")
        yield row


def _failed(cell: Cell, why: str) -> Row:
    """A row without figures. It has no record, so the next run tries again."""
    return _empty_row(cell) | {"note": why}


def _empty_row(cell: Cell) -> Row:
    key = {"log": cell.log, "steps": cell.steps, "seed": cell.seed, "method": cell.method}
    about = {"minutes": cell.minutes, "commit": current_commit(), "command": cell.command}
    return dict.fromkeys(COLUMNS) | key | about


def attempt_cell(job: CellJob) -> Outcome:
    """The cell's outcome, whatever happens."""
    cell = job.cell
    try:
        with claimed(cell.as_trial):
            return Outcome(cell.as_trial, [measure(cell)])
    except Claimed:
        return Outcome(cell.as_trial, elsewhere=True)
    except MissingExtra as problem:
        return Outcome(cell.as_trial, failed=str(problem))
    except Exception as problem:
        log_line(cell.as_trial, format_exc())
        why = f"failed: {type(problem).__name__}: {' '.join(str(problem).split())}"
        return Outcome(cell.as_trial, failed=why)


def measure(cell: Cell) -> Row:
    """Learn, score, and keep the record. A method that cannot take the log has a note and no figures."""
    walks, test, truth = cell.data.load()
    row = _empty_row(cell) | ceilings(test, truth)
    shutil.rmtree(cell.folder, ignore_errors=True)  # of a process that was killed
    learner = _learner(cell)
    before, started, spent = _peak_memory(), time.monotonic(), time.process_time()
    try:
        found = learner(walks, test)
    except (BadConfig, BadWalks) as refusal:
        row["note"] = " ".join(str(refusal).split())
    else:
        row |= {"seconds": round(time.monotonic() - started, 1)}
        row |= {"cpu_seconds": round(time.process_time() - spent, 1)}
        row["memory_mb"] = round(_peak_memory() - before)
        row |= found if isinstance(found, dict) else scores_of(found, walks, test, truth)
    if not cell.keeps_run:
        shutil.rmtree(cell.folder, ignore_errors=True)
    write_json(trial_file(cell.as_trial, "json"), row)
    return row


def _learner(cell: Cell) -> Callable[[Walks, Walks], Run | Row]:
    """What learns a log, and where there is no run scores it on test walks. Its libraries are loaded already."""
    if cell.method == "ngram":
        return ngram_scores
    from cogmap.tasks.learning import learn

    choices = METHODS[cell.method] | {"minutes": cell.minutes, "seed": cell.seed}
    return lambda walks, test: learn(walks, cell.folder, quiet=True, **choices)


def _peak_memory() -> float:
    """Of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if os.uname().sysname == "Linux" else peak / 1024**2


def _sentence(row: Mapping[str, Any]) -> str:
    if row.get("accuracy") is None:
        return str(row.get("note"))
    exact = {True: ", exact", False: ", not exact", None: ""}[row.get("exact")]
    return (
        f"{row['accuracy']:.2%} predicted, {row.get('states') or '-'} states{exact}, {row['seconds']:.0f} s"
    )
