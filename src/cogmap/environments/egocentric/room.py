"""An egocentric 3D room (section 4.3): the agent sees a view, and moves forward or turns left or right."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cogmap.environments.egocentric.floor_plan import FloorPlan, plan_from_text, random_plan
from cogmap.environments.egocentric.textures import TextureSource, choose_source
from cogmap.records import Floats, Integers, TableWorld

if TYPE_CHECKING:
    from cogmap.environments.egocentric.renderer import Images

EGOCENTRIC_ACTIONS = ("forward", "left", "right")
HEADINGS = ("north", "east", "south", "west")
AHEAD = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])  # (4, 2) row, column of a step along each heading


class EgocentricRoom(TableWorld):
    """A room of 1 m cells with inner walls and pillars, random from `seed` or given as a drawing.

    A position is (row, column, heading), numbered 4 * cell + heading, with cells counted row by row. `forward`
    moves one cell, or stays at a wall; `left` and `right` turn by 90 degrees.

    `observation` is the position's own number: the index of its view. The `views` are rendered once, on first
    use; a quantizer turns them into aliased observations. Floor plan and tables need no renderer.

    drawing: the floor plan, `.` free, `#` wall, `o` pillar; it overrides `height` and `width`.
    textures: "lab" are DeepMind Lab's, from the package labmaze; "painted" are our own; "auto" is "lab" if
        labmaze is installed, else "painted". They change the views, so a seed alone does not determine a room.
    """

    plan: FloorPlan
    seed: int
    textures: TextureSource

    def __init__(
        self,
        height: int = 9,
        width: int = 9,
        seed: int = 0,
        drawing: str | None = None,
        textures: TextureSource = "auto",
    ) -> None:
        rng = np.random.default_rng(seed)
        plan = random_plan(height, width, rng) if drawing is None else plan_from_text(drawing)
        positions = 4 * int(plan.free.sum())
        super().__init__(
            next_position=_egocentric_moves(plan),
            observation=np.arange(positions, dtype=np.int32),
            num_observations=positions,
            coordinates=_coordinates(plan),
            action_labels=EGOCENTRIC_ACTIONS,
            name="room3d",
        )
        for name, value in (("plan", plan), ("seed", seed), ("textures", choose_source(textures))):
            object.__setattr__(self, name, value)

    def places(self) -> Floats:
        """(P, 3): row, column and heading of each position."""
        return _coordinates(self.plan)

    @cached_property
    def views(self) -> Images:
        """(P, 64, 64, 3): the view at every position, rendered once."""
        from cogmap.environments.egocentric.renderer import render_views

        views = render_views(self)
        views.flags.writeable = False
        return views


def _egocentric_moves(plan: FloorPlan) -> Integers:
    """(P, 3): where forward, left and right lead from each cell and heading."""
    cells = np.argwhere(plan.free)  # (cells, 2)
    number = np.full((plan.height + 2, plan.width + 2), -1)  # with the outer wall around
    number[1:-1, 1:-1][plan.free] = np.arange(len(cells))
    ahead = cells[:, None] + AHEAD + 1  # (cells, 4, 2)
    reached = number[ahead[..., 0], ahead[..., 1]]  # (cells, 4) -1 at a wall
    here, heading = np.arange(len(cells))[:, None], np.arange(4)
    forward = 4 * np.where(reached < 0, here, reached) + heading
    left, right = 4 * here + (heading - 1) % 4, 4 * here + (heading + 1) % 4
    return np.stack([forward, left, right], axis=2).reshape(-1, 3).astype(np.int32)


def _coordinates(plan: FloorPlan) -> Floats:
    """(P, 3): row, column and heading of each position."""
    cells = np.repeat(np.argwhere(plan.free), 4, axis=0)
    heading = np.tile(np.arange(4), len(cells) // 4)
    return np.column_stack([cells, heading]).astype(np.float64)
