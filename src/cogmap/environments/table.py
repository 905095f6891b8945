"""Table worlds: from arrays, a torus with one-way doors, a maze drawn as text; and grid helpers."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cogmap.environments.oracle import unreachable
from cogmap.errors import BadWorld
from cogmap.records import Booleans, Floats, Integers, TableWorld

Characters = NDArray[np.str_]
GRID_ACTIONS = ("up", "down", "left", "right")
GRID_MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])  # (A, 2) row, column
WALL = "#"
DOORS = {"^": 0, "v": 1, "<": 2, ">": 3}  # the only action that passes the door


def from_tables(next_position: ArrayLike, observation: ArrayLike, **fields: Any) -> TableWorld:
    """A deterministic world from its next positions (P, A) and the observation at each position (P,).

    fields: other fields of `TableWorld`; `num_observations` is by default the largest observation plus one.
    """
    seen = np.asarray(observation)
    if "num_observations" not in fields:
        fields["num_observations"] = int(seen.max()) + 1 if seen.size else 0
    return TableWorld(next_position=np.asarray(next_position), observation=seen, **fields)


def torus(
    height: int = 6, width: int = 8, observations: int = 4, one_way_doors: int = 0, seed: int = 0
) -> TableWorld:
    """A grid whose opposite borders are joined.

    one_way_doors: number of moves, drawn at random, that are blocked in one direction and open in the other.
        Every cell can still be reached from every other.
    """
    check_sides(height, width)
    rng = np.random.default_rng(seed)
    free = np.ones((height, width), dtype=bool)
    next_position, _ = grid_moves(free, wrap=True)
    return TableWorld(
        next_position=_shut_doors(rng, next_position, one_way_doors),
        observation=draw_observations(rng, free.size, observations),
        num_observations=observations,
        coordinates=grid_coordinates(free),
        action_labels=GRID_ACTIONS,
        name="torus",
    )


def _shut_doors(rng: np.random.Generator, next_position: Integers, doors: int) -> Integers:
    """(P, A): the table with `doors` moves blocked, such that every cell stays reachable."""
    shut = next_position.copy()
    number = doors
    for position, action in rng.permutation(list(np.ndindex(*next_position.shape))):
        if number <= 0:
            break
        target = shut[position, action]
        way_back_is_open = (shut[target] == position).any()
        if target == position or not way_back_is_open:
            continue
        shut[position, action] = position
        if unreachable(shut) is None:
            number -= 1
        else:
            shut[position, action] = target
    if number != 0:
        rule = f"`one_way_doors` (={doors}) must be at least 0 and leave every cell reachable"
        raise BadWorld(f"{rule}, {doors - number} could be placed")
    return shut


def maze_from_text(drawing: str) -> TableWorld:
    """A maze from a drawing with one character per cell.

        `#` or a space     a wall; everything outside the drawing is wall too
        `^` `v` `<` `>`    a one-way door: a cell entered and left only by the move it points to
        anything else      a free cell; the character is its observation

    A blocked move stays in place. A door's observation is its own character. Observations are numbered
    in the order of their characters, which become the labels. Common indentation is removed.

    >>> maze = maze_from_text('''
    ...     abab
    ...     b##v
    ...     abab
    ... ''')
    >>> maze.num_positions, maze.observation_labels
    (10, ('a', 'b', 'v'))
    """
    cells = cells_of(drawing, "a maze")
    free = (cells != WALL) & (cells != " ")
    if free.sum() < 2:
        raise BadWorld(f"a maze must have at least 2 cells that are not walls, got {free.sum()}")
    next_position = _through_doors(cells[free], *grid_moves(free))
    stranded = unreachable(next_position)
    if stranded is not None:
        start, goal = (_place(free, position) for position in stranded)
        raise BadWorld(
            f"every cell of a maze must be reachable from every other, no route leads from {start} to {goal}"
        )
    labels, observation = np.unique(cells[free], return_inverse=True)
    return TableWorld(
        next_position=next_position,
        observation=observation.astype(np.int32),
        num_observations=len(labels),
        coordinates=grid_coordinates(free),
        observation_labels=tuple(labels.tolist()),
        action_labels=GRID_ACTIONS,
        name="maze",
    )


def _through_doors(
    character: np.ndarray[Any, Any], next_position: Integers, open_moves: Booleans
) -> Integers:
    """(P, A): next positions with doors, which are entered and left by their own action only."""
    passes = np.array([DOORS.get(symbol, -1) for symbol in character])  # (P,) -1 where there is no door
    action = np.arange(len(GRID_MOVES))
    leaves = (passes[:, None] == -1) | (passes[:, None] == action)  # (P, A)
    enters = (passes[next_position] == -1) | (passes[next_position] == action)  # (P, A)
    stay = np.arange(len(character))[:, None]
    return np.where(open_moves & leaves & enters, next_position, stay).astype(np.int32)


def _place(free: Booleans, position: int) -> str:
    row, column = np.argwhere(free)[position]
    return f"line {row + 1}, column {column + 1}"


def cells_of(drawing: str, kind: str) -> Characters:
    """(H, W): one character per cell. Common indentation is removed; short lines are padded with walls.

    kind: what is drawn, for error messages.
    """
    if "\t" in drawing:
        raise BadWorld(f"{kind} must be drawn without tabs, got one: a tab has no fixed width")
    lines = [line.rstrip() for line in dedent(drawing).strip("\n").splitlines()]
    width = max((len(line) for line in lines), default=0)
    if width == 0:
        raise BadWorld(f"{kind} must have a free cell, got an empty drawing")
    return np.array([list(line.ljust(width, WALL)) for line in lines])


def grid_moves(free: Booleans, wrap: bool = False) -> tuple[Integers, Booleans]:
    """Where each move leads, and which moves are open. Free cells are numbered row by row.

    A blocked move stays in place. `wrap` joins opposite borders of the grid.

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
    """Whether every free cell can be reached from every other."""
    from scipy.ndimage import label

    return bool(label(free)[1] == 1)


def draw_observations(rng: np.random.Generator, cells: int, observations: int) -> Integers:
    """(cells,): a uniformly random observation for each cell, such that every observation occurs."""
    if not 1 <= observations <= cells:
        raise BadWorld(
            f"`observations` (={observations}) must be from 1 to the number of cells that may differ (={cells})"
        )
    drawn = rng.integers(observations, size=cells, dtype=np.int32)
    drawn[rng.permutation(cells)[:observations]] = np.arange(observations)
    return drawn


def check_sides(height: int, width: int) -> None:
    if height < 1 or width < 1 or height * width < 2:
        raise BadWorld(f"a grid must have at least 2 cells, got {height} x {width}")
