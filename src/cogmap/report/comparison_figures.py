"""Pictures of a comparison of methods: by the time that they take, and by the steps that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """What each method predicts against the steps of the log, the mean over logs.

    Of several logs also the share of exact maps; a method is not exact on a log that it cannot take.
    """
    several = len({row["log"] for row in rows}) > 1
    figure = Figure(figsize=(9.2 if several else 5.6, 3.6), layout="constrained")
    axes, *others = figure.subplots(1, 2 if several else 1, squeeze=False)[0]
    _draw_lines(axes, rows, lambda own, _: float(np.nanmean([_value(row) for row in own])))
    axes.axhline(100, color=FADED, linewidth=1)
    axes.set_ylabel(_label(rows))
    for share in others:
        _draw_lines(share, [row for row in rows if row["method"] != "ngram"], _share_exact)
        share.set_ylim(-3, 103)
        share.set_ylabel("logs with an exact map (%)")
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure


def _share_exact(own: Rows, logs: int) -> float:
    return 100 * sum(str(row.get("exact")) == "True" for row in own) / logs


def _draw_lines(axes: Any, rows: Rows, value: Callable[[Rows, int], float]) -> None:
    """A line for each method: the value of its rows, and of the number of logs, at each number of steps."""
    by_size = {
        size: [row for row in rows if _steps(row) == size] for size in sorted({_steps(row) for row in rows})
    }
    for method in COLOURS:
        points = {}
        for size, found in by_size.items():
            own = [row for row in found if row["method"] == method]
            if any(not np.isnan(_value(row)) for row in own):
                points[size] = value(own, len({row["log"] for row in found}))
        if points:
            axes.plot(points.keys(), points.values(), color=COLOURS[method], marker=MARKERS[method], label=method,
                      linewidth=1.3)  # fmt: skip
    axes.set_xscale("log")
    axes.set_xticks(list(by_size), [f"{size:,}" for size in by_size])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("steps of the log")
    axes.grid(True)


def _steps(row: Mapping[str, Any]) -> int:
    return int(float(str(row["steps"])))
