"""A film of a navigator in a 3D room: its view, the room from above, and where it believes to be on its map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from cogmap.environments.egocentric.renderer import PORTRAIT, open_renderer
from cogmap.environments.egocentric.room import AHEAD, EgocentricRoom
from cogmap.files import write_whole
from cogmap.planning.navigator import Navigator
from cogmap.planning.steppers import PixelStepper
from cogmap.records import CognitiveMap, Floats, Integers
from cogmap.report.colours import PATH_COLOUR, WALK_COLOUR
from cogmap.report.map_figures import draw_map
from cogmap.report.style import styled

PANEL, GAP, FOOT = 360, 8, 44  # pixels
SECONDS_A_STEP, SECONDS_AT_THE_END = 0.35, 2.5
_SEEN = 0.02  # belief from which a node is drawn as possible
Points = NDArray[np.float64]  # (..., 2) x, y in pixels of a panel


@dataclass(frozen=True, eq=False)
class Moment:
    """What is known at one step of a journey."""

    view: NDArray[np.uint8]  # (H, W, 3)
    position: int  # where the agent really is
    belief: Floats  # (V,)
    planned: Integers  # (L + 1,) nodes from here to the goal; empty while it does not know where it is
    caption: str


@dataclass(frozen=True, eq=False)
class Stage:
    """What stays the same all through a film."""

    above: Image.Image  # the room, north up
    spots: Points  # (P, 2) the middle of each position's cell in it
    looks: Points  # (P, 2) a unit vector to where each position looks
    chart: Image.Image  # the map
    nodes: Points  # (V, 2) in it
    place: Integers  # (V,) the position that each node stands for, for drawing plans in the room
    goal: int  # a node


def travel(navigator: Navigator, stepper: PixelStepper, goal: int, longest: int = 150) -> Iterator[Moment]:
    """The navigator's way to a node, from its first view on; it is given views and nothing else."""
    navigator.observe(None, stepper.observation)
    for step in range(longest + 1):
        action = navigator.next_action(goal)
        knows = navigator.certainty >= navigator.sure
        planned = navigator.plan(goal).nodes if knows else np.zeros(0, dtype=np.int32)
        yield Moment(
            stepper.image, stepper.position, navigator.belief, planned, _caption(navigator, planned, action)
        )
        if action is None or step == longest:
            return
        navigator.observe(action, stepper(action))


def _caption(navigator: Navigator, planned: Integers, action: int | None) -> str:
    if action is None:
        return "here it is"
    if not len(planned):
        possible = int((navigator.belief > _SEEN).sum())
        return f"it could be at {possible} places: looking around"
    steps = len(planned) - 1
    return f"I know where I am. {steps} action{'' if steps == 1 else 's'} to go"


def set_stage(
    room: EgocentricRoom, cognitive_map: CognitiveMap, layout: Floats, place: Integers, goal: int
) -> Stage:
    with open_renderer(room, PORTRAIT) as renderer:
        picture, metres = renderer.from_above(), renderer.metres_high()
    side = (picture.shape[1] - picture.shape[0]) // 2
    square = Image.fromarray(picture[:, side : picture.shape[1] - side])
    pixels = PANEL / metres  # of a metre on the floor
    middle = np.array([room.plan.width, room.plan.height]) / 2 - 0.5
    spots = (room.places()[:, 1::-1] - middle) * pixels + PANEL / 2
    chart, nodes = _chart(cognitive_map, layout)
    looks = AHEAD[room.places()[:, 2].astype(int), ::-1].astype(np.float64)
    above = square.resize((PANEL, PANEL), Image.Resampling.LANCZOS)
    return Stage(above, spots, looks, chart, nodes, place, goal)


def _chart(cognitive_map: CognitiveMap, layout: Floats) -> tuple[Image.Image, Points]:
    """The map drawn once, and where its nodes are in the picture."""
    kept: dict[str, Any] = {}

    def draw() -> Figure:
        figure = Figure(figsize=(PANEL / 100, PANEL / 100), dpi=100)
        kept["axes"] = axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
        draw_map(axes, cognitive_map, layout)
        return figure

    figure = styled(draw)()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    nodes = kept["axes"].transData.transform(layout)
    nodes[:, 1] = PANEL - nodes[:, 1]  # pictures count rows from the top
    return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]), nodes


def draw_film(moments: Sequence[Moment], stage: Stage) -> list[Image.Image]:
    """One picture for each moment, the way so far and the way ahead drawn in."""
    return [_frame(moments, step, stage) for step in range(len(moments))]


def save_gif(path: str | Path, frames: Sequence[Image.Image]) -> None:
    """All frames as one GIF, written whole or not at all."""
    colours = _common_colours(frames)
    few = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    times = [round(1000 * SECONDS_A_STEP)] * (len(few) - 1) + [round(1000 * SECONDS_AT_THE_END)]
    with write_whole(path) as stream:
        few[0].save(
            stream, format="gif", save_all=True, append_images=few[1:], duration=times, loop=0, optimize=True
        )


def _common_colours(frames: Sequence[Image.Image]) -> Image.Image:
    """The 256 colours that all frames share; our own few marks, small as they are, must be among them."""
    shown = frames[:: max(1, len(frames) // 6)]
    side = shown[0].height
    sheet = Image.new("RGB", (shown[0].width, side * (len(shown) + 1)), "white")
    for row, frame in enumerate(shown):
        sheet.paste(frame, (0, side * row))
    for column, colour in enumerate((WALK_COLOUR, PATH_COLOUR, "#1b1b1c")):
        sheet.paste(colour, (side * column, side * len(shown), side * (column + 1), side * (len(shown) + 1)))
    return sheet.quantize(256)


def _frame(moments: Sequence[Moment], step: int, stage: Stage) -> Image.Image:
    moment = moments[step]
    frame = Image.new("RGB", (3 * PANEL + 4 * GAP, PANEL + FOOT + GAP), "white")
    eyes = Image.fromarray(moment.view).resize((PANEL, PANEL), Image.Resampling.NEAREST)
    panels = (eyes, _room_panel(moments, step, stage), _map_panel(moment, stage))
    for index, panel in enumerate(panels):
        frame.paste(panel, (GAP + index * (PANEL + GAP), GAP))
    pen, baseline = ImageDraw.Draw(frame), PANEL + GAP + FOOT // 2
    font = ImageFont.load_default(17)
    captions = ("what it sees", "where it really is", moment.caption)
    for index, caption in enumerate(captions):
        at = (GAP + index * (PANEL + GAP) + PANEL / 2, baseline)
        pen.text(at, caption, fill="#1b1b1c", font=font, anchor="mm")
    return frame


def _room_panel(moments: Sequence[Moment], step: int, stage: Stage) -> Image.Image:
    """The room with the way so far, the way ahead, the goal and the agent."""
    panel = stage.above.copy()
    pen, here = ImageDraw.Draw(panel), moments[step]
    walked = stage.spots[[moment.position for moment in moments[: step + 1]]]
    _line(pen, walked, WALK_COLOUR, 3)
    if len(here.planned) and (stage.place[here.planned] >= 0).all():
        _line(pen, stage.spots[stage.place[here.planned]], PATH_COLOUR, 4)
    if stage.place[stage.goal] >= 0:
        _ring(pen, stage.spots[stage.place[stage.goal]], 11, PATH_COLOUR)
    ahead = stage.looks[here.position]
    aside = ahead[::-1] * (1, -1)
    middle = stage.spots[here.position]
    tip, left, right = middle + 13 * ahead, middle - 9 * ahead + 8 * aside, middle - 9 * ahead - 8 * aside
    pen.polygon([tuple(point) for point in (tip, left, right)], fill="white", outline="#1b1b1c", width=2)
    return panel


def _map_panel(moment: Moment, stage: Stage) -> Image.Image:
    """The map with the plan, the goal, and a disc at each node that the agent may be at: the likelier the larger."""
    panel = stage.chart.copy()
    pen = ImageDraw.Draw(panel)
    if len(moment.planned):
        _line(pen, stage.nodes[moment.planned], PATH_COLOUR, 3)
    _ring(pen, stage.nodes[stage.goal], 9, PATH_COLOUR)
    for node in np.flatnonzero(moment.belief > _SEEN).tolist():
        radius = 2 + 7 * float(moment.belief[node])
        x, y = stage.nodes[node]
        box = (x - radius, y - radius, x + radius, y + radius)
        pen.ellipse(box, fill=WALK_COLOUR, outline="white", width=1)
    return panel


def _line(pen: ImageDraw.ImageDraw, points: Points, colour: str, width: int) -> None:
    if len(points) > 1:
        pen.line([tuple(point) for point in points], fill=colour, width=width, joint="curve")


def _ring(pen: ImageDraw.ImageDraw, middle: Points, radius: float, colour: str) -> None:
    x, y = middle
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=colour, width=3)
