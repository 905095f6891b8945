"""Pictures of a learned map, at the true places of its nodes or laid out without them, and of a plan in the room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from cogmap.records import Booleans, CognitiveMap, Floats, Integers, TableWorld
from cogmap.report.colours import PATH_COLOUR, WALK_COLOUR, observation_colours, side_by_side
from cogmap.report.room_figures import add_legend, cell_centres, draw_walk, draw_world
from cogmap.report.style import FADED, INK, styled

_MANY = 2000  # nodes; more are drawn as one picture, or the SVG gets heavy


def points_at_places(world: TableWorld, position: Integers) -> Floats:
    """(V, 2): x and y of each node at its place (V,), those of one place side by side; nan where it has none."""
    return side_by_side(cell_centres(world), position)


@styled
def map_figure(cognitive_map: CognitiveMap, points: Floats, merged: Booleans | None = None) -> Figure:
    """The map with its nodes at `points` (V, 2) x, y; nodes at nan are left out, merged ones (V,) ringed."""
    shown = points[~np.isnan(points[:, 0])]
    span = np.ptp(shown, axis=0) if len(shown) else np.ones(2)
    width, height = np.clip(span / max(span.max(), 1e-9), 0.3, 1) * 3.8
    figure = Figure(figsize=(width + 0.9, height + 0.2), layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, cognitive_map, points, merged)
    add_legend(axes, cognitive_map)
    return figure


def draw_map(axes: Axes, cognitive_map: CognitiveMap, points: Floats, merged: Booleans | None = None) -> None:
    """Nodes in the colour of what is seen there; a line where one can go both ways, an arrow where only one."""
    shown = ~np.isnan(points[:, 0])
    both, one = _lines(cognitive_map, shown)
    axes.add_collection(LineCollection(list(points[both]), colors=FADED, linewidths=1.0, zorder=1))
    if len(one):
        starts, moves = points[one[:, 0]], points[one[:, 1]] - points[one[:, 0]]
        axes.quiver(
            *starts.T, *moves.T, angles="xy", scale_units="xy", scale=1, width=0.004, color=FADED, zorder=1
        )
    colours = np.array(observation_colours(cognitive_map.num_observations))[cognitive_map.node_observation]
    ringed = np.zeros(len(points), dtype=bool) if merged is None else merged
    axes.scatter(
        points[shown, 0],
        points[shown, 1],
        s=_node_size(points[shown]),
        c=colours[shown],
        edgecolors=[WALK_COLOUR if ring else INK for ring in ringed[shown]],
        linewidths=[2.6 if ring else 0.7 for ring in ringed[shown]],
        zorder=2,
    )
    for artist in axes.collections if len(points) > _MANY else ():
        artist.set_rasterized(True)
    axes.set(aspect="equal")
    axes.margins(0.06)
    axes.invert_yaxis()  # rows count downwards
    axes.set_axis_off()


def _lines(cognitive_map: CognitiveMap, shown: Booleans) -> tuple[Integers, Integers]:
    """Pairs of shown nodes (R, 2) that lead to each other, the lower first, and (Q, 2) that lead one way only."""
    ends = np.stack([cognitive_map.edge_source, cognitive_map.edge_target], axis=1)  # (E, 2)
    ends = np.unique(ends[shown[ends].all(axis=1) & (ends[:, 0] != ends[:, 1])], axis=0)
    there = {tuple(pair) for pair in ends.tolist()}
    mutual = np.array([pair[::-1] in there for pair in map(tuple, ends.tolist())], dtype=bool)
    return ends[mutual & (ends[:, 0] < ends[:, 1])], ends[~mutual]


def _node_size(points: Floats) -> float:
    """Area in square points that lets the nodes of a map this dense stand apart."""
    return float(np.clip(6500 / max(len(points), 1), 8, 140))


@styled
def plan_figure(world: TableWorld, context: Integers, met: Integers, goal: int) -> Figure:
    """A plan followed in the world, as in the paper's first figure.

    context: (C,) positions of the walk by which the agent knew where it was; it ends at A.
    met: (L + 1,) positions met by following the plan from A. A cross marks its end if that is not B.
    goal: the position B.
    """
    centres = cell_centres(world)
    width, height = np.ptp(centres, axis=0) + 1
    scale = float(np.clip(7 / max(width, height), 0.2, 0.55))
    figure = Figure(figsize=(width * scale + 1.2, height * scale + 0.3), layout="constrained")
    axes = figure.add_subplot()
    draw_world(axes, world)
    draw_walk(axes, world, context)
    _draw_path(axes, centres[met])
    for name, place in (("A", int(met[0])), ("B", goal)):
        _draw_end(axes, centres[place], name)
    if int(met[-1]) != goal:
        axes.plot(*centres[met[-1]], "X", color=PATH_COLOUR, markersize=15, markeredgecolor="white", zorder=6)
    add_legend(axes, world)
    return figure


def _draw_path(axes: Axes, points: Floats) -> None:
    """A red line through points (L + 1, 2); a step to a cell that is not next to it in the picture is a gap."""
    steps = np.stack([points[:-1], points[1:]], axis=1)  # (L, 2, 2)
    near = np.abs(steps[:, 0] - steps[:, 1]).sum(axis=1) < 1.01
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


@styled
def new_rooms_figure(rooms: Sequence[tuple[TableWorld, CognitiveMap, Integers]]) -> Figure:
    """One column a room: the world, and the map with its nodes (V,) where the places are that they stand for."""
    figure = Figure(figsize=(3.0 * len(rooms), 5.2), layout="constrained")
    panels = figure.subplots(2, len(rooms), squeeze=False)
    for column, (world, found, position) in enumerate(rooms):
        draw_world(panels[0, column], world)
        draw_map(panels[1, column], found, points_at_places(world, position))
        panels[0, column].set_title("a new room")
        panels[1, column].set_title(f"its map: {found.num_nodes} nodes")
    return figure
