"""How in-context mapping emerges with the number of training rooms: ours as lines, the paper's dotted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogmap.report.paper_icl import PAPER, ROOMS
from cogmap.report.style import styled

COLOURS = {
    "Vanilla LSTM": "#8c564b",
    "Vanilla transformer": "#7f7f7f",
    "TDB(S=3, M=4)": "#3b7dd8",
    "TDB(S=1, enc, M=4)": "#e08214",
}
_PANELS = (
    ("test_accu", "in-context accuracy (%)", 100),
    ("imp_fallback", "ImpFallback (%)", 100),
    ("ratio_sp", "RatioSP", 1),
    ("norm_ged", "NormGED", 1),
)

Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]


@styled
def emergence_figure(curves: Curves, with_paper: bool = True) -> Figure:
    """Four panels of `curves[metric][method]`, whose points are (training rooms, value)."""
    figure = Figure(figsize=(9.2, 5.4), layout="constrained")
    for axes, (metric, name, scale) in zip(figure.subplots(2, 2).flat, _PANELS, strict=True):
        if with_paper:
            _draw_paper(axes, metric, scale)
        for method, points in curves.get(metric, {}).items():
            rooms, values = zip(*sorted(points), strict=True)
            axes.plot(
                rooms,
                [scale * value for value in values],
                color=_colour(method),
                label=method,
                **_line(method),
            )
        axes.set(xlabel="training rooms", ylabel=name, xscale="log")
        if metric == "ratio_sp" and with_paper:  # whose rivals' paths are fifty times too long
            axes.set_yscale("log")
        axes.grid(True)
    figure.supxlabel(
        "Ours: maps read off the atlas of the training rooms. The paper's: from a room's codes alone.",
        fontsize=8,
    )
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(handles)))
    return figure


def _draw_paper(axes: Axes, metric: str, scale: float) -> None:
    for method, values in PAPER[metric].items():
        axes.plot(
            ROOMS,
            [scale * value for value in values],
            color=COLOURS[method],
            linestyle=":",
            linewidth=1.2,
            label=f"{method}, paper",
        )


def _line(method: str) -> dict[str, Any]:
    """By what an encoder knows observations by: without names, by those seen, by plain names."""
    if method.endswith(", nameless"):
        return {"linestyle": "-", "marker": "o", "markersize": 5}
    if method.endswith(", plain"):
        return {"linestyle": "--", "marker": "x", "markersize": 5}
    return {"linestyle": "-.", "marker": "s", "markersize": 6, "fillstyle": "none"}


def _colour(method: str) -> str:
    """Ours may name an encoder after the paper's name."""
    return next((colour for name, colour in COLOURS.items() if method.startswith(name)), "#2ca02c")
