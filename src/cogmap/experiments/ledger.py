"""What is known of a trial, in files beside its run folder: what it has done, how far it is, which process runs it.

`<out>/<table>/trials/<run>.json` is the record, `.progress.json` how far a process is, `.lock` is held by the process
that runs the trial and is free again when that is killed, `.log` has its lines. A shared folder serves many machines.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from filelock import FileLock, Timeout

from cogmap.checks import checked
from cogmap.errors import BadRun, CogmapError
from cogmap.experiments.trials import METHODS, Kind, Tell, Trial
from cogmap.files import read_json, write_json
from cogmap.parts import PART

if TYPE_CHECKING:
    from cogmap.runs.folder import RunFolder

State = Literal["todo", "running", "trained", "scored", "failed"]
Training = Literal["new", "begun", "unmapped", "finished"]
Ending = Literal["json", "progress.json", "lock", "log"]
# Options that do not change what a model is.
NOT_OF_THE_MODEL = frozenset({"rooms", "only", "minutes", "steps", "rollouts", "out", "results"})
ADDED_LATER = ("rungs",)  # not in the hashes of trials from before them

TELL_EVERY = 60.0  # seconds


class Claimed(CogmapError):
    """Another process runs this trial."""


@dataclass(frozen=True)
class Record:
    """What a trial has done so far."""

    config: str  # hash of what determines the weights, but for the budget
    command: str
    seed: int
    walks: str = ""  # digest of what it is trained on
    trained_at: tuple[str, ...] = ()  # commits, in the order in which they trained
    steps: int | None = None  # that a finished training was allowed, where it was more than the preset's
    training_seconds: float = 0.0
    scored_at: str = ""  # commit
    scoring_seconds: float = 0.0
    rollouts: int | None = None  # that it was scored with
    rows: tuple[dict[str, Any], ...] = ()
    failed: str = ""  # the line with which it ended last


@dataclass(frozen=True)
class Step:
    """How far the process is that runs a trial, or ran it last."""

    doing: str  # training, mapping, scoring or rollouts
    step: int = 0  # of rollouts, thousandths
    last_step: int = 0
    steps_per_second: float = 0.0
    validation: float | None = None
    pid: int = 0
    host: str = ""

    @property
    def is_late(self) -> bool:
        """Whether the training is over, and how long the rest takes cannot be seen."""
        return self.doing in ("mapping", "scoring")


def trial_file(trial: Trial, ending: Ending) -> Path:
    return trial.folder.parent / "trials" / f"{trial.folder.name}.{ending}"


def config_hash(kind: Kind, trial: Trial) -> str:
    """Of the table's data, the model and the seed: what is scored, and how, may change without another training."""
    options = {name: value for name, value in vars(trial.options).items() if name not in NOT_OF_THE_MODEL}
    for name in ADDED_LATER:
        if not options[name]:
            del options[name]
    data = {name: getattr(kind, name) for name in kind.trains_on}
    asked = {"table": trial.table, "data": data, "model": METHODS[trial.method], "options": options}
    return sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:12]


def digest(value: Any) -> str:
    """Of a record of arrays, such as walks: it differs when any number in it does."""
    found = sha256()
    for part in _parts(value):
        found.update(part)
    return found.hexdigest()[:16]


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif is_dataclass(value):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each)
    else:
        yield repr(value).encode()


def read_record(trial: Trial) -> Record | None:
    """None before the trial has begun. A record of another version is `BadRun`."""
    path = trial_file(trial, "json")
    if not path.is_file():
        return None
    where = f"{path} must hold the record of a trial, of this version"
    return checked(Record, read_json(path, BadRun, nan=True), where, BadRun, nan=True)


def write_record(trial: Trial, record: Record) -> None:
    write_json(trial_file(trial, "json"), asdict(record))


def read_step(trial: Trial) -> Step | None:
    path = trial_file(trial, "progress.json")
    if not path.is_file():
        return None
    return checked(Step, read_json(path, BadRun), f"{path} must hold the progress of a trial", BadRun)


def write_step(trial: Trial, step: Step) -> None:
    here = {"pid": os.getpid(), "host": socket.gethostname()}
    write_json(trial_file(trial, "progress.json"), asdict(step) | here)


class RolloutReporter:
    """Called with the share of rollouts that is done: keeps the trial's progress, and tells a line now and then."""

    def __init__(self, trial: Trial, tell: Tell) -> None:
        self._trial, self._tell = trial, tell
        self._began = self._written = self._told = time.monotonic()

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self._written > 1.0:
            self._written = now
            speed = 1000 * share / (now - self._began)
            write_step(self._trial, Step("rollouts", round(1000 * share), 1000, speed))
        if now - self._told > TELL_EVERY:
            self._told = now
            left = (now - self._began) * (1 - share) / share
            self._tell(f"  rollouts: {share:.0%} done, {left / 60:.0f} min left")


@contextmanager
def claimed(trial: Trial) -> Iterator[None]:
    """Hold the trial's lock. `Claimed` where another process holds it."""
    path = trial_file(trial, "lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=1)  # somebody who only looks holds it for a moment
    except Timeout as held:
        raise Claimed(f"another process runs this trial: {trial.title}") from held
    try:
        for left in path.parent.glob(f".{trial.folder.name}.*{PART}"):  # of a process that was killed
            left.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def is_claimed(trial: Trial) -> bool:
    path = trial_file(trial, "lock")
    if not path.is_file():
        return False
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def training_state(trial: Trial) -> Training:
    """How far a trial's training is: finished if it was allowed as many steps as are asked for now, and has its map."""
    from cogmap.runs.folder import RunFolder
    from cogmap.runs.names import MODEL_FILE
    from cogmap.training.loop import checkpoint_path

    folder, steps = trial.folder, trial.options.steps
    if (folder / MODEL_FILE).is_file():
        record = read_record(trial)
        more = record.steps if record is not None else None
        run = RunFolder(folder)
        if steps is None or steps <= max(run.training.steps, more or 0):
            return "finished" if _is_mapped(run) else "unmapped"
    return "begun" if checkpoint_path(folder).is_file() else "new"


def _is_mapped(run: RunFolder) -> bool:
    from cogmap.runs.names import ATLAS_FILE, MAP_FILES

    file = ATLAS_FILE if run.task == "family" else MAP_FILES["minimal"]
    return run.config.vanilla or (run.folder / file).is_file()


def is_scored(trial: Trial, record: Record | None) -> bool:
    if record is None or not record.rows or training_state(trial) != "finished":
        return False
    return record.rollouts in (None, trial.options.rollouts)


def state_of(trial: Trial) -> State:
    """From the files alone: no process is asked."""
    if is_claimed(trial):
        return "running"
    record = read_record(trial)
    if is_scored(trial, record):
        return "scored"
    if record is not None and record.failed:
        return "failed"
    return "trained" if training_state(trial) == "finished" else "todo"


def log_line(trial: Trial, line: str) -> None:
    path = trial_file(trial, "log")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")
