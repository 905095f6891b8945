"""Pictures and the film of a 3D room, drawn from its true map."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from cogmap.environments import EgocentricRoom, optimal_distances
from cogmap.environments.egocentric.renderer import load_mujoco
from cogmap.environments.egocentric.scene import Finish
from cogmap.errors import MissingExtra
from cogmap.evaluation.closed_loop import goals_reached_from_pixels
from cogmap.evaluation.ged import true_map
from cogmap.report import room3d_film, room3d_page
from cogmap.report.layout import layout_map
from cogmap.report.room3d_page import (
    Room3dMaterial,
    clusters_figure,
    draw_room_pictures,
    far_apart,
    make_film,
    room_section,
    strip_figure,
)
from cogmap.walks.quantize import fit_quantizer
from cogmap.walks.views import sample_view_walks

try:
    load_mujoco()
except MissingExtra as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.fixture(scope="module")
def story() -> Room3dMaterial:
    room = EgocentricRoom(4, 4, seed=1, textures="painted")
    walks, truth = sample_view_walks(room, 30, 80, np.random.default_rng(0))
    quantizer = fit_quantizer(walks, clusters=20)  # so few that places look alike
    _, seen = quantizer.walks_and_truth(walks, truth)
    found = true_map(seen.world)
    place = np.arange(room.num_positions, dtype=np.int32)
    return Room3dMaterial(room, walks, quantizer, seen.world, found, layout_map(found), place)


@pytest.fixture(autouse=True)
def _small_portraits(monkeypatch):
    for module in (room3d_page, room3d_film):
        monkeypatch.setattr(module, "PORTRAIT", Finish(width=220, height=200, field_of_view=18, sky=False))


def test_every_picture_is_written_and_described(story, tmp_path):
    shown = list(draw_room_pictures(story, tmp_path))
    assert [each.file for each in shown] == [
        "room_isometric.png",
        "views.png",
        "clusters.png",
        "room_and_map.png",
        "film.gif",
    ]
    for each in shown:
        with Image.open(tmp_path / each.file) as picture:
            picture.verify()
        assert each.caption
        assert each.alt
    page = room_section(tmp_path, shown).html
    assert page.count("data:image/png;base64,") == 4
    assert page.count("data:image/gif;base64,") == 1


def test_the_film_ends_at_the_goal(story, tmp_path):
    start, goal = far_apart(story)
    moments = make_film(story, tmp_path / "film.gif")
    assert moments[0].position == start
    assert moments[-1].position == goal  # node and place have the same number here
    assert moments[-1].caption == "at the goal"
    assert len(moments[0].planned) == 0  # it starts at a view that several places share
    assert moments[0].caption.startswith("not localised: ")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == len(moments)
        seen = np.asarray(film.convert("RGB")).astype(int)  # the first frame
    red = np.abs(seen - (0xD6, 0x27, 0x28)).max(axis=2) < 12
    assert red.sum() > 50  # the ring around the goal keeps its colour


def test_the_goal_is_as_far_as_any_from_a_start_that_looks_like_others(story):
    start, goal = far_apart(story)
    assert (story.world.observation == story.world.observation[start]).sum() > 1
    assert optimal_distances(story.world)[start, goal] == optimal_distances(story.world)[start].max()


def test_an_agent_given_views_alone_reaches_its_goals(story):
    reach = goals_reached_from_pixels
    rng = np.random.default_rng(0)
    assert reach(story.cognitive_map, story.room, story.quantizer, story.place, 20, rng) == 1.0
    elsewhere = np.roll(story.place, 1)
    assert reach(story.cognitive_map, story.room, story.quantizer, elsewhere, 5, rng) == 0.0


def test_a_strip_shows_each_action_under_the_view_at_which_it_was_taken(story):
    figure = strip_figure(story.walks.views, story.walks, walk=2, first=3, steps=6)
    labels = [axes.get_xlabel().split()[-1:] for axes in figure.axes]
    done = [story.walks.action_labels[action] for action in story.walks.actions[2, 3:8]]
    assert labels == [[name] for name in done] + [[]]
    shown = [np.asarray(axes.images[0].get_array()) for axes in figure.axes]
    assert np.array_equal(shown, story.walks.views[story.walks.observations[2, 3:9]])


def test_a_centre_is_the_mean_of_its_views():
    views = np.array([10, 30, 90], dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 3), np.uint8)
    figure = clusters_figure(views, np.array([1, 1, 0], dtype=np.int32))
    assert len(figure.axes) == 5  # two of two views and a centre, then one of one
    first = np.asarray(figure.axes[0].images[0].get_array())
    assert (first == 20).all()
    assert (np.asarray(figure.axes[3].images[0].get_array()) == 90).all()
