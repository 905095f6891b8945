"""The progress of a training: a live bar on a terminal, otherwise one line per validation."""

from __future__ import annotations

import sys
from typing import Any, Protocol

METRICS_FILE = "metrics.jsonl"  # of a run folder: a row for each validation
Row = dict[str, Any]


class Progress(Protocol):
    """Receives every step and every row of metrics."""

    def begin(self, title: str) -> None: ...

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None: ...

    def row(self, row: Row) -> None: ...

    def end(self, message: str) -> None: ...


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


class PlainLines(Silent):
    """One line per validation, for logs and pipes."""

    def begin(self, title: str) -> None:
        print(title, flush=True)

    def row(self, row: Row) -> None:
        print(_describe(row), flush=True)

    def end(self, message: str) -> None:
        print(message, flush=True)


class LiveBar(Silent):
    """A bar with loss, speed, time left and the last validation."""

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
