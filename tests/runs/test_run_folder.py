"""A run folder read without torch: its task, its records, and walks in its vocabulary."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.errors import BadConfig, BadOutput, BadRun, BadWalks
from cogmap.files import write_json
from cogmap.runs.folder import RunFolder
from cogmap.runs.state import run_state
from cogmap.walks.truth_store import save_truth

TINY = {"width": 16, "head_width": 16, "num_codes": 20, "batch_size": 8, "window": 10, "bottleneck_from": 0}
ROOM = cogmap.AliasedRoom(4, 5, observations=3, patch=0, seed=0)


@pytest.fixture(scope="module")
def walks() -> cogmap.Walks:
    return cogmap.sample_walks(ROOM, 20, 30, np.random.default_rng(0))[0]


@pytest.fixture(scope="module")
def learned(walks: cogmap.Walks) -> cogmap.Run:
    """A run that is kept nowhere."""
    return cogmap.learn(walks, encoder="gru", steps=3, quiet=True, device="cpu", **TINY)


def config_without(run: cogmap.Run, folder: Path, *keys: str, **others: object) -> Path:
    """The run's config.json as an earlier version would have written it."""
    stored = json.loads((run.folder / "config.json").read_text())
    write_json(folder / "config.json", {key: stored[key] for key in stored if key not in keys} | others)
    return folder


def test_a_run_without_a_folder_lives_as_long_as_it_is_used(walks: cogmap.Walks, tmp_path: Path) -> None:
    run = cogmap.learn(walks, encoder="gru", steps=2, quiet=True, device="cpu", **TINY)
    temporary = run.folder
    kept = run.save(tmp_path / "kept")
    with pytest.raises(BadOutput, match="a run is saved to a new folder"):
        run.save(tmp_path / "kept")
    np.testing.assert_array_equal(kept.predict(walks), run.predict(walks))
    del run
    assert not temporary.exists()
    assert kept.training.steps == 2


def test_a_training_that_fails_leaves_no_temporary_folder(
    walks: cogmap.Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(BadConfig, match="did you mean `width`"):
        cogmap.learn(walks, widht=3)
    assert list(tmp_path.iterdir()) == []


def test_the_task_is_stored(learned: cogmap.Run) -> None:
    assert json.loads((learned.folder / "config.json").read_text())["task"] == "places"
    assert RunFolder(learned.folder).task == "places"


@pytest.mark.parametrize(
    ("task", "others"),
    [
        ("places", {}),
        ("text", {"action_labels": ["next", "a", "b", "c"][:1]}),
        ("family", {"in_base": True}),
    ],
)
def test_folders_from_before_tasks_were_stored_open(
    learned: cogmap.Run, tmp_path: Path, task: str, others: dict
) -> None:
    config_without(learned, tmp_path, "task")
    stored = json.loads((tmp_path / "config.json").read_text())
    if "in_base" in others:
        stored["model"]["in_base"] = True
    else:
        stored |= others
        stored["model"]["num_actions"] = len(stored["action_labels"] or range(4))
    write_json(tmp_path / "config.json", stored)
    assert RunFolder(tmp_path).task == task


def test_an_unknown_task_is_refused(learned: cogmap.Run, tmp_path: Path) -> None:
    with pytest.raises(BadRun, match="must be places, family or text, got 'music'"):
        RunFolder(config_without(learned, tmp_path, task="music"))


def test_metrics_scores_and_maps(learned: cogmap.Run, walks: cogmap.Walks) -> None:
    folder = RunFolder(learned.folder)
    assert [row["step"] for row in folder.metrics()] == [3]
    assert folder.scores() == ()
    scores = cogmap.evaluate(learned, walks)
    scores.save(learned.folder / "scores.paper.json")
    cogmap.Scores(test_accu=0.25).save(learned.folder / "scores.json")
    first, second = folder.scores()
    assert (first.scores.test_accu, first.remark) == (0.25, "here")
    assert second.scores == scores
    assert folder.scores("paper")[0].scores == scores
    assert folder.has_map
    assert folder.map_of("paper").kind == "paper"


def test_truth_of_another_world_is_refused(learned: cogmap.Run, tmp_path: Path) -> None:
    other = cogmap.torus(height=3, width=3, observations=3, seed=0)
    walks, truth = cogmap.sample_walks(other, 4, 20, np.random.default_rng(0))
    more = cogmap.TableWorld(np.zeros((9, 5), dtype=int), other.observation, 3)
    path = tmp_path / "test.npz"
    cogmap.save_walks(path, walks)
    assert learned.load_truth(path, walks) is None
    save_truth(path, cogmap.Truth(truth.positions, more))
    with pytest.raises(BadWalks, match=r"test\.truth\.npz.*must have the run's 4 actions, it has 5"):
        learned.load_truth(path, walks)


def test_the_state_is_read_off_the_files(learned: cogmap.Run, tmp_path: Path) -> None:
    assert run_state(tmp_path) == "waiting"
    copy = tmp_path / "copy"
    shutil.copytree(learned.folder, copy)
    assert RunFolder(copy).state() == "finished"
    (copy / "map.npz").unlink()
    assert RunFolder(copy).state() == "mapping"
    (copy / "model.safetensors").unlink()
    assert RunFolder(copy).state() == "training"
