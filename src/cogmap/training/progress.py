"""The progress of a training, and of its map: a live bar on a terminal, otherwise one line per validation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.status import Status

SEARCH_LINE_EVERY = 15.0  # seconds
METRICS_FILE = "metrics.jsonl"  # of a run folder: a row for each validation
Row = dict[str, Any]


class Progress(Protocol):
    """Receives every step and every row of metrics, then how the search for the map goes."""

    def begin(self, title: str) -> None: ...

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None: ...

    def row(self, row: Row) -> None: ...

    def end(self, message: str) -> None: ...

    def search(self, places: int, seconds: float, most: float) -> None:
        """The shortest map so far has so many places, after some seconds of as many as `most`."""
        ...

    def search_end(self) -> None: ...


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

    def search(self, places: int, seconds: float, most: float) -> None:
        pass

    def search_end(self) -> None:
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

    def search(self, places: int, seconds: float, most: float) -> None:
        self._shown.search(places, seconds, most)

    def search_end(self) -> None:
        self._shown.search_end()


class PlainLines(Silent):
    """One line per validation, for logs and pipes."""

    _next_line = SEARCH_LINE_EVERY

    def begin(self, title: str) -> None:
        print(title, flush=True)

    def row(self, row: Row) -> None:
        print(_describe(row), flush=True)

    def end(self, message: str) -> None:
        print(message, flush=True)

    def search(self, places: int, seconds: float, most: float) -> None:
        if seconds >= self._next_line:
            print(_searching(places, seconds, most), flush=True)
            self._next_line = seconds + SEARCH_LINE_EVERY

    def search_end(self) -> None:
        self._next_line = SEARCH_LINE_EVERY


class LiveBar(Silent):
    """A bar with loss, speed, time left and the last validation; a line for the search."""

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

    def search(self, places: int, seconds: float, most: float) -> None:
        from rich.status import Status

        if self._status is None:
            self._status = Status("")
            self._status.start()
        self._status.update(_searching(places, seconds, most))

    def search_end(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def default_progress() -> Progress:
    return LiveBar() if sys.stdout.isatty() else PlainLines()


def _searching(places: int, seconds: float, most: float) -> str:
    return f"searching the map: {places} places, {seconds:.0f} of at most {most:.0f} s; Ctrl-C takes what there is"


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
