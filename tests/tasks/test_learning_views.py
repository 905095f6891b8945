"""From a camera log to a run: views become clusters, and the run keeps what made them so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.environments import AliasedRoom, from_tables
from cogmap.errors import BadWalks
from cogmap.evaluation.ged import true_map
from cogmap.files import write_arrays
from cogmap.runs.run import load_run
from cogmap.tasks.learning import learn
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.truth_store import save_truth

ROOM = AliasedRoom(3, 4, observations=5, patch=0, seed=0)
LOOKS = np.random.default_rng(1).integers(30, 226, size=(5, 10, 12, 3))  # how each colour is photographed
SMALL = {"encoder": "gru", "steps": 3, "width": 16, "num_codes": 16, "quiet": True}


def photographs(observations: np.ndarray, seed: int) -> np.ndarray:
    """(B, N, H, W, C) with the noise of a camera: no two are the same."""
    noise = np.random.default_rng(seed).normal(0, 3, size=(*observations.shape, 10, 12, 3))
    return np.clip(LOOKS[observations] + noise, 0, 255).astype(np.uint8)


def camera_log(folder, name: str, seed: int, walks: int = 20, steps: int = 30):
    """A file as somebody with a camera would write it, its truth beside it."""
    plain, truth = sample_walks(ROOM, walks, steps, np.random.default_rng(seed))
    path = folder / name
    arrays = {"views": photographs(plain.observations, seed), "actions": plain.actions}
    write_arrays(path, arrays | {"num_actions": np.array(4)})
    save_truth(path, truth)
    return path, plain, truth


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("camera")
    path, plain, _ = camera_log(folder, "camera.npz", seed=0)
    return learn(load_walks(path), folder / "run", clusters=5, **SMALL), plain, path


def test_clusters_are_the_observations_behind_the_pictures(learned):
    run, plain, path = learned
    seen = run.categorical(load_walks(path))
    assert run.config.num_observations == 5
    pairs = set(zip(plain.observations.ravel().tolist(), seen.observations.ravel().tolist(), strict=True))
    assert len(pairs) == 5


def test_a_run_reads_views_and_their_clusters_alike(learned):
    run, _, path = learned
    views = load_walks(path)
    plain = run.categorical(views)
    assert np.array_equal(run.encode(views)[1], run.encode(plain)[1])


def test_an_agent_is_located_by_images(learned):
    run, _, _ = learned
    fresh = load_run(run.folder)
    cluster = fresh.quantizer(LOOKS.astype(np.uint8))  # of each colour
    world = from_tables(ROOM.next_position, cluster[ROOM.observation], num_observations=5)
    fresh.__dict__["map"] = true_map(world)  # what a good training would have found
    walks, truth = sample_walks(ROOM, 1, 40, np.random.default_rng(7))
    images = photographs(walks.observations, seed=8)[0]
    assert fresh.locate(images, walks.actions[0]) == truth.positions[0, -1]
    with pytest.raises(BadWalks, match=r"must be uint8 images of shape \(10, 12, 3\).*got shape \(5, 6, 3\)"):
        fresh.locate(images[:, ::2, ::2], walks.actions[0])
    with pytest.raises(BadWalks, match="and dtype float64"):
        fresh.locate(images / 255, walks.actions[0])


def test_a_resumed_training_keeps_the_clusters(learned, tmp_path):
    _, _, path = learned
    views = load_walks(path)
    first = learn(views, tmp_path / "run", clusters=5, **SMALL)
    before = (tmp_path / "run" / "quantizer.npz").read_bytes()
    again = learn(views, tmp_path / "run", resume=True, **SMALL | {"steps": 5})
    assert (tmp_path / "run" / "quantizer.npz").read_bytes() == before
    assert np.array_equal(first.categorical(views).observations, again.categorical(views).observations)


def test_views_need_a_run_that_learned_from_views(learned, tmp_path):
    _, plain, path = learned
    run = learn(plain, tmp_path / "run", **SMALL)
    assert run.quantizer is None
    with pytest.raises(BadWalks, match="walks of views need a run that learned from views"):
        run.encode(load_walks(path))


def test_the_commands_take_a_camera_log(tmp_path, capsys):
    path, _, _ = camera_log(tmp_path, "camera.npz", seed=0)
    test, _, _ = camera_log(tmp_path, "test.npz", seed=1, walks=6, steps=130)
    run = str(tmp_path / "run")
    small = [
        "--encoder",
        "gru",
        "--steps",
        "3",
        "--change",
        "width=16",
        "--vanilla",
        "--clusters",
        "5",
        "--json",
    ]
    assert main(["learn", str(path), "--out", run, *small]) == 0
    assert (tmp_path / "run" / "quantizer.npz").is_file()
    capsys.readouterr()
    assert main(["evaluate", run, "--walks", str(test), "--rollouts", "2", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["positions"] == 12
    # The truth speaks of the same clusters: else the walks would be impossible.
    assert scores["ceiling"] > 0.5
    assert main(["check", str(path)]) == 0


def test_a_map_of_views_is_built_planned_on_and_shown(tmp_path, capsys):
    path, _, _ = camera_log(tmp_path, "camera.npz", seed=0, walks=60)
    run = tmp_path / "run"
    learn(load_walks(path), run, clusters=5, bottleneck_from=0, **SMALL)
    with np.load(run / "views.npz") as stored, np.load(run / "map.npz") as built:
        assert stored["views"].shape == (5, 10, 12, 3)
        assert np.array_equal(stored["view_of_node"], built["node_observation"])
    assert main(["map", str(run), "--walks", str(path), "--kind", "paper"]) == 0
    assert main(["plan", str(run), "--walks", str(path), "--from", "0:3", "--to", "99:1"]) == 2
    assert "must be in a walk of the file, 0 to 59" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--clusters", "9999"], "`clusters` (=9999) must be from 1 to the number of distinct views (=600)"),
        (["--clusters", "0"], "`clusters` (=0) must be from 1"),
    ],
)
def test_bad_clusters_are_reported_in_one_line(tmp_path, capsys, options, message):
    path, _, _ = camera_log(tmp_path, "camera.npz", seed=0)
    assert main(["learn", str(path), "--out", str(tmp_path / "run"), *options]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_clusters_are_for_views(tmp_path, capsys):
    plain, _ = sample_walks(ROOM, 4, 30, np.random.default_rng(0))
    save_walks(tmp_path / "plain.npz", plain)
    assert (
        main(["learn", str(tmp_path / "plain.npz"), "--out", str(tmp_path / "run"), "--clusters", "3"]) == 2
    )
    assert "`clusters` (=3) is for walks of views" in capsys.readouterr().err
