"""What the parts of the page share: our models by their rows, and how a figure is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from cogmap.report.paper_rows import Mean

ROOT = Path(__file__).parents[2]

RESULTS, PAGE = ROOT / "results", ROOT / "docs" / "paper.md"

OWN, PAPERS, PRINTED = "minimal", "paper", "paper, as printed"

MAPS = {OWN: "our map", PAPERS: "the paper's builder", PRINTED: "the paper's builder, as printed"}

METRICS = ("test_accu", "imp_fallback", "ratio_sp", "norm_ged")

# Metrics as shares here, in per cent in the paper; and whether more is better.
PERCENT, MORE_IS_BETTER = {"test_accu", "imp_fallback"}, {"test_accu", "imp_fallback"}

NAMES = {
    "test_accu": "TestAccu",
    "imp_fallback": "ImpFallback",
    "ratio_sp": "RatioSP",
    "norm_ged": "NormGED",
}

# Commits whose canonical codes were not told apart by what led to them, of rows by the paper's builder.
NOT_TOLD_APART = frozenset(
    ["36a8f38", "3ef499c", "4288de6", "7efa10c", "1219802", "ca3156a", "cfacc9b", "eb3e62f"]
)

Row = dict[str, str]


@dataclass(frozen=True)
class Ours:
    """One of our models in one table: the rows of all its rooms."""

    label: str  # as rows have it
    rows: tuple[Row, ...]

    @property
    def preset(self) -> str:
        return self.rows[0]["preset"]

    @property
    def seeds(self) -> int:
        return len({row["seed"] for row in self.rows})

    @property
    def is_older(self) -> bool:
        """Whether it was scored before the paper's builder started from canonical codes."""
        return not all(row["trained_at"] for row in self.rows)

    @property
    def is_told_apart(self) -> bool:
        return not any(_before_told_apart(row) for row in self.rows)

    def mark(self, map_: str) -> str:
        """Of rows by earlier builders; the paper's on canonical codes changed once more."""
        if self.is_older:
            return "¹"
        return "²" if map_ == PAPERS and not self.is_told_apart else ""

    def values(self, map_: str, metric: str) -> list[float]:
        """One for each room."""
        found = [row for row in self.rows if (row["map"], row["metric"]) == (map_, metric)]
        return [float(row["value"]) for row in found if row["value"] not in ("", "nan")]

    @property
    def maps(self) -> list[str]:
        """Of those that the tables show, the maps it has; "" is planning by rollouts."""
        held = {row["map"] for row in self.rows if row["metric"] == "imp_fallback"}
        return [kind for kind in ("", *MAPS) if kind in held]


def models(rows: Iterable[Row], method: str) -> list[Ours]:
    """Our models of the paper's name, by label and preset; those scored by an earlier builder stand alone."""
    found: dict[tuple[str, str, bool, bool], list[Row]] = {}
    for row in rows:
        is_it = row["method"] == method or row["method"].startswith(f"{method}, ")
        if is_it and not row["method"].startswith(f"{method}, clones"):
            key = (row["method"], row["preset"], bool(row["trained_at"]), not _before_told_apart(row))
            found.setdefault(key, []).append(row)
    return [Ours(key[0], tuple(found[key])) for key in sorted(found)]


def _before_told_apart(row: Row) -> bool:
    return row["method"].startswith("TDB") and row.get("scored_at") in NOT_TOLD_APART


def first(rows: Iterable[Row], method: str, encoder: str, metric: str, map_: str = "") -> float | None:
    """The mean over rooms, of a model by its encoder."""
    for ours in reversed(models(rows, method)):  # the latest builders first
        if ours.label == f"{method}, {encoder}" and ours.preset == "fast" and ours.values(map_, metric):
            return mean(ours.values(map_, metric))
    return None


def rollouts_of(ours: Ours) -> int:
    told = re.search(r"--rollouts (\d+)", ours.rows[0]["command"])
    return int(told[1]) if told else 100


def shown(metric: str, values: Sequence[float]) -> str:
    """The mean, and the standard error where there are several rooms, in the paper's units."""
    if not values:
        return ""
    scale, digits = (100, 2) if metric in PERCENT else (1, 3)
    text = f"{scale * mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" ({scale * stdev(values) / math.sqrt(len(values)):.{digits}f})"
    return text


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    every = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def printed(value: Mean | None, digits: int) -> str:
    return "" if value is None else f"{value.value:.{digits}f} ({value.spread:.{digits}f})"
