"""The progress of all trials in one place: a live table on a terminal, otherwise a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from cogmap.experiments.hours import Status, measured, status_of, summary
from cogmap.experiments.runner import Job, Outcome
from cogmap.experiments.trials import Tell

LINE_EVERY = 60.0  # seconds
LOOK_EVERY = 2.0


class Display(Protocol):
    """Shows trials while they run."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def look(self) -> None:
        """Called now and then."""

    def ended(self, outcome: Outcome) -> None: ...


def default_display(jobs: Sequence[Job], at_once: int, tell: Tell) -> Display:
    return LiveTable(jobs, at_once) if sys.stdout.isatty() else Lines(jobs, at_once, tell)


class _Watch:
    """The statuses of trials, from their files."""

    def __init__(self, jobs: Sequence[Job], at_once: int) -> None:
        self._jobs, self._at_once = jobs, at_once
        self._known = measured(jobs[0].trial.options.results)
        self._failed: dict[str, str] = {}
        self._ended: set[str] = set()

    def _statuses(self) -> list[Status]:
        """Of those that have not ended, and one that failed in this call stays failed."""
        return [
            status_of(job.trial, self._known, job.rescore)
            for job in self._jobs
            if job.trial.title not in self._ended
        ]

    def _end(self, outcome: Outcome) -> str:
        self._ended.add(outcome.trial.title)
        if outcome.failed:
            self._failed[outcome.trial.title] = outcome.failed
        word = "failed" if outcome.failed else "running elsewhere" if outcome.elsewhere else "scored"
        return f"{word:<7} {outcome.trial.title}" + (f": {outcome.failed}" if outcome.failed else "")

    def _summary(self, statuses: Sequence[Status]) -> str:
        done = len(self._ended) - len(self._failed)
        ended = f"{done} of {len(self._jobs)} done" + (
            f", {len(self._failed)} failed" if self._failed else ""
        )
        return f"{ended}; still {summary(statuses, self._at_once)}" if statuses else ended


class Lines(_Watch):
    """A line when a trial ends, and every minute one of all that run."""

    def __init__(self, jobs: Sequence[Job], at_once: int, tell: Tell) -> None:
        super().__init__(jobs, at_once)
        self._tell, self._told = tell, time.monotonic()

    def __enter__(self) -> Self:
        self._tell(self._summary(self._statuses()))
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def look(self) -> None:
        if time.monotonic() - self._told > LINE_EVERY:
            self._told = time.monotonic()
            statuses = self._statuses()
            running = [
                f"{status.trial.title} {_now(status)}" for status in statuses if status.state == "running"
            ]
            self._tell("; ".join([*running, self._summary(statuses)]))

    def ended(self, outcome: Outcome) -> None:
        self._tell(self._end(outcome))


class LiveTable(_Watch):
    """A bar for each trial that runs, and how many are done."""

    def __enter__(self) -> Self:
        from rich.live import Live

        self._looked = 0.0
        self._live = Live(self._drawn(), refresh_per_second=2)
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.update(self._drawn(), refresh=True)
        self._live.stop()

    def look(self) -> None:
        if time.monotonic() - self._looked > LOOK_EVERY:
            self._looked = time.monotonic()
            self._live.update(self._drawn())

    def ended(self, outcome: Outcome) -> None:
        self._live.console.print(self._end(outcome), highlight=False, markup=False)
        self._live.update(self._drawn())

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        statuses = self._statuses()
        table = Table.grid(padding=(0, 2))
        for status in statuses:
            if status.state == "running" and status.step is not None:
                last = max(status.step.last_step, 1)
                bar = ProgressBar(total=last, completed=min(status.step.step, last), width=20)
                left = "" if status.seconds_left is None else f"{status.seconds_left / 60:.0f} min left"
                table.add_row(Text(status.trial.title), bar, _now(status), left)
        return Group(table, Text(self._summary(statuses)))


def _now(status: Status) -> str:
    """What a trial is doing."""
    step = status.step
    if step is None or not step.last_step:
        return step.doing if step is not None else "starting"
    seen = "" if step.validation is None else f", validation {step.validation:.2%}"
    return f"step {step.step} of {step.last_step}, {step.steps_per_second:.1f} a second{seen}"


def dry_run_lines(statuses: Sequence[Status], at_once: int) -> list[str]:
    """A line for each trial, its failure below it, and a summary."""
    lines = [f"{'state':<8} {'config':<12} {'seed':>4}  {'budget':<12} {'hours':>6}  {'rows of':<13}  trial"]
    for status in statuses:
        hours = "?" if status.hours_left is None else f"{status.hours_left:.2f}"
        step = status.step if status.state in ("todo", "failed") else None
        from_step = (
            f", from step {step.step}" if step is not None and step.doing == "training" and step.step else ""
        )
        trial = f"{status.trial.table}: {status.trial.title}{from_step}"
        asked = f"{status.config:<12} {status.trial.seed:>4}  {status.budget:<12}"
        lines.append(f"{status.state:<8} {asked} {hours:>6}  {status.stored:<13}  {trial}")
        if status.failed:
            lines.append(f"         {status.failed}")
    return [*lines, summary(statuses, at_once)]
