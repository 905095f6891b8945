"""`cogmap policy` on a run whose map has chance, and what `cogmap plan` says about it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.environments.chance import from_probabilities
from cogmap.errors import BadRun
from cogmap.evaluation.chance import true_chance_map
from cogmap.maps.store import load_map, save_map
from cogmap.models.config import ModelConfig
from cogmap.runs.stored import save_config
from cogmap.training.config import TrainingConfig
from cogmap.walks.sample import sample_walks

# A ring of four; action `on` moves on three times in four, `back` for sure; entering `d` is paid.
MOVES = np.zeros((4, 2, 4))
for _place in range(4):
    MOVES[_place, 0, [(_place + 1) % 4, _place]] = 0.75, 0.25
    MOVES[_place, 1, _place - 1] = 1
PAID = np.zeros((4, 2, 4))
PAID[2, 0, 3] = PAID[0, 1, 3] = 1
WORLD = from_probabilities(
    MOVES, np.arange(4), rewards=PAID, observation_labels=("a", "b", "c", "d"), action_labels=("on", "back")
)


@pytest.fixture(autouse=True)
def run_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    walks, _ = sample_walks(WORLD, 4, 10, np.random.default_rng(0))
    sizes = ModelConfig(num_observations=4, num_actions=2, num_targets=4, encoder="gru")
    save_config(tmp_path / "ring", "places", sizes, TrainingConfig(), walks)
    save_map(tmp_path / "ring" / "map.npz", true_chance_map(WORLD))


def answer(capsys, *options):
    assert main(["policy", "ring", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_best_action_of_every_node(capsys):
    found = answer(capsys, "--to", "3", "--from", "1")
    assert found["goals"] == [3]
    assert found["action"] == ["back", "back", "on", None]  # from 1: 2 steps back, or 8/3 on
    assert found["steps"] == pytest.approx([1, 2, 4 / 3, 0])
    assert found["from"]["arrival"] == 1
    assert answer(capsys, "--showing", "d")["action"] == found["action"]
    assert answer(capsys, "--to", "3", "--avoid", "a")["action"][1] == "on"
    assert answer(capsys, "--to", "3", "--cost", "a=5")["action"][1] == "on"


def test_rewards_are_collected_without_a_goal(capsys):
    found = answer(capsys, "--discount", "0.9")
    assert found["action_indices"][0] == 1
    assert found["arrival"] is None
    assert found["value"][0] > found["value"][1]


def test_lines_for_a_person(capsys):
    assert main(["policy", "ring", "--to", "3", "--from", "1"]) == 0
    assert "from node 1 it arrives for sure, in 2.0 expected steps: first back" in capsys.readouterr().out
    assert main(["policy", "ring", "--to", "3"]) == 0
    assert "node 2 (c): on, arrives 100.0%, 1.3 steps" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--to", "9"], "`--to` must be a node of the map, 0 to 3, got 9"),
        (["--to", "x"], "`--to` must be a node or WALK:STEP, got 'x'"),
        (["--to", "0:3"], "`--to` 0:3 is a moment of a walk: give --walks too"),
        (["--to", "1", "--showing", "a"], "a policy has one goal: give --to or --showing, not both"),
        (["--showing", "z"], "`goal` must be an observation of the map"),
        (["--discount", "1"], "`discount` must be at least 0 and below 1"),
        (["--to", "1", "--cost", "5"], "`--cost` must be OBSERVATION=STEPS, got '5'"),
        (["--to", "1", "--cost", "a=much"], "`--cost` must be OBSERVATION=STEPS, got 'a=much'"),
        (["--to", "1", "--cost", "a=-2"], "`costs` must be finite and at least 0, got -2.0"),
        (["--to", "1", "--avoid", "z"], "`avoid` must be an observation of the map"),
    ],
)
def test_bad_input_is_one_line(capsys, options, says):
    assert main(["policy", "ring", *options]) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("edge_probability", lambda old: old * 0.5, "`edge_probability` must sum to one, got 0.5"),
        ("seen_probability", lambda old: old * 2, "`seen_probability` must sum to one, got 2"),
        ("start_probability", lambda old: np.full(4, 0.5), "`start_probability` must sum to one, got 2"),
        (
            "edge_reward",
            lambda old: old * np.nan,
            r"`edge_reward` must be finite and at most 1e\+100 in size, got nan",
        ),
    ],
)
def test_a_hostile_map_is_refused(tmp_path, field, value, says):
    arrays = dict(np.load(tmp_path / "ring" / "map.npz"))
    arrays[field] = value(arrays.get(field))
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(BadRun, match=says):
        load_map(tmp_path / "bad.npz")


def test_counts_of_codes_are_checked(tmp_path):
    one = {"sign_code": np.array([0]), "sign_node": np.array([1]), "sign_count": np.array([3])}
    found = replace(true_chance_map(WORLD), **one, sign_weight=0.5)
    save_map(tmp_path / "good.npz", found)
    assert load_map(tmp_path / "good.npz").sign_weight == 0.5
    for wrong, says in (
        ({"sign_node": np.array([9])}, "`sign_node` must be in"),
        ({"sign_count": np.array([-1])}, "`sign_count` must be at least 0"),
        ({"sign_weight": 2.0}, "`sign_weight` must be from 0 to 1"),
        ({"sign_code": None}, "`sign_code` must have 1 dimension"),
    ):
        with pytest.raises(BadRun, match=says):
            replace(found, **wrong)
