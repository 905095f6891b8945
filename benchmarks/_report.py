"""Figures of a benchmark: kept as JSON when `COGMAP_BENCH` names a folder, for the page of `python -m benchmarks`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = "COGMAP_BENCH"


@dataclass(frozen=True)
class Figure:
    """One measured number. Ratios of one run may be compared between machines, seconds only on one."""

    name: str
    value: float
    unit: str = "times"  # a ratio
    size: float | None = None  # of what was measured, for a plot of cost against size
    most: float | None = None  # the goal: at most
    least: float | None = None  # the goal: at least

    @property
    def good(self) -> bool:
        above = self.most is None or self.value <= self.most
        return above and (self.least is None or self.value >= self.least)


def report(name: str, figures: Sequence[Figure]) -> bool:
    """Keep the figures of a benchmark. Returns whether all are within their goals."""
    if FOLDER in os.environ:
        path = Path(os.environ[FOLDER]) / f"{name}.json"
        path.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")
    return all(figure.good for figure in figures)
