"""Figures of a world with coordinates, and of a walk or a plan in it, as in the paper's first figure.

Nothing here uses pyplot, its global state or a display.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from cogmap.environments.oracle import true_edges
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadWorld
from cogmap.records import CognitiveMap, Floats, Integers, TableWorld, label_of
from cogmap.report.colours import PATH_COLOUR, WALK_COLOUR, observation_colours
from cogmap.report.style import styled

LEGEND_LIMIT = 16  # colours; a legend of more would not be readable
LABEL_LIMIT = 16  # characters of a label in a legend
_HEADING_OFFSET = 0.3  # of a cell: from its middle to the point of a heading
_DIRECTIONS = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])  # (4, 2) x, y of north, east, south, west
_CORNER_SIZE = 0.36  # of a cell: the side of a corner's square between streets
_STREET_COLOUR = "#b0b0b0"
_UNIT_CELL = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])  # (4, 2) x, y


def world_figure(world: TableWorld, walk: Integers | None = None) -> Figure:
    """The cells in the colours of their observations, and a walk through the given positions (N,)."""
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


@styled
def plan_figure(world: TableWorld, context: Integers, visited: Integers, goal: int) -> Figure:
    """A plan followed in the world, as in the paper's first figure.

    context: (C,) positions of the walk up to A, from which the agent localised itself.
    visited: (L + 1,) positions that the plan visits from A on. A cross marks its end if that is not B.
    goal: the position B.
    """
    centres = cell_centres(world)
    width, height = np.ptp(centres, axis=0) + 1
    scale = float(np.clip(7 / max(width, height), 0.2, 0.55))
    figure = Figure(figsize=(width * scale + 1.2, height * scale + 0.3), layout="constrained")
    axes = figure.add_subplot()
    draw_world(axes, world)
    draw_walk(axes, world, context)
    _draw_path(axes, world, visited)
    for name, place in (("A", int(visited[0])), ("B", goal)):
        _draw_end(axes, centres[place], name)
    if int(visited[-1]) != goal:
        end = centres[visited[-1]]
        axes.plot(*end, "X", color=PATH_COLOUR, markersize=15, markeredgecolor="white", zorder=6)
    add_legend(axes, world)
    return figure


def draw_world(axes: Axes, world: TableWorld) -> None:
    """The cells, the streets between them if they are not on a grid, and a border around the patches of a room."""
    places = cell_centres(world)
    if not _on_a_grid(world):
        _draw_streets(axes, world)
    colours = observation_colours(world.num_observations, world.observation_labels)
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
    """A walk through positions (N,), with a dot at its start and a square at its end.

    Each step is drawn at a random offset from the middle of its cell, so that repeated visits can be seen. On a
    grid, a step between cells that are not adjacent in the picture, over a seam, leaves a gap.
    """
    spread = 0.16 if _on_a_grid(world) else 0.16 * _CORNER_SIZE
    jitter = np.random.default_rng(0).uniform(-spread, spread, size=(len(walk), 2))
    moved = np.concatenate([[True], walk[1:] != walk[:-1]])  # a bump stays where it is
    steps = cell_centres(world)[walk[moved]]  # (N', 2)
    points = steps + jitter[moved]
    near = _adjacent(world, steps[:-1], steps[1:])
    segments = [segment for segment, drawn in zip(pairwise(points), near, strict=True) if drawn]
    for colour, linewidth in (("white", 3.4), (WALK_COLOUR, 1.8)):
        axes.add_collection(LineCollection(segments, colors=colour, linewidths=linewidth, capstyle="round"))
    for point, marker in ((points[0], "o"), (points[-1], "s")):
        axes.plot(*point, marker, color=WALK_COLOUR, markersize=9, markeredgecolor="white", zorder=3)


def cell_centres(world: TableWorld) -> Floats:
    """(P, 2) x, y of each position in the picture; with headings, moved from the cell's middle in their direction."""
    if world.coordinates is None:
        raise BadWorld(f"a world must have coordinates to be drawn, got none for {world.name!r}")
    cells: Floats = world.coordinates[:, 1::-1]
    heading = _headings(world)
    return cells if heading is None else cells + _HEADING_OFFSET * _DIRECTIONS[heading]


def add_legend(axes: Axes, world: TableWorld | CognitiveMap) -> None:
    """The colour of each observation, unless there are too many."""
    if world.num_observations > LEGEND_LIMIT:
        return
    colours = observation_colours(world.num_observations, world.observation_labels)
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


def _draw_streets(axes: Axes, world: TableWorld) -> None:
    """A line for each pair of positions with a move between them, and an arrow where only one way is open."""
    source, _, target = true_edges(world)
    moves = np.unique(np.stack([source, target], axis=1), axis=0)  # (E, 2)
    number = moves.astype(np.int64) @ (world.num_positions, 1)
    back = moves.astype(np.int64) @ (1, world.num_positions)
    ends = cell_centres(world)[moves]  # (E, 2, 2)
    axes.add_collection(LineCollection(list(ends), colors=_STREET_COLOUR, linewidths=1.2, zorder=0.5))
    one_way = ends[~np.isin(number, back)]
    x, y = one_way.mean(axis=1).T
    along, down = (one_way[:, 1] - one_way[:, 0]).T
    length = np.maximum(np.hypot(along, down), 1e-9)
    axes.quiver(
        x,
        y,
        0.3 * along / length,
        0.3 * down / length,
        color=_STREET_COLOUR,
        angles="xy",
        scale_units="xy",
        scale=1,
        units="xy",
        width=0.04,
        headwidth=6,
        headlength=6,
        headaxislength=6,
        pivot="mid",
        zorder=0.6,
    )


def _draw_path(axes: Axes, world: TableWorld, visited: Integers) -> None:
    """A red line through positions (L + 1,), with gaps between cells that are not adjacent in the picture."""
    points = cell_centres(world)[visited]
    steps = np.stack([points[:-1], points[1:]], axis=1)  # (L, 2, 2)
    near = _adjacent(world, points[:-1], points[1:])
    for colour, linewidth in (("white", 6.0), (PATH_COLOUR, 3.6)):
        lines = LineCollection(
            list(steps[near]), colors=colour, linewidths=linewidth, capstyle="round", zorder=4
        )
        axes.add_collection(lines)


def _draw_end(axes: Axes, point: Floats, name: str) -> None:
    axes.text(
        point[0],
        point[1],
        name,
        color="white",
        weight="bold",
        ha="center",
        va="center",
        fontsize=11,
        zorder=7,
        bbox={
            "boxstyle": "circle,pad=0.25",
            "facecolor": PATH_COLOUR,
            "edgecolor": "white",
            "linewidth": 1.2,
        },
    )


def _cell_shapes(world: TableWorld) -> Floats:
    """(P, corners, 2) squares; with headings, the quarter of the cell's square on the side of each heading."""
    heading = _headings(world)
    if heading is None or world.coordinates is None:
        return cell_centres(world)[:, None] + (1 if _on_a_grid(world) else _CORNER_SIZE) * _UNIT_CELL
    ahead = _DIRECTIONS[heading] / 2  # (P, 2) from the middle to the side of the heading
    along = ahead[:, ::-1] * (1, -1)
    corners = np.stack([np.zeros_like(ahead), ahead + along, ahead - along], axis=1)
    return world.coordinates[:, None, 1::-1] + 0.97 * corners


def _on_a_grid(world: TableWorld) -> bool:
    """Whether positions are cells of a grid, at whole coordinates; the corners of a street network are not."""
    return world.coordinates is None or bool((world.coordinates % 1 == 0).all())


def _adjacent(world: TableWorld, before: Floats, after: Floats) -> Any:
    """(N,): whether steps between points (N, 2) join neighbours on the grid; off a grid every step is a street."""
    return (np.abs(after - before).sum(axis=1) < 1.01) | (not _on_a_grid(world))


def _headings(world: TableWorld) -> Any:
    """(P,) integers from 0 for north, clockwise; None in a world without headings."""
    has = world.coordinates is not None and world.coordinates.shape[1] == 3
    return world.coordinates[:, 2].astype(int) if has and world.coordinates is not None else None


def _legend_text(label: str | int) -> str:
    """A label that matplotlib shows unchanged: not as a formula, not hidden, and cut where it is too long."""
    text = " ".join(str(label).split())
    text = text if len(text) <= LABEL_LIMIT else f"{text[: LABEL_LIMIT - 1]}…"
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")
