import doctest

import numpy as np
import pytest

from cogmap.environments import from_tables, maze_from_text, table, torus
from cogmap.errors import BadWorld

UP, DOWN, LEFT, RIGHT = range(4)


def test_from_tables_counts_its_observations():
    world = from_tables([[1], [0]], [3, 0])
    assert world.num_observations == 4
    assert from_tables([[1], [0]], [3, 0], num_observations=7).num_observations == 7


def test_torus_wraps():
    world = torus(3, 4)
    #  0 1  2  3
    #  4 5  6  7
    #  8 9 10 11
    assert world.next_position[0].tolist() == [8, 4, 3, 1]
    assert world.next_position[11].tolist() == [7, 3, 10, 8]
    back = {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}
    for action, reverse in back.items():
        assert np.array_equal(world.next_position[world.next_position[:, action], reverse], np.arange(12))


def test_one_way_doors_shut_one_way_only():
    plain, doors = torus(4, 5, seed=2), torus(4, 5, one_way_doors=9, seed=2)
    shut = np.argwhere(plain.next_position != doors.next_position)
    assert len(shut) == 9
    for position, action in shut:
        beyond = plain.next_position[position, action]
        assert doors.next_position[position, action] == position
        assert position in doors.next_position[beyond]


def test_maze_by_hand():
    maze = maze_from_text(
        """
        #####
        #aba#
        #v#b#
        #b>a#
        #####
        """
    )
    #   0 1 2      a b a
    #   3   4      v   b
    #   5 6 7      b > a
    assert maze.observation_labels == (">", "a", "b", "v")
    assert [maze.observation_labels[seen] for seen in maze.observation] == list("abavbb>a")
    assert maze.coordinates[0].tolist() == [1, 1]
    expected = [
        [0, 3, 0, 1],  # down through the door
        [1, 1, 0, 2],
        [2, 4, 1, 2],
        [3, 5, 3, 3],  # a door is passed only in its direction
        [2, 7, 4, 4],
        [5, 5, 5, 6],  # up is the wrong side of the door
        [6, 6, 6, 7],
        [4, 7, 7, 7],  # left is the wrong side of the door
    ]
    assert maze.next_position.tolist() == expected


def test_short_lines_and_spaces_are_walls():
    maze = maze_from_text("ab\na\nabc\n  c")
    assert maze.coordinates.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2], [3, 2]]
    assert maze.next_position[1, DOWN] == 1  # below the first line's end the second has none


def test_docstring_runs():
    assert doctest.testmod(table) == doctest.TestResults(failed=0, attempted=2)


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("", "got an empty drawing"),
        ("  \n \n", "got an empty drawing"),
        ("###\n###", "at least 2 cells that are not walls, got 0"),
        ("#a#", "at least 2 cells that are not walls, got 1"),
        ("a\tb", "without tabs"),
        ("aa#aa", "no route leads from line 1, column 1 to line 1, column 4"),
        ("aa>aa", "no route leads from line 1, column 3 to line 1, column 1"),
        ("ab\n#>", r"no route leads from line \d, column \d to line \d, column \d"),
    ],
)
def test_bad_drawings(drawing, message):
    with pytest.raises(BadWorld, match=message):
        maze_from_text(drawing)


def test_bad_tori():
    with pytest.raises(BadWorld, match="a grid must have at least 2 cells, got 0 x 3"):
        torus(0, 3)
    with pytest.raises(
        BadWorld, match=r"`one_way_doors` \(=1000\) must be at least 0 .* \d+ could be placed"
    ):
        torus(3, 3, one_way_doors=1000)
    with pytest.raises(BadWorld, match=r"`one_way_doors` \(=-1\) must be at least 0"):
        torus(3, 3, one_way_doors=-1)
    with pytest.raises(BadWorld, match="`next_position` must be in"):
        from_tables([[2], [0]], [0, 0])
    with pytest.raises(BadWorld, match="`next_position` must hold integers"):
        from_tables([[1.5], [0]], [0, 0])
