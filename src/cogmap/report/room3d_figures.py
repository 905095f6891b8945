"""Pictures of a 3D room: at an angle, through the agent's eyes, by clusters, and its map beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from cogmap.environments.egocentric.renderer import PORTRAIT, open_renderer
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.records import CognitiveMap, Floats, Integers, TableWorld, Walks, label_of
from cogmap.report.map_figures import draw_map, points_at_places
from cogmap.report.room_figures import draw_world
from cogmap.report.style import FADED, INK, styled
from cogmap.walks.quantize import ViewQuantizer

Images = NDArray[np.uint8]  # (..., H, W, 3)
_ARROWS = {"forward": "↑", "left": "↰", "right": "↱"}
_INCH = 1.1  # of a view in a strip


@styled
def isometric_figure(room: EgocentricRoom) -> Figure:
    """The room as an architect's model."""
    with open_renderer(room, PORTRAIT) as renderer:
        picture = renderer.isometric()
    figure = Figure(figsize=(PORTRAIT.width / 150, PORTRAIT.height / 150))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(picture)
    axes.set_axis_off()
    return figure


@styled
def strip_figure(images: Images, walks: Walks, walk: int = 0, first: int = 0, steps: int = 10) -> Figure:
    """What the agent saw step by step, and what it did in between.

    images: (O, H, W, 3) how each observation of the walks looks.
    """
    seen = walks.observations[walk, first : first + steps]
    done = walks.actions[walk, first : first + steps - 1]
    figure = Figure(figsize=(_INCH * len(seen), _INCH + 0.3), layout="constrained")
    for step, axes in enumerate(_row_of_axes(figure, len(seen))):
        axes.imshow(images[seen[step]], interpolation="nearest")
        name = "" if step == len(done) else str(label_of(walks.action_labels, int(done[step])))
        axes.set_xlabel(f"{_ARROWS.get(name, '')} {name}".strip())
    return figure


@styled
def clusters_figure(views: Images, cluster: Integers, clusters: int = 6, most: int = 7) -> Figure:
    """The clusters that most places share: the centre at the left, then the views (P, H, W, 3) behind it.

    cluster: (P,) of each place's view.
    """
    times = np.bincount(cluster)
    shown = np.argsort(-times, kind="stable")[:clusters]
    columns = 1 + min(most, int(times.max()))
    figure = Figure(figsize=(_INCH * columns + 0.2, _INCH * len(shown) + 0.3), layout="constrained")
    for row, number in enumerate(shown.tolist()):
        members = views[cluster == number]
        centre = members.astype(np.float64).mean(axis=0).round().astype(np.uint8)
        for column, picture in enumerate([centre, *members[: columns - 1]]):
            axes = figure.add_subplot(len(shown), columns, row * columns + column + 1)
            _frame(axes, INK if column == 0 else None)
            axes.imshow(picture, interpolation="nearest")
            if row == 0 and column < 2:
                axes.set_title("centre" if column == 0 else "places")
    return figure


@styled
def maps_figure(
    room: EgocentricRoom,
    world: TableWorld,
    cognitive_map: CognitiveMap,
    position: Integers,
    layout: Floats,
) -> Figure:
    """The room from above, what is seen where, the learned map at true places, and laid out without them.

    world: the room with clusters as observations. position: (V,) the place that each node stands for.
    """
    with open_renderer(room, PORTRAIT) as renderer:
        above = renderer.from_above()
    figure = Figure(figsize=(17, 4.6), layout=ConstrainedLayoutEngine(rect=(0, 0, 1, 0.95)))
    first, second, third, fourth = _row_of_axes(figure, 4)
    side = (above.shape[1] - above.shape[0]) // 2
    first.imshow(above[:, side : above.shape[1] - side])
    draw_world(second, world)
    draw_map(third, cognitive_map, points_at_places(world, position))
    draw_map(fourth, cognitive_map, layout)
    titles = (
        "the room from above",
        f"its {world.num_positions} places: what is seen where, by heading",
        f"the learned map: {cognitive_map.num_nodes} nodes at their true places",
        "the same map laid out without truth",
    )
    for axes, title in zip((first, second, third, fourth), titles, strict=True):
        axes.set_title(title)
    return figure


def places_views(room: EgocentricRoom, quantizer: ViewQuantizer) -> tuple[Images, Integers]:
    """The view of every place (P, H, W, 3), and its cluster (P,)."""
    return room.views, quantizer(room.views)


def _row_of_axes(figure: Figure, number: int) -> Sequence[Axes]:
    row = [figure.add_subplot(1, number, index + 1) for index in range(number)]
    for axes in row:
        _frame(axes)
    return row


def _frame(axes: Axes, colour: str | None = None) -> None:
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=colour or FADED, linewidth=2.0 if colour else 0.6)
