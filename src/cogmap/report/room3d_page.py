"""The 3D room's own pictures and film: drawn into a folder, and as the first sections of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cogmap.environments.egocentric.renderer import open_renderer
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.oracle import aliasing, optimal_distances
from cogmap.planning.navigator import Navigator
from cogmap.planning.steppers import PixelStepper
from cogmap.records import CognitiveMap, Floats, Integers, TableWorld
from cogmap.report.html import Section, image_html, section_html
from cogmap.report.room3d_figures import clusters_figure, isometric_figure, maps_figure, strip_figure
from cogmap.report.room3d_film import Moment, draw_film, save_gif, set_stage, travel
from cogmap.report.room_figures import save_figure
from cogmap.walks.quantize import ViewQuantizer
from cogmap.walks.views import ViewWalks


@dataclass(frozen=True, eq=False)
class RoomStory:
    """All that the pictures are drawn from."""

    room: EgocentricRoom
    walks: ViewWalks
    quantizer: ViewQuantizer
    world: TableWorld  # the room with clusters as observations
    cognitive_map: CognitiveMap
    layout: Floats  # (V, 2) made without truth
    place: Integers  # (V,) the position that each node stands for, -1 where it stands for none


class Shown(NamedTuple):
    """A picture in a file."""

    file: str
    caption: str
    alt: str


def draw_room_pictures(story: RoomStory, folder: Path) -> Iterator[Shown]:
    """Four pictures and a film, each written before it is told."""
    room, quantizer = story.room, story.quantizer
    save_figure(isometric_figure(room), folder / "room_isometric.png")
    yield Shown(
        "room_isometric.png",
        "The room, which the agent never sees as a whole.",
        f"A 3D room of {room.plan.height} x {room.plan.width} m at an angle, with walls, pillars and posters.",
    )
    save_figure(strip_figure(story.walks.views, story.walks), folder / "views.png")
    yield Shown("views.png", "A walk as the agent lives it.", "Ten views in a row, and the actions between.")
    save_figure(clusters_figure(room.views, quantizer(room.views)), folder / "clusters.png")
    yield Shown(
        "clusters.png",
        f"The clusters that most places share. {aliasing(story.world).sentence()}.",
        "Rows of views: the centre of a cluster, then the views of the places that fall into it.",
    )
    found = maps_figure(room, story.world, story.cognitive_map, story.place, story.layout)
    save_figure(found, folder / "room_and_map.png")
    yield Shown(
        "room_and_map.png",
        "One node for each place and heading. The map on the right knows nothing of where its nodes really are.",
        "The room from above, its places by heading, and the learned map twice.",
    )
    moments = make_film(story, folder / "film.gif")
    yield Shown(
        "film.gif",
        f"Put down anywhere and given nothing but views, the agent finds out where it is and walks to its goal: "
        f"{len(moments) - 1} actions.",
        "A film: the agent's view, the room from above, and its place on the map.",
    )


def make_film(story: RoomStory, path: Path, seed: int = 0) -> list[Moment]:
    """A GIF of a long way through the room, from pixels alone."""
    start, goal = far_apart(story)
    stage = set_stage(story.room, story.cognitive_map, story.layout, story.place, goal)
    navigator = Navigator(story.cognitive_map, np.random.default_rng(seed))
    with open_renderer(story.room) as renderer:
        stepper = PixelStepper(story.room, renderer.view, story.quantizer, start)
        moments = list(travel(navigator, stepper, goal))
    save_gif(path, draw_film(moments, stage))
    return moments


def far_apart(story: RoomStory) -> tuple[int, int]:
    """A position that looks like others, for a start that leaves a doubt, and a node as far from it as any."""
    looks = np.bincount(story.world.observation, minlength=story.world.num_observations)
    start = int(looks[story.world.observation].argmax())
    steps = optimal_distances(story.world)[start][story.place]  # (V,)
    return start, int(np.where(story.place >= 0, steps, -1).argmax())


def room_section(folder: Path, shown: list[Shown]) -> Section:
    """The pictures as a part of a page that needs no other file."""
    figures = [
        image_html((folder / each.file).read_bytes(), each.file.rpartition(".")[2], each.caption, each.alt)
        for each in shown
    ]
    return Section(
        section_html(
            "room3d", "A room seen through the agent's eyes", f'<div class="figures">{"".join(figures)}</div>'
        )
    )
