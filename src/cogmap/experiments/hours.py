"""How long trials take, by what was measured: rows of results, the progress of trainings, the budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from cogmap.experiments.ledger import Record, State, Step, config_hash, read_record, read_step, state_of
from cogmap.experiments.rows import holds_rows, read_rows
from cogmap.experiments.tables import TABLES
from cogmap.experiments.trials import METHODS, Trial

# Columns that are the same in all rows of one training.
KEPT = ("seconds", "preset", "scored_at", "trained_at")


@dataclass(frozen=True)
class Measured:
    """The training behind some rows."""

    table: str
    method: str  # as rows have it
    encoder: str
    preset: str
    seconds: float
    steps: float | None
    command: str
    commit: str  # at which it was scored
    trained_at: str  # the commits, "" for rows from before they were kept


@dataclass(frozen=True)
class Status:
    """What is known of a trial at a moment."""

    trial: Trial
    config: str
    state: State
    seconds_left: float | None  # of one core, None where nothing like it was ever measured
    step: Step | None  # of a training that runs or was cut off
    failed: str = ""
    stored: str = ""  # the commit at which its rows in the results were scored, of whatever budget

    @property
    def hours_left(self) -> float | None:
        return None if self.seconds_left is None else self.seconds_left / 3600

    @property
    def budget(self) -> str:
        asked = self.trial.options
        limits = ((asked.steps, "steps"), (asked.minutes, "min"))
        return ", ".join(f"{limit:g} {unit}" for limit, unit in limits if limit is not None) or asked.preset


def measured(results: Path) -> list[Measured]:
    """Every training that rows in a folder of results come from."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for path in filter(holds_rows, sorted(results.glob("*.csv"))):
        for row in read_rows(path):
            if row["command"].startswith("cogmap reproduce"):
                key = (
                    path.stem,
                    row["method"],
                    row["seed"],
                    row["command"],
                    row["environment"].split(":")[-1],
                )
                kept = found.setdefault(key, {name: row[name] for name in KEPT})
                if row["metric"] == "training_steps":
                    kept["steps"] = row["value"]
    return [
        Measured(
            key[0],
            key[1],
            _encoder(key[1], key[3]),
            kept["preset"],
            float(kept["seconds"] or 0),
            float(kept["steps"]) if kept.get("steps") else None,
            key[3],
            kept["scored_at"],
            kept["trained_at"],
        )
        for key, kept in found.items()
    ]


def _encoder(method: str, command: str) -> str:
    named = re.search(r"--encoder (\w+)", command)
    return named[1] if named else method.split(",")[0].split()[-1].lower()


def training_seconds(trial: Trial, known: Sequence[Measured]) -> float | None:
    """By trainings of the same model in the same table, else of its encoder there, else of its encoder anywhere."""
    asked, encoder = trial.options, METHODS[trial.method].get("encoder", trial.options.encoder)
    alike = [each for each in known if each.preset == asked.preset and each.encoder == encoder]
    here = [each for each in alike if each.table == trial.table]
    same = [each for each in here if each.method == trial.label]
    usual = TABLES[trial.table].usual_seconds
    if usual is not None and not same:
        return usual
    chosen = [_seconds_of(trial, each) for each in same or here or alike]
    limits = [] if asked.minutes is None else [60 * asked.minutes]
    return min([*limits, *([median(chosen)] if chosen else [])], default=None)


def _seconds_of(trial: Trial, like: Measured) -> float:
    """What was measured, or as much a step for the steps that are asked for."""
    from cogmap.models.config import ModelConfig
    from cogmap.training.config import preset_configs

    steps = trial.options.steps
    if steps is None and trial.options.preset == "paper":  # which always makes all of its steps
        steps = preset_configs("paper", ModelConfig(num_observations=4, num_actions=4, num_targets=4))[
            1
        ].steps
    return like.seconds if steps is None or not like.steps else like.seconds / like.steps * steps


def status_of(trial: Trial, known: Sequence[Measured], rescore: bool = False) -> Status:
    """A trial's state, and the seconds that it still takes."""
    state, record, step = state_of(trial), read_record(trial), read_step(trial)
    left = _seconds_left(trial, known, state, record, step, rescore)
    failed = record.failed if record is not None and state == "failed" else ""
    config = config_hash(TABLES[trial.table], trial)
    return Status(trial, config, state, left, step, failed, stored_commit(trial, known))


def stored_commit(trial: Trial, known: Sequence[Measured]) -> str:
    """The commit at which rows of this model in this world were scored, of whatever budget; "" without rows."""
    found = stored(trial, known)
    return "" if found is None else found.commit


def stored(trial: Trial, known: Sequence[Measured]) -> Measured | None:
    """The training behind the rows of this model in this world, of whatever budget."""
    asked = _without_budget(trial.command)
    return next((each for each in known if _without_budget(each.command) == asked), None)


def _without_budget(command: str) -> frozenset[tuple[str, ...]]:
    """The table and the options that name a model, in whatever order; older commands leave out what was usual."""
    table, *pairs = re.split(r" --", command)
    options = {tuple(pair.split(" ", 1)) for pair in pairs}
    unsaid = {("preset", "fast"), ("first-seed", "0")}
    named = {option for option in options if option[0] not in ("steps", "minutes", "rollouts")}
    return frozenset({(table,), *named} - unsaid)


def _seconds_left(
    trial: Trial,
    known: Sequence[Measured],
    state: State,
    record: Record | None,
    step: Step | None,
    rescore: bool,
) -> float | None:
    scoring = record.scoring_seconds if record is not None else 0.0
    if state == "scored":
        return scoring if rescore else 0.0
    if state == "trained" or rescore or (state == "running" and step is not None and step.is_late):
        return scoring
    whole = training_seconds(trial, known)
    if step is None or not step.steps_per_second:
        return whole
    done = step.step / step.steps_per_second
    at_most = max(step.last_step - step.step, 0) / step.steps_per_second
    return at_most if whole is None or done > whole else min(at_most, whole - done)


def wall_seconds(statuses: Iterable[Status], at_once: int) -> float | None:
    """Until all are done, with so many at once; None where a trial's time is not known."""
    left = [status.seconds_left for status in statuses]
    known = [seconds for seconds in left if seconds is not None]
    return None if len(known) < len(left) else max([sum(known) / at_once, *known], default=0.0)


def summary(each: Sequence[Status], at_once: int) -> str:
    """Counts by state, and the time that is left."""
    names: tuple[State, ...] = ("scored", "trained", "running", "todo", "failed")
    counts = {name: sum(status.state == name for status in each) for name in names}
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    seconds = sum(status.seconds_left or 0.0 for status in each)
    wall = wall_seconds(each, at_once)
    unknown = sum(status.seconds_left is None for status in each)
    beside = f", without {unknown} of unknown length" if unknown else ""
    time_left = f"{seconds / 3600:.1f} core-hours left" + (
        f", about {wall / 3600:.1f} h with {at_once} at once" if wall is not None else beside
    )
    return f"{len(each)} trials: {told}; {time_left}"
