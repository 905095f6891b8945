"""Pictures of a comparison of methods: by the time that they take, and by the steps that they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cogmap.report.style import FADED, styled

COLOURS = {
    "tdb": "#3b7dd8",
    "tdb-transformer": "#17a2b8",
    "vanilla": "#7f7f7f",
    "cscg": "#e08214",
    "rpni": "#c994c7",
    "edsm": "#984ea3",
    "alergia": "#d62728",
    "ngram": "#8c6d31",
}
MARKERS = dict(zip(COLOURS, "os^DvP*X", strict=True))
Rows = Sequence[Mapping[str, Any]]


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return np.nan if value in (None, "") else float(str(value))


def _value(row: Mapping[str, Any]) -> float:
    """The share of predictable observations that are predicted: accuracy, by the ceiling where it is known."""
    best = _number(row, "ceiling")
    return 100 * _number(row, "accuracy") / (best if best > 0 else 1.0)


def _label(rows: Rows) -> str:
    known = all(_number(row, "ceiling") > 0 for row in rows)
    return "held-out accuracy, % of the ceiling" if known else "held-out accuracy (%)"


@styled
def accuracy_by_time(rows: Rows) -> Figure:
    """Every run a mark: what it predicts against the seconds of processor time that it took; exact maps are filled."""
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes = figure.subplots()
    for method in COLOURS:
        own = [row for row in rows if row["method"] == method and not np.isnan(_value(row))]
        if not own:
            continue
        seconds = [max(0.05, _number(row, "cpu_seconds")) for row in own]
        faces = [COLOURS[method] if str(row.get("exact")) == "True" else "none" for row in own]
        axes.scatter(seconds, [_value(row) for row in own], s=34, marker=MARKERS[method],
                     facecolors=faces, edgecolors=COLOURS[method], linewidths=1.1)  # fmt: skip
        axes.scatter([], [], s=34, marker=MARKERS[method], color=COLOURS[method], label=method)
    axes.set_xscale("log")
    axes.set_xlabel("seconds of processor time (filled: the map is exact)")
    axes.set_ylabel(_label(rows))
    axes.grid(True)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure


@styled
def accuracy_by_steps(rows: Rows) -> Figure:
    """What each method predicts against the steps of the log, a line each: the mean over logs."""
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes = figure.subplots()
    every = sorted({int(float(str(row["steps"]))) for row in rows})
    for method in COLOURS:
        own = [row for row in rows if row["method"] == method and not np.isnan(_value(row))]
        sizes = sorted({int(float(str(row["steps"]))) for row in own})
        means = [
            np.mean([_value(row) for row in own if int(float(str(row["steps"]))) == size]) for size in sizes
        ]
        if sizes:
            axes.plot(
                sizes, means, color=COLOURS[method], marker=MARKERS[method], label=method, linewidth=1.3
            )
    axes.axhline(100, color=FADED, linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks(every, [f"{size:,}" for size in every])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("steps of the log")
    axes.set_ylabel(_label(rows))
    axes.grid(True)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure
