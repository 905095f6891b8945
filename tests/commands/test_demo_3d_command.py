"""`cogmap demo --world 3d`, its training cut short and its map replaced by the true one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.environments.egocentric.renderer import load_mujoco
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.egocentric.scene import Finish
from cogmap.errors import MissingExtra
from cogmap.evaluation.ged import true_map
from cogmap.experiments import demos
from cogmap.maps.store import save_map
from cogmap.report import room3d_film, room3d_page
from cogmap.runs.names import MAP_FILES
from cogmap.runs.run import load_run
from cogmap.tasks.learning import learn
from cogmap.walks.truth_store import load_truth

try:
    load_mujoco()
except MissingExtra as error:
    pytest.skip(str(error), allow_module_level=True)


def short_training(walks, folder, **choices):
    """A run whose map is that of the world, as a whole training would find it."""
    little = {"width": 16, "num_codes": 16, "bottleneck_from": 0, "steps": 2, "quiet": True}
    run = learn(walks, folder, **choices | little)
    truth = load_truth(folder.parents[1] / "room.npz", walks)
    _, seen = run.quantizer.walks_and_truth(walks, truth)
    # No code stands for a place: the agent is found by its views.
    known = {"code_tuples": np.zeros((1, 4), dtype=int), "code_node": np.array([-1])}
    save_map(folder / MAP_FILES["minimal"], replace(true_map(seen.world), kind="minimal", **known))
    return load_run(folder)


@pytest.fixture
def _small(monkeypatch):
    small = partial(EgocentricRoom, height=4, width=4, textures="painted")
    monkeypatch.setattr(demos, "learn", short_training)
    monkeypatch.setattr(demos, "EgocentricRoom", small)
    for module in (room3d_film, room3d_page):
        monkeypatch.setattr(module, "PORTRAIT", Finish(width=220, height=200, field_of_view=18, sky=False))
    for name, value in (("ROOM3D_WALKS", (40, 30)), ("STEPS", 110), ("GOALS", 10)):
        monkeypatch.setattr(demos, name, value)


@pytest.mark.usefixtures("_small")
def test_the_whole_story(tmp_path, capsys):
    assert main(["demo", "--world", "3d", "--out", str(tmp_path / "demo")]) == 0
    told = capsys.readouterr().out
    for number in range(1, 6):
        assert f"[{number}/5]" in told
    assert "it reached 100% of the goals" in told
    for name in ("room_isometric.png", "views.png", "clusters.png", "room_and_map.png", "film.gif"):
        assert (tmp_path / "demo" / "figures" / name).stat().st_size > 1000
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "A room seen through the agent&#x27;s eyes" in page
    assert "data:image/gif;base64," in page
    assert (tmp_path / "demo" / demos.RUN / "scores.json").is_file()


def test_an_unknown_world_is_reported_in_one_line(capsys):
    assert main(["demo", "--world", "4d"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
