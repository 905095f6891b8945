"""Floor plans of 3D rooms: free cells, walls and pillars.

A plan is drawn with one character per cell: `.` free, `#` wall, `o` pillar. An outer wall surrounds it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.table import WALL, cells_of, is_connected
from cogmap.errors import BadWorld
from cogmap.records import Booleans

FREE, PILLAR = ".", "o"  # and WALL
LONGEST_WALL = 3  # cells in an inner wall
_CELLS_PER_WALL = 16  # one inner wall per this many cells of the room
_CELLS_PER_PILLAR = 20
_TRIES = 200


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """The drawing as an array. Every free cell is reachable from every other."""

    cells: NDArray[np.str_]  # (H, W) of FREE, WALL and PILLAR

    def __post_init__(self) -> None:
        odd = sorted(set(self.cells.ravel().tolist()) - {FREE, WALL, PILLAR})
        if odd:
            raise BadWorld(f"a floor plan must be drawn with `.`, `#` and `o`, got {odd[0]!r}")
        if not self.free.any():
            raise BadWorld("a floor plan must have a free cell, got none")
        if not is_connected(self.free):
            raise BadWorld("a floor plan's free cells must be connected, got separate parts")
        self.cells.flags.writeable = False

    @property
    def free(self) -> Booleans:
        """(H, W)"""
        return self.cells == FREE

    @property
    def height(self) -> int:
        return self.cells.shape[0]

    @property
    def width(self) -> int:
        return self.cells.shape[1]

    def __str__(self) -> str:
        return "\n".join("".join(row) for row in self.cells.tolist())


def plan_from_text(drawing: str) -> FloorPlan:
    """A floor plan from its drawing. Common indentation is removed; short lines are padded with walls."""
    return FloorPlan(cells_of(drawing, "a floor plan"))


def random_plan(height: int, width: int, rng: np.random.Generator) -> FloorPlan:
    """Straight inner walls of 2 or 3 cells and single pillars, one wall per 16 and one pillar per 20 cells."""
    if height < 1 or width < 1:
        raise BadWorld(f"a room must have at least one cell, got {height} x {width}")
    cells = np.full((height, width), FREE)
    for symbol, share in ((WALL, _CELLS_PER_WALL), (PILLAR, _CELLS_PER_PILLAR)):
        wanted = height * width // share
        for _ in range(_TRIES):
            if wanted == 0:
                break
            wanted -= _place(cells, symbol, rng)
    return FloorPlan(cells)


def _place(cells: NDArray[np.str_], symbol: str, rng: np.random.Generator) -> bool:
    """Try to place one obstacle at random. It may touch only the outer wall, and all free cells must stay connected."""
    shape = [1, 1]
    if symbol == WALL:
        shape[rng.integers(2)] = int(rng.integers(2, LONGEST_WALL + 1))
    rows, columns = cells.shape[0] - shape[0] + 1, cells.shape[1] - shape[1] + 1
    if min(rows, columns) < 1:
        return False
    row, column = int(rng.integers(rows)), int(rng.integers(columns))
    around = cells[max(row - 1, 0) : row + shape[0] + 1, max(column - 1, 0) : column + shape[1] + 1]
    if (around != FREE).any():
        return False
    spot = (slice(row, row + shape[0]), slice(column, column + shape[1]))
    cells[spot] = symbol
    if not is_connected(cells == FREE):
        cells[spot] = FREE
        return False
    return True
