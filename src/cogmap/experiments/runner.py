"""One trial, in whichever process: train it, resume it or open it, build its maps, score it, keep its record."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from traceback import format_exc
from types import FrameType
from typing import TYPE_CHECKING, Any

from cogmap.errors import BadRun, CogmapError, Stopped
from cogmap.experiments.commits import UNKNOWN, check_commits, current_commit
from cogmap.experiments.ledger import (
    Claimed,
    Record,
    Step,
    claimed,
    config_hash,
    digest,
    is_scored,
    log_line,
    read_record,
    training_state,
    write_record,
    write_step,
)
from cogmap.experiments.rows import Row, read_rows, rows_of
from cogmap.experiments.tables import TABLES
from cogmap.experiments.trials import METHODS, Kind, Tell, Trial
from cogmap.signals import Terminated, handled
from cogmap.training.progress import Progress, Relayed, Silent, default_progress

if TYPE_CHECKING:
    from cogmap.runs.run import Run


@dataclass(frozen=True)
class Job:
    """A trial with its table's data, so that a process that knows neither can run it."""

    trial: Trial
    kind: Kind
    rescore: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: with rows, or with a line that says why not."""

    trial: Trial
    rows: Sequence[Row] = ()
    failed: str = ""
    elsewhere: bool = False  # another process runs it


class ParentGone(BaseException):
    """The process that started this one was killed; the checkpoint remains."""


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM. A training would take them for its end, build its map, and be scored too early."""


def run_trial(
    trial: Trial,
    tell: Tell = print,
    kind: Kind | None = None,
    rescore: bool = False,
    shown: Progress | None = None,
) -> list[Row]:
    """Train a model, if that has not been done, and score it. Returns its rows; no file of rows is written.

    kind: the table's data, by default as `TABLES` has it. rescore: build maps and score again, whatever was scored.
    shown: what shows the progress of a training, beside the file that others read it from.
    """
    kind = kind or TABLES[trial.table]
    with claimed(trial), _interrupts_stop():
        record = _begun(trial, kind)
        if is_scored(trial, record) and not rescore:
            return list(record.rows)
        tell(trial.title)
        try:
            run, record = _trained(trial, kind, record, shown)
            record = _scored(trial, kind, record, run, tell)
        except Stopped:  # it did not fail, and can be resumed
            raise
        except Exception as problem:
            write_record(trial, replace(read_record(trial) or record, failed=_line(problem)))
            raise
        return list(record.rows)


def attempt(job: Job) -> Outcome:
    """The job's outcome, whatever happens, in a process of its own: its lines go to the trial's log."""
    parent = os.getppid()
    try:
        outcome = outcome_of(job, partial(log_line, job.trial), Silent())
    except (ParentGone, Stopped, Terminated):
        os._exit(1)
    if os.getppid() != parent:
        os._exit(0)  # the record has the outcome; a pool's process would wait for its next job forever
    return outcome


def outcome_of(job: Job, tell: Tell, shown: Progress | None = None) -> Outcome:
    """The job's outcome, whatever happens but for a signal to stop."""
    try:
        return Outcome(job.trial, run_trial(job.trial, tell, job.kind, job.rescore, shown))
    except Claimed:
        return Outcome(job.trial, elsewhere=True)
    except Stopped:
        raise
    except Exception as problem:
        log_line(job.trial, format_exc())
        return Outcome(job.trial, failed=_line(problem))


def _line(problem: Exception) -> str:
    words = " ".join(str(problem).split())
    return words if isinstance(problem, CogmapError) else f"{type(problem).__name__}: {words}"


def _begun(trial: Trial, kind: Kind) -> Record:
    """The trial's record, or a new one. What the run in its folder was trained for must be what is asked."""
    config, record = config_hash(kind, trial), read_record(trial)
    if record is None:
        before = _commit_in_rows(trial) if training_state(trial) != "new" else ()
        return Record(config, trial.command, trial.seed, trained_at=before)
    if record.config != config and training_state(trial) != "new":
        rule = f"the run in {trial.folder} must be of the configuration {config}, it is of {record.config}"
        raise BadRun(f"{rule}: move it away, or give another --out")
    return replace(record, config=config, command=trial.command)


def _commit_in_rows(trial: Trial) -> tuple[str]:
    """Of a run from before trials had records: the commit that its rows name."""
    path = trial.options.results / f"{trial.table}.csv"
    named = [
        row for row in read_rows(path) if row["command"] == trial.command and row["method"] == trial.label
    ]
    return (named[0]["trained_at"] or named[0]["scored_at"] if named else UNKNOWN,)


def _trained(trial: Trial, kind: Kind, record: Record, shown: Progress | None) -> tuple[Run, Record]:
    """The trial's run: trained, resumed, or opened with its maps built again."""
    from cogmap.runs.run import load_run
    from cogmap.tasks.learning import learn
    from cogmap.tasks.mapping import build_maps

    state, commit = training_state(trial), current_commit()
    if state == "new":
        record = replace(record, trained_at=(), walks="")
    check_commits(trial.options.results, (*record.trained_at, commit))
    source = kind.training(trial)
    record = replace(record, walks=_same_walks(trial, record, digest(tuple(source.values()))), failed="")
    write_step(trial, Step("mapping" if state == "finished" else "training"))
    if state == "finished":
        if kind.remaps:
            build_maps(load_run(trial.folder), source["source"], kind.map_seconds)
        run = load_run(trial.folder)
        if not record.training_seconds:  # killed between the end of its training and this record of it
            record = replace(record, steps=trial.options.steps, training_seconds=_seconds(run))
        return run, record
    if state != "unmapped" and record.trained_at[-1:] != (commit,):
        record = replace(record, trained_at=(*record.trained_at, commit))
    record = replace(record, rows=(), scored_at="")
    write_record(trial, record)
    progress = Reporter(trial, shown)
    asked = source | _budget(trial, state) | {"map_seconds": kind.map_seconds}
    run = learn(out=trial.folder, resume=state != "new", progress=progress, **asked)
    record = replace(record, steps=trial.options.steps, training_seconds=_seconds(run))
    write_record(trial, record)
    return run, record


def _seconds(run: Run) -> float:
    """Of its training: none where it was killed before its first row."""
    rows = run.metrics()
    return float(rows[-1].get("seconds", 0.0)) if rows else 0.0


def _budget(trial: Trial, state: str) -> dict[str, Any]:
    """Keyword arguments of `learn` for the model.

    A training that was cut off keeps the limits it began with. One that was cut off after its end, before its map,
    needs no more minutes or steps.
    """
    from cogmap.runs.folder import RunFolder

    asked = trial.learn
    longer = state == "begun" and asked.get("steps", 0) > RunFolder(trial.folder).training.steps
    if state != "new" and not longer:
        return {name: value for name, value in asked.items() if name not in ("steps", "minutes")}
    return asked


def _same_walks(trial: Trial, record: Record, walks: str) -> str:
    """What a model is mapped and scored by must be drawn as what it was trained on."""
    if record.walks not in ("", walks):
        rule = f"a trial must be scored by the walks it was trained on ({record.walks}), which are sampled differently"
        raise BadRun(f"{rule} ({walks}): move {trial.folder} away to train it again")
    return walks


def _scored(trial: Trial, kind: Kind, record: Record, run: Run, tell: Tell) -> Record:
    started, commit = time.monotonic(), current_commit()
    write_step(trial, Step("scoring"))
    found = kind.score(trial, run, tell)
    trained_at = "+".join(record.trained_at) or UNKNOWN
    rows = rows_of(trial, found, _seconds(run), trained_at, commit)
    by_rollouts = METHODS[trial.method].get("vanilla") and "rollouts" in kind.own
    record = replace(
        record,
        scored_at=commit,
        scoring_seconds=time.monotonic() - started,
        rollouts=trial.options.rollouts if by_rollouts else None,
        rows=tuple(rows),
    )
    write_record(trial, record)
    return record


class Reporter(Relayed):
    """Keeps a file up to date with the progress of a training, so that any process can show it."""

    def __init__(self, trial: Trial, shown: Progress | None) -> None:
        super().__init__(shown or default_progress())
        self._trial = trial
        self._validation: float | None = None
        self._written = 0.0
        self._parent = os.getppid()

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
        super().step(step, last_step, loss, steps_per_second)
        if time.monotonic() - self._written > 1.0:
            self._written = time.monotonic()
            write_step(self._trial, Step("training", step, last_step, steps_per_second, self._validation))
            if os.getppid() != self._parent:
                raise ParentGone

    def row(self, row: dict[str, Any]) -> None:
        self._validation = row["validation_accuracy"]
        super().row(row)

    def end(self, message: str) -> None:
        write_step(self._trial, Step("mapping"))
        super().end(message)


@contextmanager
def _interrupts_stop() -> Iterator[None]:
    """Ctrl-C and SIGTERM leave the checkpoint to be resumed, instead of ending the training early."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted(number)

    with handled(stop):
        try:
            yield
        except Interrupted as interrupted:
            raise (Terminated if interrupted.args[0] == signal.SIGTERM else KeyboardInterrupt) from None
