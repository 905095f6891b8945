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
    """What each method predicts against the steps of the log, the mean over logs that it was run on at all sizes.

    Of several logs also the share of exact maps; a method is not exact on a log that it cannot take.
    """
    several = len({row["log"] for row in rows}) > 1
    figure = Figure(figsize=(9.2 if several else 5.6, 3.6), layout="constrained")
    axes, *others = figure.subplots(1, 2 if several else 1, squeeze=False)[0]
    _draw_lines(axes, rows, _mean_value)
    axes.axhline(100, color=FADED, linewidth=1)
    axes.set_ylabel(_label(rows))
    for share in others:
        _draw_lines(share, [row for row in rows if row["method"] != "ngram"], _share_exact)
        share.set_ylim(-3, 103)
        share.set_ylabel("logs with an exact map (%)")
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure


def _share_exact(own: Rows) -> float:
    return 100 * sum(str(row.get("exact")) == "True" for row in own) / len(own)


def _draw_lines(axes: Any, rows: Rows, value: Callable[[Rows], float]) -> None:
    """A line for each method: the value of its rows at each number of steps, of the logs that it was run on at all."""
    for method in COLOURS:
        own = [row for row in rows if row["method"] == method]
        by_size = {size: [row for row in own if _steps(row) == size] for size in sorted(map(_steps, own))}
        logs = (
            set.intersection(*({row["log"] for row in each} for each in by_size.values())) if own else set()
        )
        points = {
            size: value([row for row in each if row["log"] in logs]) for size, each in by_size.items() if logs
        }
        if not np.isnan(list(points.values())).all():
            axes.plot(points.keys(), points.values(), color=COLOURS[method], marker=MARKERS[method], label=method,
                      linewidth=1.3)  # fmt: skip
    sizes = sorted({_steps(row) for row in rows})
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("steps of the log")
    axes.grid(True)


def _mean_value(own: Rows) -> float:
    values = [_value(row) for row in own]
    return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan


def _steps(row: Mapping[str, Any]) -> int:
    return int(float(str(row["steps"])))
