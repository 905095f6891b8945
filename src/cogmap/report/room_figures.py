"""Pictures of a world and of a walk in it, as in the paper's first figure. They need its coordinates.

Figures are objects of their own: nothing here touches pyplot, its global state or a display.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadOutput, BadWorld
from cogmap.files import write_whole
from cogmap.records import CognitiveMap, Floats, Integers, TableWorld, label_of
from cogmap.report.colours import WALK_COLOUR, observation_colours

LEGEND_LIMIT = 16  # more colours than this tell a reader nothing
LABEL_LIMIT = 16  # characters of a label in a legend
_ASIDE = 0.3  # of a cell: how far a heading's mark is from the middle
_LOOKS_TO = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])  # (4, 2) x, y of north, east, south, west
_UNIT_CELL = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])  # (4, 2) x, y


def world_figure(world: TableWorld, walk: Integers | None = None) -> Figure:
    """The cells in the colours of what is seen there, and a walk of the given positions (N,) in them."""
    places = cell_centres(world)
    width, height = np.ptp(places, axis=0) + 1
    scale = float(np.clip(10 / max(width, height), 0.18, 0.5))  # inches a cell
    figure = Figure(figsize=(width * scale + 1.6, height * scale + 0.4), layout="constrained")
    axes = figure.add_subplot()
    draw_world(axes, world)
    if walk is not None:
        draw_walk(axes, world, walk)
    add_legend(axes, world)
    return figure


def draw_world(axes: Axes, world: TableWorld) -> None:
    """The cells, and a black border around the patches of a room that has them."""
    places = cell_centres(world)
    colours = observation_colours(world.num_observations)
    cells = PolyCollection(
        list(_cell_shapes(world)),
        facecolors=[colours[seen] for seen in world.observation],
        edgecolors="white",
        linewidths=0.6,
    )
    axes.add_collection(cells)
    if isinstance(world, AliasedRoom):
        for row, column in world.patch_corners:
            corner = (column - 0.5, row - 0.5)
            axes.add_patch(
                Rectangle(corner, world.patch, world.patch, fill=False, edgecolor="black", linewidth=2.5)
            )
    low, high = places.min(axis=0) - 0.6, places.max(axis=0) + 0.6
    axes.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]), aspect="equal")  # rows count downwards
    axes.set_axis_off()


def draw_walk(axes: Axes, world: TableWorld, walk: Integers) -> None:
    """The way through positions (N,), a dot where it starts and a square where it ends.

    Steps are drawn a little beside the middle of their cells, each visit elsewhere, so that a way taken twice
    shows. A step to a cell that is not next to it in the picture, over a seam, leaves a gap.
    """
    jitter = np.random.default_rng(0).uniform(-0.16, 0.16, size=(len(walk), 2))
    moved = np.concatenate([[True], walk[1:] != walk[:-1]])  # a bump stays where it is
    steps = cell_centres(world)[walk[moved]]  # (N', 2)
    points = steps + jitter[moved]
    near = np.abs(np.diff(steps, axis=0)).sum(axis=1) < 1.01
    segments = [segment for segment, drawn in zip(pairwise(points), near, strict=True) if drawn]
    for colour, linewidth in (("white", 3.4), (WALK_COLOUR, 1.8)):
        axes.add_collection(LineCollection(segments, colors=colour, linewidths=linewidth, capstyle="round"))
    for point, marker in ((points[0], "o"), (points[-1], "s")):
        axes.plot(*point, marker, color=WALK_COLOUR, markersize=9, markeredgecolor="white", zorder=3)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure whole or not at all, in the format of the suffix: png, svg or pdf."""
    path = Path(path)
    kind = check_figure_path(path)
    # Text in an SVG stays text, and the same figure gives the same bytes.
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cogmap"}),
        write_whole(path) as stream,
    ):
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def check_figure_path(path: str | Path) -> str:
    """The format that a figure's suffix names, or `BadOutput`."""
    kind = Path(path).suffix.removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise BadOutput(f"a figure must end in .png, .svg or .pdf, got {Path(path).name!r}")
    return kind


def cell_centres(world: TableWorld) -> Floats:
    """(P, 2): x and y of each position in the picture; a heading stands aside of its cell's middle, where it looks."""
    if world.coordinates is None:
        raise BadWorld(f"a world must have coordinates to be drawn, {world.name!r} has none")
    cells: Floats = world.coordinates[:, 1::-1]
    return cells if _headings(world) is None else cells + _ASIDE * _LOOKS_TO[_headings(world)]


def _cell_shapes(world: TableWorld) -> Floats:
    """(P, corners, 2): squares; where there are headings, the quarter of the cell's square at each one's side."""
    heading = _headings(world)
    if heading is None or world.coordinates is None:
        return cell_centres(world)[:, None] + _UNIT_CELL
    ahead = _LOOKS_TO[heading] / 2  # (P, 2) from the middle to the side that is looked at
    along = ahead[:, ::-1] * (1, -1)
    corners = np.stack([np.zeros_like(ahead), ahead + along, ahead - along], axis=1)
    return world.coordinates[:, None, 1::-1] + 0.97 * corners


def _headings(world: TableWorld) -> Any:
    """(P,) whole numbers from 0 for north, clockwise; None in a world without headings."""
    has = world.coordinates is not None and world.coordinates.shape[1] == 3
    return world.coordinates[:, 2].astype(int) if has and world.coordinates is not None else None


def add_legend(axes: Axes, world: TableWorld | CognitiveMap) -> None:
    """The colours and what they stand for, unless there are too many."""
    if world.num_observations > LEGEND_LIMIT:
        return
    colours = observation_colours(world.num_observations)
    handles = [
        Patch(
            facecolor=colour, edgecolor="grey", label=_legend_text(label_of(world.observation_labels, index))
        )
        for index, colour in enumerate(colours)
    ]
    axes.legend(
        handles=handles,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        title="seen",
        handlelength=1,
        handleheight=1,
    )


def _legend_text(label: str | int) -> str:
    """A user's word as matplotlib shows it unchanged: no formula, not hidden, and cut where it would not fit."""
    text = " ".join(str(label).split())
    text = text if len(text) <= LABEL_LIMIT else f"{text[: LABEL_LIMIT - 1]}…"
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")
