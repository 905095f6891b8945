"""A film of a navigator in a 3D room: its view, the room from above, and its belief on the map."""

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
from cogmap.report.style import INK, styled

PANEL, GAP, CAPTION = 360, 8, 44  # pixels
SECONDS_PER_STEP, SECONDS_AT_THE_END = 0.35, 2.5
_MIN_BELIEF = 0.02  # from which a node is drawn
Points = NDArray[np.float64]  # (..., 2) x, y in pixels of a panel


@dataclass(frozen=True, eq=False)
class Moment:
    """One step of a journey."""

    view: NDArray[np.uint8]  # (H, W, 3)
    position: int  # the true one
    belief: Floats  # (V,)
    planned: Integers  # (L + 1,) nodes from here to the goal; empty while the agent is not localised
    caption: str


@dataclass(frozen=True, eq=False)
class Background:
    """What is the same in all frames of a film."""

    room: Image.Image  # from above, north up
    cells: Points  # (P, 2) the middle of each position's cell in the room
    headings: Points  # (P, 2) the direction of each position as a unit vector
    map: Image.Image
    nodes: Points  # (V, 2) in the map
    place: Integers  # (V,) the position that each node stands for, to draw plans in the room
    goal: int  # a node


def journey_moments(
    navigator: Navigator, stepper: PixelStepper, goal: int, max_steps: int = 150
) -> Iterator[Moment]:
    """The navigator's journey to a node, from its first view on. The navigator gets views and nothing else."""
    navigator.observe(None, stepper.observation)
    for step in range(max_steps + 1):
        action = navigator.next_action(goal)
        localised = navigator.certainty >= navigator.sure
        planned = navigator.plan(goal).nodes if localised else np.zeros(0, dtype=np.int32)
        yield Moment(
            stepper.image, stepper.position, navigator.belief, planned, _caption(navigator, planned, action)
        )
        if action is None or step == max_steps:
            return
        navigator.observe(action, stepper(action))


def film_background(
    room: EgocentricRoom, cognitive_map: CognitiveMap, layout: Floats, place: Integers, goal: int
) -> Background:
    with open_renderer(room, PORTRAIT) as renderer:
        picture, metres = renderer.from_above(), renderer.metres_high()
    side = (picture.shape[1] - picture.shape[0]) // 2
    square = Image.fromarray(picture[:, side : picture.shape[1] - side])
    pixels = PANEL / metres  # of a metre on the floor
    middle = np.array([room.plan.width, room.plan.height]) / 2 - 0.5
    cells = (room.places()[:, 1::-1] - middle) * pixels + PANEL / 2
    drawn_map, nodes = _draw_map(cognitive_map, layout)
    headings = AHEAD[room.places()[:, 2].astype(int), ::-1].astype(np.float64)
    above = square.resize((PANEL, PANEL), Image.Resampling.LANCZOS)
    return Background(above, cells, headings, drawn_map, nodes, place, goal)


def draw_film(moments: Sequence[Moment], background: Background) -> list[Image.Image]:
    """One frame for each moment, with the walk so far and the planned path."""
    return [_frame(moments, step, background) for step in range(len(moments))]


def save_gif(path: str | Path, frames: Sequence[Image.Image]) -> None:
    """All frames as one GIF, written whole or not at all."""
    colours = _common_colours(frames)
    few = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    times = [round(1000 * SECONDS_PER_STEP)] * (len(few) - 1) + [round(1000 * SECONDS_AT_THE_END)]
    with write_whole(path) as stream:
        few[0].save(
            stream, format="gif", save_all=True, append_images=few[1:], duration=times, loop=0, optimize=True
        )


def _caption(navigator: Navigator, planned: Integers, action: int | None) -> str:
    if action is None:
        return "at the goal"
    if not len(planned):
        possible = int((navigator.belief > _MIN_BELIEF).sum())
        return f"not localised: {possible} possible places"
    steps = len(planned) - 1
    return f"localised: {steps} action{'' if steps == 1 else 's'} to go"


def _draw_map(cognitive_map: CognitiveMap, layout: Floats) -> tuple[Image.Image, Points]:
    """The map, drawn once, and the pixels of its nodes."""
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


def _common_colours(frames: Sequence[Image.Image]) -> Image.Image:
    """A palette of 256 colours for all frames. It must contain the colours of the small marks."""
    shown = frames[:: max(1, len(frames) // 6)]
    side = shown[0].height
    sheet = Image.new("RGB", (shown[0].width, side * (len(shown) + 1)), "white")
    for row, frame in enumerate(shown):
        sheet.paste(frame, (0, side * row))
    for column, colour in enumerate((WALK_COLOUR, PATH_COLOUR, INK)):
        sheet.paste(colour, (side * column, side * len(shown), side * (column + 1), side * (len(shown) + 1)))
    return sheet.quantize(256)


def _frame(moments: Sequence[Moment], step: int, background: Background) -> Image.Image:
    moment = moments[step]
    frame = Image.new("RGB", (3 * PANEL + 4 * GAP, PANEL + CAPTION + GAP), "white")
    view = Image.fromarray(moment.view).resize((PANEL, PANEL), Image.Resampling.NEAREST)
    panels = (view, _room_panel(moments, step, background), _map_panel(moment, background))
    for index, panel in enumerate(panels):
        frame.paste(panel, (GAP + index * (PANEL + GAP), GAP))
    pen, baseline = ImageDraw.Draw(frame), PANEL + GAP + CAPTION // 2
    font = ImageFont.load_default(17)
    captions = ("the agent's view", "its true position", moment.caption)
    for index, caption in enumerate(captions):
        at = (GAP + index * (PANEL + GAP) + PANEL / 2, baseline)
        pen.text(at, caption, fill=INK, font=font, anchor="mm")
    return frame


def _room_panel(moments: Sequence[Moment], step: int, background: Background) -> Image.Image:
    """The room with the walk so far, the planned path, the goal and the agent."""
    panel = background.room.copy()
    pen, here = ImageDraw.Draw(panel), moments[step]
    cells, place = background.cells, background.place
    _line(pen, cells[[moment.position for moment in moments[: step + 1]]], WALK_COLOUR, 3)
    if len(here.planned) and (place[here.planned] >= 0).all():
        _line(pen, cells[place[here.planned]], PATH_COLOUR, 4)
    if place[background.goal] >= 0:
        _ring(pen, cells[place[background.goal]], 11, PATH_COLOUR)
    ahead, middle = background.headings[here.position], cells[here.position]
    aside = ahead[::-1] * (1, -1)
    tip, left, right = middle + 13 * ahead, middle - 9 * ahead + 8 * aside, middle - 9 * ahead - 8 * aside
    pen.polygon([tuple(point) for point in (tip, left, right)], fill="white", outline=INK, width=2)
    return panel


def _map_panel(moment: Moment, background: Background) -> Image.Image:
    """The map with the plan, the goal, and a disc at each possible node, larger for a higher probability."""
    panel = background.map.copy()
    pen = ImageDraw.Draw(panel)
    if len(moment.planned):
        _line(pen, background.nodes[moment.planned], PATH_COLOUR, 3)
    _ring(pen, background.nodes[background.goal], 9, PATH_COLOUR)
    for node in np.flatnonzero(moment.belief > _MIN_BELIEF).tolist():
        radius = 2 + 7 * float(moment.belief[node])
        x, y = background.nodes[node]
        box = (x - radius, y - radius, x + radius, y + radius)
        pen.ellipse(box, fill=WALK_COLOUR, outline="white", width=1)
    return panel


def _line(pen: ImageDraw.ImageDraw, points: Points, colour: str, width: int) -> None:
    if len(points) > 1:
        pen.line([tuple(point) for point in points], fill=colour, width=width, joint="curve")


def _ring(pen: ImageDraw.ImageDraw, middle: Points, radius: float, colour: str) -> None:
    x, y = middle
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=colour, width=3)
