"""Walls as few meshes: every face that can be seen is one quad, all quads of one paper one mesh.

A renderer's time goes by the number of things it draws, not by their size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cogmap.environments.egocentric.floor_plan import WALL, FloorPlan
from cogmap.records import Booleans, Floats

WALL_HEIGHT = 1.5  # metres; a cell is 1 m wide
_POSTER_HALF, _POSTER_MIDDLE = 0.33, 0.68  # metres
SIDES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])  # row, column: north, east, south, west
_WHOLE_PICTURE = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=np.float64)  # (4, 2) across, up


class Face(NamedTuple):
    """One side of a wall's cell."""

    row: int
    column: int
    side: int  # index into SIDES: where it looks


class Quads(NamedTuple):
    """Rectangles in space and the part of a picture that each shows."""

    corners: Floats  # (Q, 4, 3) lower left, lower right, upper right, upper left, seen from the front
    picture: Floats  # (Q, 4, 2) across and up, from 0 to 1


def is_wall(plan: FloorPlan) -> Booleans:
    """(H + 2, W + 2): the walls, the outer one included; cell (0, 0) of the plan is at [1, 1]."""
    return np.pad(plan.cells, 1, constant_values=WALL) == WALL


def wall_faces(plan: FloorPlan) -> list[Face]:
    """The sides of walls that no other wall hides, those that look out of the room included."""
    walls = np.pad(is_wall(plan), 1)
    return [
        Face(row - 2, column - 2, side)
        for row, column in np.argwhere(walls).tolist()
        for side, (down, right) in enumerate(SIDES.tolist())
        if not walls[row + down, column + right]
    ]


def wall_quads(faces: list[Face]) -> Quads:
    """Each face from the floor to the top of the wall, with the whole paper on it."""
    ends = [_ends(face, 0.5, 0.5) for face in faces]
    corners = np.array([_upright(*end, 0.0, WALL_HEIGHT) for end in ends]).reshape(-1, 4, 3)
    return Quads(corners, np.broadcast_to(_WHOLE_PICTURE, (len(faces), 4, 2)))


def poster_quads(faces: list[Face]) -> Quads:
    """Poster number i a finger's breadth before face i; all posters are side by side in one picture."""
    ends = [_ends(face, 0.51, _POSTER_HALF) for face in faces]
    low, high = _POSTER_MIDDLE - _POSTER_HALF, _POSTER_MIDDLE + _POSTER_HALF
    corners = np.array([_upright(*end, low, high) for end in ends]).reshape(-1, 4, 3)
    picture = np.tile(_WHOLE_PICTURE, (len(faces), 1, 1))
    picture[..., 0] = (picture[..., 0] + np.arange(len(faces))[:, None]) / max(len(faces), 1)
    return Quads(corners, picture)


def top_quads(plan: FloorPlan) -> Quads:
    """The walls seen from above."""
    cells = np.argwhere(is_wall(plan)) - 1  # (walls, 2) row, column
    x, y = place(cells[:, 0], cells[:, 1])
    across = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    flat = np.stack([x, y], axis=1)[:, None] + across  # (walls, 4, 2)
    corners = np.concatenate([flat, np.full((len(cells), 4, 1), WALL_HEIGHT)], axis=2)
    return Quads(corners, np.broadcast_to(_WHOLE_PICTURE, (len(cells), 4, 2)))


def place(row: ArrayLike, column: ArrayLike) -> tuple[Floats, Floats]:
    """x to the east and y to the north of the middle of a cell."""
    return np.asarray(column) + 0.5, -np.asarray(row) - 0.5


def _ends(face: Face, before: float, half: float) -> tuple[Floats, Floats]:
    """x, y of the left and right end of a face, for who looks at it; `before` its cell's middle, `half` its width."""
    x, y = place(face.row, face.column)
    down, right = SIDES[face.side]
    out = np.array([right, -down], dtype=np.float64)  # x, y
    to_the_right = np.array([-out[1], out[0]])
    middle = np.array([x, y]) + before * out
    return middle - half * to_the_right, middle + half * to_the_right


def _upright(left: Floats, right: Floats, low: float, high: float) -> Floats:
    """(4, 3) the corners of a rectangle that stands on its lower edge."""
    return np.array([(*left, low), (*right, low), (*right, high), (*left, high)])
