"""What every world on a grid shares: four moves, and the tables that a drawing of free cells gives."""

from __future__ import annotations

import numpy as np

from cogmap.errors import BadWorld
from cogmap.records import Booleans, Floats, Integers

GRID_ACTIONS = ("up", "down", "left", "right")
GRID_MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])  # (A, 2) row, column


def grid_moves(free: Booleans, wrap: bool = False) -> tuple[Integers, Booleans]:
    """Where each move leads among the free cells, numbered row by row, and which moves are not blocked.

    A blocked move stays in place. With `wrap` the grid's opposite borders are joined.

    Returns: next_position (P, A), open_moves (P, A)
    """
    height, width = free.shape
    position = np.full(free.shape, -1)  # (H, W)
    position[free] = np.arange(free.sum())
    target = np.argwhere(free)[:, None, :] + GRID_MOVES  # (P, A, 2)
    if wrap:
        target %= (height, width)
    inside = ((target >= 0) & (target < (height, width))).all(axis=2)  # (P, A)
    row, column = np.where(inside[..., None], target, 0).transpose(2, 0, 1)
    open_moves = inside & free[row, column]
    stay = np.arange(position.max() + 1)[:, None]
    return np.where(open_moves, position[row, column], stay).astype(np.int32), open_moves


def grid_coordinates(free: Booleans) -> Floats:
    """(P, 2): row and column of each free cell."""
    return np.argwhere(free).astype(np.float64)


def is_connected(free: Booleans) -> bool:
    """Whether every free cell can be walked to from every other."""
    from scipy.ndimage import label

    return bool(label(free)[1] == 1)


def draw_all(rng: np.random.Generator, cells: int, observations: int) -> Integers:
    """(cells,): a uniform observation for each cell, but in `observations` random cells one of each."""
    if not 1 <= observations <= cells:
        raise BadWorld(
            f"`observations` (={observations}) must be from 1 to the cells that may differ (={cells})"
        )
    drawn = rng.integers(observations, size=cells, dtype=np.int32)
    drawn[rng.permutation(cells)[:observations]] = np.arange(observations)
    return drawn


def check_sides(height: int, width: int) -> None:
    if height < 1 or width < 1 or height * width < 2:
        raise BadWorld(f"a grid must have at least 2 cells, got {height} x {width}")
