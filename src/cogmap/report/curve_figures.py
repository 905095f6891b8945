"""The curves of the paper's appendix: by step of a walk, by training step, and by number of training rooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cogmap.errors import BadRun
from cogmap.evaluation.diagnostics import CodeUse
from cogmap.records import Floats
from cogmap.report.paper_rows import ICL, ICL_ROOMS
from cogmap.report.style import FADED, styled

MODEL_COLOUR, SECOND_COLOUR = "#3b7dd8", "#e08214"  # read on light and on dark
RETAINED_COLOUR, DISCARDED_COLOUR = "#2ca02c", "#d62728"  # the paper's green and red
COLOURS = {  # of the paper's methods
    "Vanilla LSTM": "#8c564b",
    "Vanilla transformer": "#7f7f7f",
    "TDB(S=3, M=4)": "#3b7dd8",
    "TDB(S=1, enc, M=4)": "#e08214",
}
_SIZE = (4.4, 2.8)
_MANY_DOTS = 500  # more are rasterized, since a large SVG is slow
_PANELS = (  # metric, label, scale
    ("test_accu", "in-context accuracy (%)", 100),
    ("imp_fallback", "ImpFallback (%)", 100),
    ("ratio_sp", "RatioSP", 1),
    ("norm_ged", "NormGED", 1),
)
Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]


@styled
def accuracy_figure(by_step: Floats, ceiling_by_step: Floats | None = None) -> Figure:
    """The accuracy at each step (N - 1,), and the ceiling: that of a filter that knows the world."""
    figure, axes = _axes("step of the walk", "next observations predicted (%)")
    steps = np.arange(1, len(by_step) + 1)
    if ceiling_by_step is not None:
        axes.plot(steps, 100 * ceiling_by_step, color=FADED, linewidth=3, label="ceiling")
    axes.plot(steps, 100 * by_step, color=MODEL_COLOUR, linewidth=1.2, label="model")
    axes.set_ylim(top=101)
    _add_legend(axes)
    return figure


@styled
def code_use_figure(use: CodeUse) -> Figure:
    """A dot for each code: the mean step at which it is active, and how often it is."""
    figure, axes = _axes("mean step at which the code is active", "steps on which it is active")
    kinds = ((~use.retained, DISCARDED_COLOUR, "discarded"), (use.retained, RETAINED_COLOUR, "retained"))
    for chosen, colour, name in kinds:
        axes.scatter(
            use.mean_step[chosen],
            use.count[chosen],
            s=9,
            color=colour,
            alpha=0.7,
            linewidths=0,
            label=f"{name} ({chosen.sum()})",
            rasterized=len(use.count) > _MANY_DOTS,
        )
    axes.set_yscale("log")
    _add_legend(axes)
    return figure


@styled
def teleportation_figure(rate: Floats) -> Figure:
    """The share of walks whose estimated node jumps to one that is no neighbour, at each step (N - 1,)."""
    figure, axes = _axes("step of the walk", "jumps to no neighbour (%)")
    axes.plot(np.arange(1, len(rate) + 1), 100 * rate, color=MODEL_COLOUR, linewidth=1.2)
    axes.set_ylim(bottom=0)
    return figure


@styled
def training_figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Loss, accuracies and, where there is a bottleneck, codes in use, by training step."""
    needed = ("step", "loss", "train_accuracy", "validation_accuracy", "codes_in_use", "perplexity")
    missing = next((name for row in rows for name in needed if name not in row), None)
    if missing is not None:
        raise BadRun(f"every row of metrics must have `{missing}` to be drawn, one has not")
    used = [
        (row["step"], sum(row["codes_in_use"]), sum(row["perplexity"])) for row in rows if row["codes_in_use"]
    ]
    figure = Figure(figsize=(_SIZE[0] * (2.0 if used else 1.5), _SIZE[1]), layout="constrained")
    panels = figure.subplots(1, 3 if used else 2)
    steps = [row["step"] for row in rows]
    _label_axes(panels[0], "training step", "loss")
    panels[0].plot(steps, [row["loss"] for row in rows], color=MODEL_COLOUR)
    panels[0].set_yscale("log")
    _label_axes(panels[1], "training step", "predicted (%)")
    curves = (
        ("train_accuracy", FADED, "training windows"),
        ("validation_accuracy", MODEL_COLOUR, "held-out walks"),
    )
    for key, colour, name in curves:
        panels[1].plot(steps, [100 * row[key] for row in rows], color=colour, label=name)
    _add_legend(panels[1])
    if used:
        _draw_dictionary(panels[2], np.array(used, dtype=np.float64))
    return figure


@styled
def emergence_figure(curves: Curves, with_paper: bool = True) -> Figure:
    """Four panels of `curves[metric][method]`, each a list of points (training rooms, value)."""
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
        if metric == "ratio_sp" and with_paper:  # the paths of the paper's baselines are fifty times too long
            axes.set_yscale("log")
        axes.grid(True)
    figure.supxlabel(
        "Maps from a room's own walks by the paper's builder, ours and the paper's.",
        fontsize=8,
    )
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=min(3, len(handles)))
    return figure


def _draw_dictionary(axes: Axes, used: Floats) -> None:
    """Columns of `used` (R, 3): step, codes in use, perplexity."""
    _label_axes(axes, "training step", "codes")
    axes.plot(used[:, 0], used[:, 1], color=MODEL_COLOUR, label="in use", marker="o", markersize=3)
    axes.plot(used[:, 0], used[:, 2], color=SECOND_COLOUR, label="perplexity", marker="o", markersize=3)
    axes.set_ylim(bottom=0)
    _add_legend(axes)


def _add_legend(axes: Axes) -> None:
    """A legend above the curves, where it hides nothing."""
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, handlelength=1.2, columnspacing=1.2)


def _axes(xlabel: str, ylabel: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    _label_axes(axes, xlabel, ylabel)
    return figure, axes


def _label_axes(axes: Axes, xlabel: str, ylabel: str) -> None:
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(True)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))


def _draw_paper(axes: Axes, metric: str, scale: float) -> None:
    for method, values in ICL[metric].items():
        axes.plot(
            ICL_ROOMS,
            [scale * value for value in values],
            color=COLOURS[method],
            linestyle=":",
            linewidth=1.2,
            label=f"{method}, paper",
        )


def _line(method: str) -> dict[str, Any]:
    """The line style by encoder: slot encoder (stored as "nameless"), plain embeddings, or seen-set encoder."""
    if method.endswith(", nameless"):
        return {"linestyle": "-", "marker": "o", "markersize": 5}
    if method.endswith(", plain"):
        return {"linestyle": "--", "marker": "x", "markersize": 5}
    return {"linestyle": "-.", "marker": "s", "markersize": 6, "fillstyle": "none"}


def _colour(method: str) -> str:
    """The colour of the paper's method; our names add the encoder to the paper's name."""
    return next((colour for name, colour in COLOURS.items() if method.startswith(name)), "#2ca02c")
