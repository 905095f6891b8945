"""The progress of a training, and of its map: a live bar on a terminal, otherwise one line per validation."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.status import Status

LINE_EVERY = 15.0  # seconds of long work
METRICS_FILE = "metrics.jsonl"  # of a run folder: a row for each validation
Row = dict[str, Any]


class Progress(Protocol):
    """Receives every step and every row of metrics, then what long work on the map is at."""

    def begin(self, title: str) -> None: ...

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None: ...

    def row(self, row: Row) -> None: ...

    def end(self, message: str) -> None: ...

    def now(self, line: str) -> None:
        """What long work is at, told many times a second."""
        ...

    def now_end(self) -> None:
        """That work is done."""
        ...


class Silent:
    """Prints nothing."""

    def begin(self, title: str) -> None:
        pass

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
        pass

    def row(self, row: Row) -> None:
        pass

    def end(self, message: str) -> None:
        pass

    def now(self, line: str) -> None:
        pass

    def now_end(self) -> None:
        pass


class Relayed:
    """Passes everything on to another progress. For one that does something more with some of it."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown

    def begin(self, title: str) -> None:
        self._shown.begin(title)

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
        self._shown.step(step, last_step, loss, steps_per_second)

    def row(self, row: Row) -> None:
        self._shown.row(row)

    def end(self, message: str) -> None:
        self._shown.end(message)

    def now(self, line: str) -> None:
        self._shown.now(line)

    def now_end(self) -> None:
        self._shown.now_end()


class PlainLines(Silent):
    """One line per validation, and now and then one of long work, for logs and pipes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_line: float | None = None  # of long work, if there is any

    def begin(self, title: str) -> None:
        print(title, flush=True)

    def row(self, row: Row) -> None:
        print(_describe(row), flush=True)

    def end(self, message: str) -> None:
        print(message, flush=True)

    def now(self, line: str) -> None:
        time_now = self._clock()
        if self._next_line is not None and time_now >= self._next_line:
            print(line, flush=True)
        elif self._next_line is not None:
            return
        self._next_line = time_now + LINE_EVERY

    def now_end(self) -> None:
        self._next_line = None


class LiveBar(Silent):
    """A bar with loss, speed, time left and the last validation; a line of long work."""

    _status: Status | None = None

    def begin(self, title: str) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[now]}"),
        )
        self._bar = Bar(*columns)
        self._validation = ""
        self._bar.start()
        self._task = self._bar.add_task(title, total=None, now="")

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
        now = f"loss {loss:.3f}  {steps_per_second:.1f} steps/s  {self._validation}"
        self._bar.update(self._task, completed=step, total=last_step, now=now)

    def row(self, row: Row) -> None:
        codes = "/".join(str(used) for used in row["codes_in_use"])
        self._validation = f"validation {row['validation_accuracy']:.2%}" + (
            f"  codes {codes}" if codes else ""
        )

    def end(self, message: str) -> None:
        self._bar.stop()
        print(message, flush=True)

    def now(self, line: str) -> None:
        from rich.status import Status

        if self._status is None:
            self._status = Status(line)
            self._status.start()
        self._status.update(line)

    def now_end(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def default_progress() -> Progress:
    return LiveBar() if sys.stdout.isatty() else PlainLines()


def _describe(row: Row) -> str:
    parts = [
        f"step {row['step']:>6}",
        f"{row['seconds']:7.1f} s",
        f"loss {row['loss']:.4f}",
        f"train {row['train_accuracy']:.2%}",
        f"validation {row['validation_accuracy']:.2%}",
        f"weighted {row['weighted_accuracy']:.2%}",
    ]
    for used, perplexity in zip(row["codes_in_use"], row["perplexity"], strict=True):
        parts.append(f"codes {used} (perplexity {perplexity:.0f})")
    return "  ".join(parts)
