"""A run folder that is rewritten, half-written or deleted while it is served."""

import json
import os
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from served_runs import ROOM, application, client_of, found_map, opened, write_config, write_rows, write_run

from cogmap.app.handlers import png_bytes
from cogmap.app.watcher import RunWatcher
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadRun, BadWalks, MissingExtra
from cogmap.files import write_arrays, write_json
from cogmap.maps.store import save_map


@pytest.fixture
def served(tmp_path):
    run, walks = write_run(tmp_path)
    app = application(run, walks)
    return run, app.watcher, client_of(app)


def other_map():
    return found_map(AliasedRoom(5, 6, observations=4, seed=1))


def test_a_replaced_map_is_a_new_revision_and_old_numbers_are_refused(served):
    run, watcher, client = served
    before = client.get("/api/map/minimal").json()
    save_map(run / "map.npz", replace(other_map(), observation_labels=None))
    watcher.refresh()
    after = client.get("/api/map/minimal").json()
    assert len(after["nodes"]["observation"]) == 30
    assert after["revision"] != before["revision"]
    plan = {"start": 0, "goal": 29, "revision": before["revision"]}
    answer = client.post("/api/plan", json=plan)
    assert answer.status_code == 409
    assert f"must be that of the map, {after['revision']}, got {before['revision']}" in answer.json()["error"]
    assert client.post("/api/plan", json={**plan, "revision": after["revision"]}).status_code == 200


def test_a_walk_under_way_keeps_its_own_map(served):
    run, watcher, client = served
    walk = client.post("/api/walks", json={"position": 40}).json()
    save_map(run / "map.npz", replace(other_map(), observation_labels=None))
    watcher.refresh()
    stepped = client.post(f"/api/walks/{walk['id']}/steps", json={"action": 0}).json()
    assert stepped["revision"] == walk["revision"]
    assert max(stepped["belief"]["nodes"]) >= 30


@pytest.mark.parametrize("damage", ["half", "empty", "text", "gone"])
def test_a_damaged_map_leaves_the_last_whole_one(served, damage):
    run, watcher, client = served
    path, before = run / "map.npz", client.get("/api/map/minimal").content
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"half": whole[: len(whole) // 2], "empty": b"", "text": b"no map"}[damage])
    watcher.refresh()
    assert client.get("/api/map/minimal").content == before
    (problem,) = client.get("/api/live").json()["problems"]
    assert "map.npz" in problem
    path.write_bytes(whole)
    watcher.refresh()
    assert client.get("/api/live").json()["problems"] == []


def test_a_deleted_run_is_still_shown_and_its_loss_is_reported(served):
    run, watcher, client = served
    shutil.rmtree(run)
    watcher.refresh()
    assert client.post("/api/plan", json={"start": 0, "goal": 5}).status_code == 200
    assert client.get("/api/run").status_code == 200
    assert any(
        "cannot be found any more" in problem for problem in client.get("/api/live").json()["problems"]
    )


@pytest.mark.parametrize(
    "name", ["config.json", "metrics.jsonl", "scores.json", "views.npz", "concepts.json"]
)
@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe\x00"])
def test_no_file_of_a_stranger_brings_it_down(served, name, content):
    run, watcher, client = served
    if (name, content) == ("metrics.jsonl", b""):
        content = b"no row"  # without any rows it is the file of a training that has just begun
    (run / name).write_bytes(content)
    watcher.refresh()
    for path in ("run", "live", "metrics", "map/minimal", "concepts", "view/3"):
        assert client.get(f"/api/{path}").status_code in (200, 404)
    assert client.get("/api/live").json()["problems"]


def test_a_run_that_begins_while_it_is_watched(tmp_path):
    """Nothing, then a config, rows, an early map, the model, the final map."""
    run = tmp_path / "run"
    watcher = RunWatcher(run)
    watcher.refresh()
    client = client_of(application_of(watcher))
    assert client.get("/api/live").json()["state"] == "waiting"
    answer = client.get("/api/run")
    assert (answer.status_code, answer.json()["error"]) == (
        409,
        "a run must hold config.json, this one does not yet",
    )
    run.mkdir()
    write_config(run)
    watcher.refresh()
    assert client.get("/api/live").json()["state"] == "training"
    assert client.get("/api/metrics").json()["columns"] == {}
    write_rows(run)
    watcher.refresh()
    assert client.get("/api/live").json()["state"] == "training"
    assert client.get("/api/map/minimal").status_code == 409
    save_map(run / "map.early.npz", found_map())
    watcher.refresh()
    assert client.get("/api/map/minimal").json()["early"] is True
    (run / "model.safetensors").write_bytes(b"")
    watcher.refresh()
    assert client.get("/api/live").json()["state"] == "mapping"
    save_map(run / "map.npz", found_map())
    (run / "map.early.npz").unlink()
    watcher.refresh()
    assert client.get("/api/live").json()["state"] == "finished"
    assert client.get("/api/map/minimal").json()["early"] is False


def application_of(watcher):
    from cogmap.app.application import Application

    return Application(watcher)


def test_a_training_that_fell_silent(served):
    run, watcher, client = served
    (run / "model.safetensors").unlink()
    long_ago = 1_000_000_000
    for path in run.iterdir():
        os.utime(path, (long_ago, long_ago))
    watcher.refresh()
    assert client.get("/api/live").json()["state"] == "stopped"


def test_a_model_without_a_map_is_finished_when_it_is_trained(served):
    run, watcher, client = served
    config = json.loads((run / "config.json").read_text())
    config["model"] |= {"vanilla": True, "prediction_steps": 1}
    write_json(run / "config.json", config)
    (run / "map.npz").unlink()
    (run / "model.safetensors").write_bytes(b"later")
    watcher.refresh()
    assert client.get("/api/live").json()["state"] == "finished"


def test_views_and_concepts(served):
    run, watcher, client = served
    views = np.random.default_rng(0).integers(256, size=(3, 4, 5, 3)).astype(np.uint8)
    chosen = np.full(48, -1)
    chosen[7] = 2
    write_arrays(run / "views.npz", {"views": views, "view_of_node": chosen})
    concept = [0] * 47 + [-1]
    shares = dict.fromkeys(("purity", "mean_node_purity", "edges_within", "moves_within"), 1.0)
    write_json(run / "concepts.json", {"names": ["Paris", "Rome"], "concept": concept, **shares})
    watcher.refresh()
    assert client.get("/api/run").json()["views"] is True
    picture = client.get("/api/view/7")
    assert picture.headers["content-type"] == "image/png"
    assert np.array_equal(pixels(picture.content), views[2])
    assert client.get("/api/view/8").status_code == 404
    assert client.get("/api/view/7?map=paper").status_code == 404
    concepts = client.get("/api/concepts").json()
    assert concepts["concept"] == ["Paris"] * 47 + [None]
    assert set(concepts["colours"]) == {"Paris", "Rome"}


def pixels(png):
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)))


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pictures_of_every_depth(channels):
    image = np.random.default_rng(1).integers(256, size=(3, 7, channels)).astype(np.uint8)
    assert np.array_equal(pixels(png_bytes(image)).reshape(image.shape), image)


def test_without_pillow_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r'views need pillow: pip install "cogmap\[serve\]"'):
        png_bytes(np.zeros((2, 2, 3), dtype=np.uint8))


def test_what_is_no_run_is_an_error_at_the_start(tmp_path):
    with pytest.raises(BadRun, match=r"there is no folder .*nowhere"):
        opened(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text('{"format": 7}')
    with pytest.raises(BadRun, match=r"config\.json must be of format 1, got 7"):
        opened(tmp_path)


def test_walks_of_another_world_are_an_error_at_the_start(tmp_path):
    run, walks = write_run(tmp_path)
    write_config(run, replace(ROOM, observation_labels=("a", "b", "c", "d")))
    with pytest.raises(BadWalks):
        opened(run, walks)
