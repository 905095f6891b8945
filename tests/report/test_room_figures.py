"""Pictures of worlds: the right colours in the right cells, patches framed, walks broken at seams."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cogmap.environments.cube import AliasedCube
from cogmap.environments.egocentric import EgocentricRoom
from cogmap.environments.room import AliasedRoom
from cogmap.environments.streets import street_network
from cogmap.environments.table import torus
from cogmap.errors import BadOutput, BadWorld
from cogmap.records import TableWorld
from cogmap.report.colours import WALK_COLOUR, observation_colours
from cogmap.report.room_figures import cell_centres, draw_world, world_figure
from cogmap.report.style import save_figure

ROOM = AliasedRoom(6, 9, observations=4, patch=3, walls=4, seed=3)


def artists(figure, kind):
    return [artist for artist in figure.axes[0].get_children() if type(artist) is kind]


def test_each_cell_has_the_colour_of_what_is_seen_there():
    (cells,) = artists(world_figure(ROOM), PolyCollection)
    centres = np.array([path.vertices[:4].mean(axis=0) for path in cells.get_paths()])  # (P, 2) x, y
    assert np.allclose(centres[:, ::-1], ROOM.coordinates)
    drawn = [to_hex(colour) for colour in cells.get_facecolor()]
    colours = observation_colours(4)
    assert drawn == [colours[seen] for seen in ROOM.observation]


def test_rows_count_downwards():
    bottom, top = world_figure(ROOM).axes[0].get_ylim()
    assert bottom > top


def test_both_patches_are_framed():
    frames = [frame for frame in artists(world_figure(ROOM), Rectangle) if not frame.get_fill()]
    corners = {(frame.get_y() + 0.5, frame.get_x() + 0.5) for frame in frames}
    assert corners == set(ROOM.patch_corners)
    assert {(frame.get_width(), frame.get_height()) for frame in frames} == {(3, 3)}


def test_a_walk_is_fuchsia_and_skips_bumps_and_seams():
    world = torus(3, 4)
    # Right, right, a stay, then left over the seam from column 0 to column 3.
    walk = np.array([0, 1, 2, 2, 1, 0, 3])
    _, line = artists(world_figure(world, walk), LineCollection)
    assert to_hex(line.get_colors()[0]) == WALK_COLOUR
    assert len(line.get_segments()) == 4
    ends = np.array(line.get_segments())  # (4, 2, 2) x, y
    assert np.abs(ends[:, :, 1]).max() < 0.5
    assert np.rint(ends[:, 0, 0]).tolist() == [0, 1, 2, 1]


def test_a_cube_unfolds_into_a_cross():
    (cells,) = artists(world_figure(AliasedCube(edge=2)), PolyCollection)
    centres = {tuple(np.rint(path.vertices[:4].mean(axis=0)).astype(int)) for path in cells.get_paths()}
    assert len(centres) == 24
    assert max(x for x, _ in centres) == 7
    assert max(y for _, y in centres) == 5


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_saving(tmp_path, suffix, start):
    save_figure(world_figure(ROOM), tmp_path / f"room.{suffix}")
    assert (tmp_path / f"room.{suffix}").read_bytes().startswith(start)


def test_the_same_figure_gives_the_same_svg(tmp_path):
    for name in ("a.svg", "b.svg"):
        save_figure(world_figure(ROOM, np.array([0, 1, 2])), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_cannot_be_drawn_or_written(tmp_path):
    with pytest.raises(BadWorld, match="a world must have coordinates to be drawn, got none for 'table'"):
        world_figure(TableWorld(np.array([[0]]), np.array([0]), 1))
    with pytest.raises(BadOutput, match=r"a figure must end in \.png, \.svg or \.pdf, got 'room\.gif'"):
        save_figure(world_figure(ROOM), tmp_path / "room.gif")


def test_a_heading_is_drawn_at_the_side_it_looks_to():
    room = EgocentricRoom(drawing="..\n..", textures="painted")
    points = cell_centres(room)
    north, east, south, west = points[4:8]  # of the cell in row 0, column 1
    assert north[1] < south[1]  # rows count downwards
    assert west[0] < east[0]
    assert np.allclose((north + south) / 2, (1, 0))
    assert np.allclose((east + west) / 2, (1, 0))


def test_the_four_headings_share_their_cell():
    axes = Figure().add_subplot()
    draw_world(axes, EgocentricRoom(drawing="...", textures="painted"))
    (cells,) = axes.collections
    shapes = np.array([path.vertices[:3] for path in cells.get_paths()])  # (P, 3, 2)
    assert shapes.shape == (12, 3, 2)
    first, second = shapes[:, 1] - shapes[:, 0], shapes[:, 2] - shapes[:, 0]
    areas = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / 2
    assert np.allclose(areas, 0.97**2 / 4)
    assert np.allclose(shapes[:4, 0], (0, 0))
    assert shapes[0, 1:, 1].max() < 0  # north is up


def test_off_a_grid_streets_are_lines_and_no_step_of_a_walk_leaves_a_gap():
    world = street_network(30, 0.2, seed=1)
    walk = [0]
    for _ in range(12):
        walk.append(int(world.next_position[walk[-1], world.legal[walk[-1]].argmax()]))
    streets, _, line = artists(world_figure(world, np.array(walk)), LineCollection)
    source, action = np.nonzero(world.legal)
    expected = world.coordinates[np.stack([source, world.next_position[source, action]], axis=1)][:, :, ::-1]
    drawn = {tuple(np.ravel(ends)) for ends in streets.get_segments()}
    assert drawn == {tuple(np.ravel(ends)) for ends in expected}
    assert len(line.get_segments()) == 12
