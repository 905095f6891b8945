"""The paper's aliased cube: a grid on the surface of a cube, which has no border.

The faces unfold to a cross. On each face, `up`, `down`, `left` and `right` are the directions in this drawing:

          top
    left  front  right  back
          bottom
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.table import GRID_ACTIONS, draw_observations
from cogmap.errors import BadWorld
from cogmap.records import Floats, Integers, TableWorld

Whole = NDArray[np.int_]
FACES = ("front", "right", "back", "left", "top", "bottom")
# Axes: x to the right, y up, z towards the viewer of the front face.
_NORMAL = np.array([(0, 0, 1), (1, 0, 0), (0, 0, -1), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])  # (6, 3)
_DOWN = np.array([(0, -1, 0), (0, -1, 0), (0, -1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])  # (6, 3)
_RIGHT = np.array([(1, 0, 0), (0, 0, -1), (-1, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 0)])  # (6, 3)
_HEADING = np.stack(
    [-_DOWN, _DOWN, -_RIGHT, _RIGHT], axis=1
)  # (6, A, 3) direction of each action on each face
_UNFOLDED = np.array([(1, 1), (1, 2), (1, 3), (1, 0), (0, 1), (2, 1)])  # (6, 2) row, column of each face


class AliasedCube(TableWorld):
    """6 faces of `edge` x `edge` cells. A move over an edge leads to the adjacent cell of the next face.

    Cells are numbered face by face and row by row. `coordinates` are row and column in the unfolded cross;
    `face`, `centres` and `corners` are for 3D drawings.
    """

    edge: int
    face: Integers  # (P,) index into FACES
    centres: Floats  # (P, 3) centre of each cell, on a cube from -edge to edge
    corners: Floats  # (P, 4, 3) the corners of each cell, in order around it

    def __init__(self, edge: int = 6, observations: int = 12, seed: int = 0) -> None:
        if edge < 1:
            raise BadWorld(f"`edge` must be at least 1, got {edge}")
        face, row, column = (axis.ravel() for axis in np.indices((6, edge, edge)))  # each (P,)
        centres = _centres(edge, face, row, column)
        super().__init__(
            next_position=_walk_tables(edge, face, centres).astype(np.int32),
            observation=draw_observations(np.random.default_rng(seed), face.size, observations),
            num_observations=observations,
            coordinates=_UNFOLDED[face] * edge + np.stack([row, column], axis=1),
            action_labels=GRID_ACTIONS,
            name="cube",
        )
        across = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)])  # (4, 2) down, right
        offsets = across @ np.stack([_DOWN[face], _RIGHT[face]], axis=1)  # (P, 4, 3)
        object.__setattr__(self, "edge", edge)
        object.__setattr__(self, "face", face.astype(np.int32))
        object.__setattr__(self, "centres", centres.astype(np.float64))
        object.__setattr__(self, "corners", (centres[:, None] + offsets).astype(np.float64))

    def follow(self, position: int, action: int, steps: int) -> Integers:
        """(steps + 1,): the cells visited by going straight; the heading is kept across the cube's edges."""
        place = self.centres[position].astype(int)
        heading = _HEADING[self.face[position], action]
        index = {tuple(centre): cell for cell, centre in enumerate(self.centres.astype(int).tolist())}
        visited = [position]
        for _ in range(steps):
            place, heading = (pair[0] for pair in _advance(self.edge, place[None], heading[None]))
            visited.append(index[tuple(place.tolist())])
        return np.array(visited, dtype=np.int32)


def _centres(edge: int, face: Whole, row: Whole, column: Whole) -> Whole:
    """(P, 3): the centre of each cell relative to the cube's centre, in half cells, so all are integers."""
    down, right = 2 * row - (edge - 1), 2 * column - (edge - 1)
    return edge * _NORMAL[face] + down[:, None] * _DOWN[face] + right[:, None] * _RIGHT[face]


def _advance(edge: int, place: Whole, heading: Whole) -> tuple[Whole, Whole]:
    """Move many agents one cell straight ahead: place and heading, each (agents, 3).

    Over an edge, the new heading is opposite to the normal of the face just left.
    """
    normal = np.where(np.abs(place) == edge, np.sign(place), 0)
    leaves = (place * heading).sum(axis=1, keepdims=True) == edge - 1
    # Over the edge: the new face is the one the heading points at; the cell is in the row next to the old face.
    over = place + heading - normal
    return np.where(leaves, over, place + 2 * heading), np.where(leaves, -normal, heading)


def _walk_tables(edge: int, face: Whole, centres: Whole) -> Whole:
    """(P, A): the cell that each action leads to."""
    side = 2 * edge + 1
    key = (centres + edge) @ (side * side, side, 1)  # (P,) one number for each point in space
    order = np.argsort(key)
    columns = []
    for action in range(len(GRID_ACTIONS)):
        target, _ = _advance(edge, centres, _HEADING[face, action])
        columns.append(order[np.searchsorted(key[order], (target + edge) @ (side * side, side, 1))])
    return np.stack(columns, axis=1)
