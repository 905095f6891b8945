"""`cogmap check`: what is in a file, as text and as JSON."""

import json

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.commands import check
from cogmap.records import Walks
from cogmap.walks.store import save_walks


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    observations, actions = np.array([[0, 1, 0, 1], [1, 0, 0, 0]]), np.array([[0, 0, 0], [0, 0, 0]])
    labels = {"observation_labels": ("dark", "light", "never"), "action_labels": ("go", "stop")}
    save_walks("w.jsonl", Walks(observations, actions, np.array([4, 2]), 3, 2, **labels))
    (tmp_path / "other.jsonl").write_text('{"observations": ["dim", "dark"], "actions": ["go"]}')


def test_text(capsys):
    assert main(["check", "w.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert "w.jsonl: 2 walks of 2 to 4 steps, 6 steps in all" in shown
    assert "2 actions: go 4, stop 0" in shown
    assert (
        "3 observations, none aliased: the observation and the action determine the next observation" in shown
    )
    assert "problem: 1 of 3 observations are never seen: never" in shown
    assert "problem: 1 of 2 actions are never taken: stop" in shown
    assert "truth: none beside it" in shown


def test_json(capsys):
    assert main(["check", "w.jsonl", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["num_walks"] == 2
    assert found["total_steps"] == 6
    assert found["actions"] == {"go": 4, "stop": 0}
    assert found["observations"]["light"] == {"seen": 3, "next_entropy_bits": 0.0, "places_at_least": 1}
    assert found["true_places"] is None
    assert "1 of 2 actions are never taken: stop" in found["problems"]


def test_walks_with_their_truth(capsys):
    main(["walk", "room", "--walks", "60", "--steps", "60", "--out", "room.npz"])
    capsys.readouterr()
    assert main(["check", "room.npz"]) == 0
    shown = capsys.readouterr().out
    assert "truth: room.truth.npz, 300 places" in shown
    assert "bits for the next one given the action; what follows 3 actions distinguishes at least" in shown
    assert "no problems found" in shown


def test_many_observations_are_cut_short(capsys):
    main(["walk", "room", "--observations", "20", "--walks", "60", "--steps", "60", "--out", "room.npz"])
    assert main(["check", "room.npz"]) == 0
    assert "... and 8 more (--json has them all)" in capsys.readouterr().out


def test_a_label_that_the_other_file_does_not_know(capsys):
    assert main(["check", "other.jsonl", "--like", "w.jsonl"]) == 2
    told = capsys.readouterr().err
    assert (
        "label 'dim' (the observation of walk 0, step 0) is not known, the labels are 'dark', 'light'" in told
    )


def test_no_file(capsys):
    assert main(["check", "nowhere.csv"]) == 2
    assert capsys.readouterr().err == "cogmap: cannot read nowhere.csv: No such file or directory\n"


def test_the_time_of_a_step_grows_with_a_vocabulary_of_words():
    usual = check.FLOPS_OF_A_STEP
    assert check._of_logits(10, 128) < 0.05 * usual
    assert check._of_logits(100_000, 128) > 5 * usual
    assert check._of_logits(200_000, 128) == check._of_logits(100_000, 128)  # fewer lanes at a time
