"""3D rooms without a renderer: floor plans, and tables of forward, left and right."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from cogmap.environments import EgocentricRoom, optimal_distances
from cogmap.environments.egocentric.floor_plan import FREE, PILLAR, WALL, plan_from_text, random_plan
from cogmap.environments.table import is_connected
from cogmap.errors import BadConfig, BadWorld

FORWARD, LEFT, RIGHT = range(3)
NORTH, EAST, SOUTH, WEST = range(4)
BEND = """
    ..
    #.
"""  # cells 0 and 1 above, 2 below 1


def position(cell: int, heading: int) -> int:
    return 4 * cell + heading


@pytest.fixture
def bend() -> EgocentricRoom:
    return EgocentricRoom(drawing=BEND, textures="painted")


@pytest.mark.parametrize(
    ("cell", "heading", "reached"),
    [
        (0, EAST, 1),
        (1, WEST, 0),
        (1, SOUTH, 2),
        (2, NORTH, 1),
        (0, NORTH, 0),  # the outer wall
        (0, SOUTH, 0),  # the inner one
        (2, WEST, 2),
    ],
)
def test_forward_goes_where_the_agent_looks_or_stays(bend, cell, heading, reached):
    assert bend.next_position[position(cell, heading), FORWARD] == position(reached, heading)


def test_turns_stay_in_the_cell(bend):
    assert bend.next_position[position(1, NORTH), LEFT] == position(1, WEST)
    assert bend.next_position[position(1, NORTH), RIGHT] == position(1, EAST)
    assert bend.next_position[position(1, WEST), RIGHT] == position(1, NORTH)


def test_forward_and_turning_do_not_commute(bend):
    table = bend.next_position
    start = position(0, NORTH)
    forward_first = table[table[start, FORWARD], RIGHT]
    turn_first = table[table[start, RIGHT], FORWARD]
    assert forward_first == position(0, EAST)
    assert turn_first == position(1, EAST)


def test_four_turns_are_none():
    room = EgocentricRoom(seed=2, textures="painted")
    for turn in (LEFT, RIGHT):
        place = np.arange(room.num_positions)
        for _ in range(4):
            place = room.next_position[place, turn]
        assert np.array_equal(place, np.arange(room.num_positions))


def test_coordinates_are_row_column_and_heading(bend):
    assert bend.coordinates.shape == (12, 3)
    assert bend.coordinates[position(2, SOUTH)].tolist() == [1, 1, SOUTH]
    assert np.array_equal(bend.places(), bend.coordinates)


def test_the_way_back_takes_two_turns(bend):
    distances = optimal_distances(bend)
    there = distances[position(0, EAST), position(2, SOUTH)]
    back = distances[position(2, SOUTH), position(0, EAST)]
    assert there == 3  # forward, right, forward
    assert back == 7  # about face, forward, left, forward, about face


@pytest.mark.parametrize("seed", range(8))
def test_random_plans_are_connected_and_hold_walls_and_pillars(seed):
    plan = random_plan(9, 9, np.random.default_rng(seed))
    assert plan.cells.shape == (9, 9)
    assert is_connected(plan.free)
    assert {FREE, WALL, PILLAR} == set(plan.cells.ravel().tolist())
    assert 200 <= 4 * plan.free.sum() <= 320  # "some hundred places"


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 12), (2, 2), (3, 30)])
def test_rooms_of_any_size(height, width):
    room = EgocentricRoom(height, width, textures="painted")
    assert room.plan.cells.shape == (height, width)


def test_a_plan_goes_to_text_and_back():
    plan = random_plan(7, 11, np.random.default_rng(5))
    assert np.array_equal(plan_from_text(str(plan)).cells, plan.cells)


def test_short_lines_are_padded_with_walls():
    assert str(plan_from_text("...\n.\n..o")) == "...\n.##\n..o"


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        ("##\n##", "a floor plan must have a free cell, got none"),
        ("", "a floor plan must have a free cell, got an empty drawing"),
        (".#.", "a floor plan's free cells must be connected, got separate parts"),
        (".x.", "a floor plan must be drawn with `.`, `#` and `o`, got 'x'"),
        (".\t.", "a floor plan must be drawn without tabs"),
    ],
)
def test_a_bad_plan_is_reported_in_one_line(drawing, message):
    with pytest.raises(BadWorld, match=message.replace(".", r"\.").replace("`", "`")):
        EgocentricRoom(drawing=drawing)


def test_a_room_needs_a_cell_and_known_textures():
    with pytest.raises(BadWorld, match="a room must have at least one cell, got 0 x 9"):
        EgocentricRoom(0, 9)
    with pytest.raises(BadConfig, match='`textures` must be "auto", "lab" or "painted", got \'stone\''):
        EgocentricRoom(textures="stone")


def test_floor_plan_and_tables_need_no_renderer():
    script = (
        "import sys; sys.modules['mujoco'] = sys.modules['sklearn'] = sys.modules['PIL'] = None\n"
        "import cogmap; room = cogmap.EgocentricRoom(seed=1); cogmap.check_environment(room)\n"
        "print(room.num_positions)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(ended.stdout) == EgocentricRoom(seed=1).num_positions
