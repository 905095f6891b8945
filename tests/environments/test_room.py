import numpy as np
import pytest

from cogmap.environments import AliasedRoom
from cogmap.environments.table import is_connected
from cogmap.errors import BadWorld

MOVES = ("up", "down", "left", "right")


def as_grid(room):
    """(H, W): what is seen in each cell, -1 at walls."""
    grid = np.full((room.height, room.width), -1)
    grid[room.free] = room.observation
    return grid


@pytest.mark.parametrize(
    ("size", "side"), [((15, 20), 4), ((6, 8), 3), ((5, 5), 2), ((4, 4), 0), ((2, 40), 0)]
)
def test_default_patch_by_size(size, side):
    room = AliasedRoom(*size)
    assert room.patch == side
    assert len(room.patch_corners) == (2 if side else 0)


@pytest.mark.parametrize("size", [(15, 20), (6, 8), (7, 6)])
@pytest.mark.parametrize("seed", range(20))
def test_the_copy_shows_the_same_and_does_not_touch(size, seed):
    room = AliasedRoom(*size, observations=6, seed=seed)
    (row, column), (copy_row, copy_column) = room.patch_corners
    grid, side = as_grid(room), room.patch
    patch = grid[row : row + side, column : column + side]
    copy = grid[copy_row : copy_row + side, copy_column : copy_column + side]
    assert patch.shape == copy.shape == (side, side)
    assert np.array_equal(patch, copy)
    assert max(abs(row - copy_row), abs(column - copy_column)) > side  # a cell between them, at corners too


@pytest.mark.parametrize("observations", [1, 4, 12, 39])
@pytest.mark.parametrize("seed", range(5))
def test_every_observation_occurs(observations, seed):
    room = AliasedRoom(6, 8, observations=observations, seed=seed)  # 48 cells, 9 of them copies
    assert np.array_equal(np.unique(room.observation), np.arange(observations))


def test_moves_by_hand():
    room = AliasedRoom(2, 3, 2)
    #  0 1 2
    #  3 4 5
    up, down, left, right = (room.next_position[:, room.action_labels.index(name)].tolist() for name in MOVES)
    assert up == [0, 1, 2, 0, 1, 2]
    assert down == [3, 4, 5, 3, 4, 5]
    assert left == [0, 0, 1, 3, 3, 4]
    assert right == [1, 2, 2, 4, 5, 5]
    assert room.coordinates.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]


def test_bump_decides_what_is_legal_not_where_moves_lead():
    stay, resample = AliasedRoom(6, 8, bump="stay"), AliasedRoom(6, 8, bump="resample")
    assert stay.legal is None
    assert np.array_equal(stay.next_position, resample.next_position)
    moves = resample.next_position != np.arange(48)[:, None]
    assert np.array_equal(resample.legal, moves)
    assert resample.legal.sum() == 2 * (6 * 7 + 5 * 8)


def test_given_walls_block():
    walls = np.zeros((3, 3), dtype=bool)
    walls[1, 1] = True
    room = AliasedRoom(3, 3, 2, walls=walls)
    assert room.num_positions == 8
    assert np.array_equal(room.free, ~walls)
    assert room.next_position[1, 1] == 1  # down from the middle of the upper row is the wall
    assert room.next_position[0, 3] == 1


@pytest.mark.parametrize(("walls", "number"), [(40, 40), (0.2, 60), (0, 0), (0.0, 0)])
def test_drawn_walls_leave_the_rest_connected_and_the_patches_alone(walls, number):
    room = AliasedRoom(walls=walls, seed=5)
    assert (~room.free).sum() == number == 300 - room.num_positions
    assert is_connected(room.free)
    for row, column in room.patch_corners:
        assert room.free[row : row + 4, column : column + 4].all()


def test_tables_are_frozen():
    room = AliasedRoom(6, 8)
    with pytest.raises(ValueError, match="read-only"):
        room.observation[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        room.free[0] = False


def test_golden_room():
    """A room of a seed stays the same room, or published results stop being reproducible."""
    room = AliasedRoom(6, 8, 4, seed=0)
    assert room.patch_corners == ((3, 0), (1, 5))
    assert "".join(map(str, room.observation)) == "221122213113113102201033131310300330021203032203"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"height": 0}, "a grid must have at least 2 cells, got 0 x 20"),
        ({"height": 1, "width": 1}, "a grid must have at least 2 cells, got 1 x 1"),
        ({"height": 6, "width": 8, "patch": 4}, "a 6 x 8 room must have free space for two 4 x 4 patches"),
        ({"height": 3, "width": 3, "patch": 5}, "a 3 x 3 room must have free space for two 5 x 5 patches"),
        ({"patch": -1}, "`patch` must be 0 or more, got -1"),
        ({"observations": 0}, r"`observations` \(=0\) must be from 1 .* \(=284\)"),
        ({"observations": 285}, r"`observations` \(=285\) must be from 1 .* \(=284\)"),
        ({"bump": "bounce"}, '`bump` must be "stay" or "resample", got \'bounce\''),
        ({"walls": 290}, r"`walls` \(=290 cells\) must leave the patches alone .* only \d+ could be placed"),
        ({"walls": -1}, "number of cells from 0 or a share in .* got -1"),
        ({"walls": 1.5}, "number of cells from 0 or a share in .* got 1.5"),
        ({"walls": True}, "number of cells from 0 or a share in .* got True"),
        ({"walls": np.zeros((2, 2), bool)}, r"\(H, W\) = \(15, 20\), got dtype bool and shape \(2, 2\)"),
        ({"walls": np.zeros((15, 20))}, "got dtype float64"),
        (
            {"walls": np.arange(20) == np.full((15, 1), 7)},
            "must leave the free cells connected, got separate parts",
        ),
        ({"walls": np.ones((15, 20), bool)}, "must leave the free cells connected"),
    ],
)
def test_bad_rooms(options, message):
    with pytest.raises(BadWorld, match=message):
        AliasedRoom(**options)
