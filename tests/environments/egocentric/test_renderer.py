"""Rendered views: they show what lies ahead, are deterministic, and depend on the room."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from room_views import needs_graphics

from cogmap.environments.egocentric import EgocentricRoom, renderer, textures
from cogmap.environments.egocentric.renderer import PORTRAIT, open_renderer
from cogmap.environments.egocentric.scene import Finish, wall_faces
from cogmap.errors import MissingExtra

NORTH, EAST, SOUTH, WEST = range(4)
SMALL_PORTRAIT = Finish(width=120, height=100, field_of_view=PORTRAIT.field_of_view, sky=False)


@pytest.fixture(scope="module")
def room() -> EgocentricRoom:
    return EgocentricRoom(5, 5, seed=3, textures="painted")


@needs_graphics
def test_a_view_of_every_place_rendered_once(room):
    assert room.views.shape == (room.num_positions, 64, 64, 3)
    assert room.views.dtype == np.uint8
    assert room.views is room.views
    assert not room.views.flags.writeable


@needs_graphics
def test_the_same_room_looks_the_same(room):
    again = EgocentricRoom(5, 5, seed=3, textures="painted")
    assert np.array_equal(again.views, room.views)


@needs_graphics
def test_another_seed_has_other_wallpapers():
    drawing = "...\n..."
    first, second = (EgocentricRoom(drawing=drawing, seed=seed, textures="painted") for seed in (0, 1))
    assert not np.array_equal(first.views, second.views)


@needs_graphics
@pytest.mark.parametrize(
    ("empty", "with_pillar", "cell", "sees_it"),
    [
        ("...", "..o", 0, EAST),
        ("...", "o..", 1, WEST),  # the pillar's cell is no place: the last cell has number 1
        (".\n.\n.", "o\n.\n.", 1, NORTH),
        (".\n.\n.", ".\n.\no", 0, SOUTH),
    ],
)
def test_a_pillar_is_seen_from_the_right_heading_only(empty, with_pillar, cell, sees_it):
    before = EgocentricRoom(drawing=empty, textures="painted")
    after = EgocentricRoom(drawing=with_pillar, textures="painted")
    same_cell = cell + (with_pillar[0] == "o")
    for heading in range(4):
        alike = np.array_equal(before.views[4 * same_cell + heading], after.views[4 * cell + heading])
        assert alike == (heading != sees_it)


@needs_graphics
def test_walls_come_nearer_by_walking():
    """Seen from nearer, a wall covers more of the sky."""
    room = EgocentricRoom(drawing="......", textures="painted")
    upper = room.views[EAST::4, :20].astype(float).mean(axis=(1, 2))  # (cells, 3) of the upper third
    change = np.abs(upper - upper[0]).sum(axis=1)
    assert change[-1] > change[1]
    assert change[-1] > 30


@needs_graphics
def test_views_of_a_room_differ(room):
    assert len({view.tobytes() for view in room.views}) > room.num_positions / 2


@needs_graphics
def test_portraits_show_the_whole_room(room):
    with open_renderer(room, SMALL_PORTRAIT) as renderer:
        for picture in (renderer.isometric(), renderer.from_above()):
            assert picture.shape == (100, 120, 3)
            border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
            assert (border == border[0]).all()  # the backdrop on all sides: nothing is cut off
            assert (picture != border[0]).any(axis=2).mean() > 0.25


@needs_graphics
@pytest.mark.skipif(textures.choose_source("auto") == "painted", reason="labmaze is not installed")
def test_textures_of_deepmind_lab_where_they_are():
    lab, painted = (EgocentricRoom(drawing="..", textures=source) for source in ("auto", "painted"))
    assert lab.textures == "lab"
    assert not np.array_equal(lab.views, painted.views)


def test_painted_textures_are_there_without_labmaze(monkeypatch):
    monkeypatch.setattr(textures, "find_spec", lambda name: None)
    assert EgocentricRoom(drawing="..").textures == "painted"
    with pytest.raises(MissingExtra, match=r'needs labmaze: pip install "cogmap\[3d\]"'):
        textures.draw_textures("lab", 1, 1, np.random.default_rng(0))


def test_faces_of_one_cell_alone():
    """A cell with walls all around: 4 faces look in, and 12 of the ring look out."""
    assert len(wall_faces(EgocentricRoom(drawing=".", textures="painted").plan)) == 16


def test_without_mujoco_the_line_that_installs_it(monkeypatch):
    monkeypatch.setattr(renderer, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r'need MuJoCo: pip install "cogmap\[3d\]"'):
        renderer.load_mujoco.__wrapped__()


def test_without_egl_and_osmesa_the_line_that_installs_them(monkeypatch):
    monkeypatch.setattr(renderer, "find_spec", lambda name: object())
    monkeypatch.setattr(renderer, "opens_gl", lambda backend: False)
    monkeypatch.delitem(sys.modules, "mujoco", raising=False)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with pytest.raises(MissingExtra, match="neither works here: apt-get install -y libegl1"):
        renderer.load_mujoco.__wrapped__()


@needs_graphics
def test_a_backend_chosen_by_the_user_that_does_not_work():
    script = "from cogmap.environments.egocentric.renderer import load_mujoco; load_mujoco()"
    environment = os.environ | {"MUJOCO_GL": "nonsense"}
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert "must be able to render with MUJOCO_GL=nonsense, got" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(("opens", "chosen"), [({"egl", "osmesa"}, "egl"), ({"osmesa"}, "osmesa")])
def test_egl_first_then_osmesa(monkeypatch, opens, chosen):
    monkeypatch.setattr(renderer, "find_spec", lambda name: object())
    monkeypatch.setattr(renderer, "opens_gl", lambda backend: backend in opens)
    monkeypatch.setattr(renderer, "import_module", lambda name: renderer.os.environ["MUJOCO_GL"])
    monkeypatch.delitem(sys.modules, "mujoco", raising=False)
    monkeypatch.setenv("MUJOCO_GL", "")
    assert renderer.load_mujoco.__wrapped__() == chosen
