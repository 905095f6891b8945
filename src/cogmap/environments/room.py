"""The paper's aliased room: a grid with few colours, in which one patch occurs twice."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from cogmap.environments.table import (
    GRID_ACTIONS,
    check_sides,
    draw_observations,
    grid_coordinates,
    grid_moves,
    is_connected,
)
from cogmap.errors import BadWorld
from cogmap.records import Booleans, Integers, TableWorld

Bump = Literal["stay", "resample"]
Corner = tuple[int, int]  # row, column of a patch's upper left cell


class AliasedRoom(TableWorld):
    """A `height` x `width` room in which many cells share a colour, and a square patch occurs twice.

    patch: side of the patch; None is 4, or half the shorter side if that is less; 0 is no patch.
        The two copies neither overlap nor touch, not even at a corner, and contain no walls.
    walls: inner walls, as a boolean (H, W) array of blocked cells, a number of cells, or a share of the room.
    bump: what happens at a wall. "stay": the agent may try the move and stays in place.
        "resample": the agent draws only among the open moves.
    """

    height: int
    width: int
    patch: int
    patch_corners: tuple[Corner, ...]  # of the original and the copy; empty without a patch
    free: Booleans  # (H, W) false at walls

    def __init__(
        self,
        height: int = 15,
        width: int = 20,
        observations: int = 4,
        patch: int | None = None,
        walls: ArrayLike | None = None,
        bump: Bump = "stay",
        seed: int = 0,
    ) -> None:
        check_sides(height, width)
        if bump not in ("stay", "resample"):
            raise BadWorld(f'`bump` must be "stay" or "resample", got {bump!r}')
        rng = np.random.default_rng(seed)
        patch = _default_patch(height, width) if patch is None else patch
        blocked = _given_walls(walls, height, width)
        corners = _place_patches(rng, blocked, patch)
        free = _add_walls(rng, ~blocked, corners, patch, _number_of_walls(walls, height * width))
        next_position, open_moves = grid_moves(free)
        super().__init__(
            next_position=next_position,
            observation=_colour(rng, free, corners, patch, observations),
            num_observations=observations,
            legal=open_moves if bump == "resample" else None,
            coordinates=grid_coordinates(free),
            action_labels=GRID_ACTIONS,
            name="room",
        )
        free.flags.writeable = False
        for name, value in [("height", height), ("width", width), ("patch", patch), ("free", free)]:
            object.__setattr__(self, name, value)
        object.__setattr__(self, "patch_corners", corners)


def _default_patch(height: int, width: int) -> int:
    """4 in the paper's 15 x 20 room, 3 in its 6 x 8 room, and 0 where two patches of side 2 do not fit."""
    short, long = sorted((height, width))
    side = min(4, short // 2, (long - 1) // 2)
    return side if side >= 2 else 0


def _given_walls(walls: ArrayLike | None, height: int, width: int) -> Booleans:
    """(H, W): the blocked cells given by the caller; none if walls are to be drawn at random."""
    if walls is None or np.ndim(walls) == 0:
        return np.zeros((height, width), dtype=bool)
    blocked = np.asarray(walls)
    if blocked.dtype != bool or blocked.shape != (height, width):
        rule = f"`walls` must be a number, a share or a boolean array of shape (H, W) = {(height, width)}"
        raise BadWorld(f"{rule}, got dtype {blocked.dtype} and shape {blocked.shape}")
    if not is_connected(~blocked):
        raise BadWorld("`walls` must leave the free cells connected, got separate parts")
    return blocked.copy()


def _place_patches(rng: np.random.Generator, blocked: Booleans, patch: int) -> tuple[Corner, ...]:
    """Random corners for the patch and its copy, with at least one cell between them."""
    height, width = blocked.shape
    if patch == 0:
        return ()
    if patch < 0:
        raise BadWorld(f"`patch` must be 0 or more, got {patch}")
    if patch <= min(height, width):
        windows = np.lib.stride_tricks.sliding_window_view(blocked, (patch, patch))
        corners = np.argwhere(~windows.any(axis=(2, 3)))  # (corners, 2)
        for first in rng.permutation(corners):
            apart = np.abs(corners - first).max(axis=1) > patch
            if apart.any():
                second = rng.choice(corners[apart])
                return (int(first[0]), int(first[1])), (int(second[0]), int(second[1]))
    rule = (
        f"a {height} x {width} room must have free space for two {patch} x {patch} patches that do not touch"
    )
    raise BadWorld(f"{rule}; use a larger room or a smaller `patch`")


def _number_of_walls(walls: ArrayLike | None, cells: int) -> int:
    """How many walls to draw: an integer is a count, a float a share of the room's cells."""
    if walls is None or np.ndim(walls) > 0:
        return 0
    value = np.asarray(walls)[()]
    if isinstance(value, np.integer) and value >= 0:
        return int(value)
    if isinstance(value, np.floating) and 0 <= value < 1:
        return round(float(value) * cells)
    raise BadWorld(f"`walls` must be a number of cells from 0 or a share in [0, 1), got {walls!r}")


def _add_walls(
    rng: np.random.Generator, free: Booleans, corners: tuple[Corner, ...], patch: int, number: int
) -> Booleans:
    """(H, W): the free cells after blocking random cells outside the patches; the rest stays connected."""
    free = free.copy()
    may_block = free.copy()
    for row, column in corners:
        may_block[row : row + patch, column : column + patch] = False
    placed = 0
    for row, column in rng.permutation(np.argwhere(may_block)):
        if placed == number:
            break
        free[row, column] = False
        if is_connected(free):
            placed += 1
        else:
            free[row, column] = True
    if placed < number:
        rule = f"`walls` (={number} cells) must leave the patches alone and the free cells connected"
        raise BadWorld(f"{rule}, only {placed} could be placed")
    return free


def _colour(
    rng: np.random.Generator, free: Booleans, corners: tuple[Corner, ...], patch: int, observations: int
) -> Integers:
    """(P,): random observations. Each occurs, and the patch and its copy show the same."""
    original = np.arange(free.size).reshape(free.shape)  # (H, W) the cell whose colour each cell takes
    if corners:
        (row, column), (copy_row, copy_column) = corners
        source = original[row : row + patch, column : column + patch]
        original[copy_row : copy_row + patch, copy_column : copy_column + patch] = source
    _, group = np.unique(original[free], return_inverse=True)  # (P,)
    return draw_observations(rng, int(group.max()) + 1, observations)[group]
