"""What was not run, with command and hours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from cogmap.experiments.hours import Measured, measured, stored, training_seconds
from cogmap.experiments.plan import every_trial
from cogmap.experiments.trials import Options, Trial
from paper_page.rows import RESULTS, table

MISSING = """\
## Not run

Trials of `cogmap reproduce all` without rows, some {hours} core-hours by the time that similar ones took. {older} more
trials have older rows (¹): some {again} core-hours to train and score them again, with `cogmap reproduce all`."""


def missing() -> str:
    """The trials of the plan that have no rows, with command and hours."""
    groups: dict[tuple[str, str, tuple[int, ...]], list[Trial]] = {}
    for trial in _without_rows():
        groups.setdefault((trial.table, trial.label, trial.options.training_rooms), []).append(trial)
    lines = [
        (
            f"`{trials[0].command}`",
            ", ".join(str(trial.seed) for trial in trials),
            f"{sum(map(_hours, trials)):.2f}",
        )
        for trials in groups.values()
    ]
    total = sum(map(_hours, _without_rows()))
    head = ("command, with the first seed", "seeds", "core-hours, about")
    older = [trial for trial in every_trial(Options()) if _is_older(trial)]
    told = MISSING.format(hours=round(total), older=len(older), again=round(sum(map(_hours, older))))
    return f"{told}\n\n{table(head, lines)}"


def reason(table: str, method: str, training_rooms: Sequence[int] = ()) -> str:
    """Why a row of the paper has none of ours."""
    rooms = tuple(training_rooms)
    for trial in _without_rows():
        if (trial.table, trial.method) == (table, method) and (
            not rooms or trial.options.training_rooms == rooms
        ):
            return f"not run: needs about {_hours(trial):.1f} core-hours, [command](#not-run)"
    raise ValueError(f"{method} must be in the plan of {table}, or have rows")


def again(table: str, method: str) -> str:
    """Why a figure is missing of a model that has rows: it was not measured when they were made."""
    trials = [trial for trial in every_trial(Options()) if (trial.table, trial.method) == (table, method)]
    return f"not measured: training it again needs about {_hours(trials[0]):.1f} core-hours, `{trials[0].command}`"


def _is_older(trial: Trial) -> bool:
    found = stored(trial, _known())
    return found is not None and not found.trained_at


@lru_cache(maxsize=1)
def _known() -> list[Measured]:
    return measured(RESULTS)


@lru_cache(maxsize=1)
def _without_rows() -> list[Trial]:
    return [trial for trial in every_trial(Options()) if stored(trial, _known()) is None]


def _hours(trial: Trial) -> float:
    return (training_seconds(trial, _known()) or 0.0) / 3600
