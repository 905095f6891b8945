"""The section on a 3D room in a report: four pictures and a film, written into a folder and shown in the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from cogmap.environments.egocentric.renderer import PORTRAIT, open_renderer
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.oracle import aliasing, optimal_distances
from cogmap.planning.navigator import Navigator
from cogmap.planning.steppers import PixelStepper
from cogmap.records import CognitiveMap, Floats, Integers, TableWorld, Walks, label_of
from cogmap.report.html import Section, image_html, section_html
from cogmap.report.map_figures import draw_map, points_at_places
from cogmap.report.room3d_film import Moment, draw_film, film_background, journey_moments, save_gif
from cogmap.report.room_figures import draw_world
from cogmap.report.style import FADED, INK, save_figure, styled
from cogmap.walks.quantize import ViewQuantizer
from cogmap.walks.views import ViewWalks

Images = NDArray[np.uint8]  # (..., H, W, 3)
_ARROWS = {"forward": "↑", "left": "↰", "right": "↱"}
_INCH = 1.1  # of a view in a row of views


@dataclass(frozen=True, eq=False)
class Room3dMaterial:
    """What the pictures are drawn from."""

    room: EgocentricRoom
    walks: ViewWalks
    quantizer: ViewQuantizer
    world: TableWorld  # the room with clusters as observations
    cognitive_map: CognitiveMap
    layout: Floats  # (V, 2) computed without truth
    place: Integers  # (V,) the position that each node stands for, -1 for none


class PictureFile(NamedTuple):
    """A picture in a file."""

    file: str
    caption: str
    alt: str


def draw_room_pictures(material: Room3dMaterial, folder: Path) -> Iterator[PictureFile]:
    """Four pictures and a film; each is written before it is yielded."""
    room, quantizer = material.room, material.quantizer
    save_figure(isometric_figure(room), folder / "room_isometric.png")
    yield PictureFile(
        "room_isometric.png",
        "The room, which the agent never sees as a whole.",
        f"A 3D room of {room.plan.height} x {room.plan.width} m at an angle, with walls, pillars and posters.",
    )
    save_figure(strip_figure(material.walks.views, material.walks), folder / "views.png")
    yield PictureFile(
        "views.png", "A walk as the agent sees it.", "Ten views in a row, and the actions between them."
    )
    save_figure(clusters_figure(room.views, quantizer(room.views)), folder / "clusters.png")
    yield PictureFile(
        "clusters.png",
        f"The clusters that most places share. {aliasing(material.world).sentence()}.",
        "Rows of views: the centre of a cluster, then the views of the places that fall into it.",
    )
    found = maps_figure(room, material.world, material.cognitive_map, material.place, material.layout)
    save_figure(found, folder / "room_and_map.png")
    yield PictureFile(
        "room_and_map.png",
        "One node for each place and heading. The map on the right is laid out without the true places.",
        "The room from above, its places by heading, and the learned map twice.",
    )
    moments = make_film(material, folder / "film.gif")
    yield PictureFile(
        "film.gif",
        f"From a random start and given nothing but views, the agent localises itself and walks to its goal: "
        f"{len(moments) - 1} actions.",
        "A film: the agent's view, the room from above, and the belief on the map.",
    )


def room_section(folder: Path, pictures: Sequence[PictureFile]) -> Section:
    """The pictures as a section of a page that needs no other file."""
    figures = [
        image_html((folder / each.file).read_bytes(), each.file.rpartition(".")[2], each.caption, each.alt)
        for each in pictures
    ]
    body = f'<div class="figures">{"".join(figures)}</div>'
    return Section(section_html("room3d", "A room seen through the agent's eyes", body))


def make_film(material: Room3dMaterial, path: Path, seed: int = 0) -> list[Moment]:
    """A GIF of a long walk to a goal, from pixels alone."""
    start, goal = far_apart(material)
    background = film_background(material.room, material.cognitive_map, material.layout, material.place, goal)
    navigator = Navigator(material.cognitive_map, np.random.default_rng(seed))
    with open_renderer(material.room) as renderer:
        stepper = PixelStepper(material.room, renderer.view, material.quantizer, start)
        moments = list(journey_moments(navigator, stepper, goal))
    save_gif(path, draw_film(moments, background))
    return moments


def far_apart(material: Room3dMaterial) -> tuple[int, int]:
    """A start position with an ambiguous view, and a goal node that is as far from it as any."""
    sharing = np.bincount(material.world.observation, minlength=material.world.num_observations)
    start = int(sharing[material.world.observation].argmax())
    steps = optimal_distances(material.world)[start][material.place]  # (V,)
    return start, int(np.where(material.place >= 0, steps, -1).argmax())


@styled
def isometric_figure(room: EgocentricRoom) -> Figure:
    """The room at an angle from above."""
    with open_renderer(room, PORTRAIT) as renderer:
        picture = renderer.isometric()
    figure = Figure(figsize=(PORTRAIT.width / 150, PORTRAIT.height / 150))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(picture)
    axes.set_axis_off()
    return figure


@styled
def strip_figure(images: Images, walks: Walks, walk: int = 0, first: int = 0, steps: int = 10) -> Figure:
    """The views of some steps of a walk in a row, and the actions between them.

    images: (O, H, W, 3) the view of each observation of the walks.
    """
    seen = walks.observations[walk, first : first + steps]
    actions = walks.actions[walk, first : first + steps - 1]
    figure = Figure(figsize=(_INCH * len(seen), _INCH + 0.3), layout="constrained")
    for step, axes in enumerate(_row_of_axes(figure, len(seen))):
        axes.imshow(images[seen[step]], interpolation="nearest")
        name = "" if step == len(actions) else str(label_of(walks.action_labels, int(actions[step])))
        axes.set_xlabel(f"{_ARROWS.get(name, '')} {name}".strip())
    return figure


@styled
def clusters_figure(views: Images, cluster: Integers, clusters: int = 6, most: int = 7) -> Figure:
    """The clusters that most places share: the centre at the left, then views (P, H, W, 3) of the cluster.

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
    """The room from above, its observations by place, and the learned map at true places and laid out without truth.

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
        f"its {world.num_positions} places: the observation at each, by heading",
        f"the learned map: {cognitive_map.num_nodes} nodes at their true places",
        "the same map laid out without truth",
    )
    for axes, title in zip((first, second, third, fourth), titles, strict=True):
        axes.set_title(title)
    return figure


def _row_of_axes(figure: Figure, number: int) -> Sequence[Axes]:
    row = [figure.add_subplot(1, number, index + 1) for index in range(number)]
    for axes in row:
        _frame(axes)
    return row


def _frame(axes: Axes, colour: str | None = None) -> None:
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=colour or FADED, linewidth=2.0 if colour else 0.6)
