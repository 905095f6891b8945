import numpy as np
import pytest

from cogmap.environments import AliasedCube
from cogmap.environments.cube import FACES
from cogmap.errors import BadWorld

UP, DOWN, LEFT, RIGHT = range(4)
edges = pytest.mark.parametrize("edge", [1, 2, 3, 6])


def cell(cube, face, row, column):
    return FACES.index(face) * cube.edge**2 + row * cube.edge + column


@edges
def test_going_straight_on_returns_after_four_edges(edge):
    cube = AliasedCube(edge, observations=2)
    for position in range(cube.num_positions):
        for action in range(4):
            met = cube.follow(position, action, 4 * edge)
            assert met[-1] == position
            assert len(set(met[:-1].tolist())) == 4 * edge  # a ring: nothing twice on the way
            assert met[1] == cube.next_position[position, action]
            assert len(set(cube.face[met].tolist())) == 4


@edges
def test_every_cell_has_four_neighbours_and_is_theirs(edge):
    cube = AliasedCube(edge, observations=2)
    assert cube.num_positions == 6 * edge * edge
    neighbours = [set(row) for row in cube.next_position.tolist()]
    for position, around in enumerate(neighbours):
        assert len(around - {position}) == 4
        assert all(position in neighbours[other] for other in around)


@edges
def test_neighbours_touch_in_space(edge):
    cube = AliasedCube(edge, observations=2)
    shared = (cube.corners[:, None, :, None] == cube.corners[cube.next_position][:, :, None]).all(
        -1
    )  # (P, A, 4, 4)
    assert (shared.any(axis=-1).sum(axis=-1) == 2).all()  # two corners in common: one side
    assert np.allclose(cube.corners.mean(axis=1), cube.centres)
    assert (np.abs(cube.corners).max(axis=(1, 2)) == edge).all()


def test_edges_by_hand():
    """Six seams of a cube of edge 3, each read off a paper model."""
    cube = AliasedCube(3)
    step = cube.next_position
    assert step[cell(cube, "front", 1, 2), RIGHT] == cell(cube, "right", 1, 0)
    assert step[cell(cube, "back", 0, 2), RIGHT] == cell(cube, "left", 0, 0)
    assert step[cell(cube, "front", 0, 1), UP] == cell(cube, "top", 2, 1)
    assert step[cell(cube, "front", 2, 0), DOWN] == cell(cube, "bottom", 0, 0)
    assert step[cell(cube, "top", 0, 0), UP] == cell(cube, "back", 0, 2)  # upside down behind
    assert step[cell(cube, "top", 1, 0), LEFT] == cell(cube, "left", 0, 1)
    assert step[cell(cube, "top", 0, 2), RIGHT] == cell(cube, "right", 0, 2)
    assert step[cell(cube, "bottom", 2, 1), DOWN] == cell(cube, "back", 2, 1)
    assert step[cell(cube, "bottom", 0, 2), RIGHT] == cell(cube, "right", 2, 0)


def test_the_unfolded_cross_joins_what_adjoins():
    """Where two cells lie side by side in the drawing, the move between them is the drawing's own."""
    cube = AliasedCube(4)
    at = {tuple(place): position for position, place in enumerate(cube.coordinates.astype(int).tolist())}
    joined = 0
    for (row, column), position in at.items():
        for action, (down, right) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
            other = at.get((row + down, column + right))
            if other is not None:
                joined += 1
                assert cube.next_position[position, action] == other
    assert joined == 2 * (6 * 2 * 4 * 3 + 5 * 4)  # within six faces, and five seams of the cross


def test_straight_on_keeps_its_heading_over_a_turned_edge():
    cube = AliasedCube(2)
    met = cube.follow(cell(cube, "top", 0, 0), LEFT, 8)
    faces = [FACES[face] for face in cube.face[met]]
    assert faces == ["top", "left", "left", "bottom", "bottom", "right", "right", "top", "top"]


@pytest.mark.parametrize("observations", [1, 12, 216])
def test_every_observation_occurs(observations):
    assert np.array_equal(
        np.unique(AliasedCube(observations=observations).observation), np.arange(observations)
    )


def test_bad_cubes():
    with pytest.raises(BadWorld, match="`edge` must be at least 1, got 0"):
        AliasedCube(edge=0)
    with pytest.raises(BadWorld, match=r"`observations` \(=55\) must be from 1 .* \(=54\)"):
        AliasedCube(edge=3, observations=55)
