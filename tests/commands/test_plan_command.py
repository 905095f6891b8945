"""`cogmap plan` and `cogmap evaluate` on a run that knows the world: its codes are the true positions."""

import json

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.commands import evaluate, plan
from cogmap.environments.oracle import optimal_distances
from cogmap.environments.table import maze_from_text
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.scores import Scores
from cogmap.models.config import ModelConfig
from cogmap.records import Codes
from cogmap.runs.run import Run
from cogmap.runs.stored import save_config
from cogmap.training.config import TrainingConfig
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.truth_store import save_truth

WORLD = maze_from_text("abca\nb##v\nabcc")
WALKS, TRUTH = sample_walks(WORLD, 5, 40, np.random.default_rng(0))
# A walk whose first sight could be of several places.
DOUBTFUL = int((WALKS.observations[:, 0] != WORLD.observation_labels.index("v")).argmax())


class KnowsAll(Run):
    """A run with the true map; at step 0 it does not know where it is."""

    map = paper_map = true_map(WORLD)

    def __init__(self, folder):
        super().__init__(folder)
        self.encoded = []

    def encode(self, walks):
        self.encoded.append(walks.num_walks)
        rows = [int((WALKS.observations == seen).all(axis=1).argmax()) for seen in walks.observations]
        codes = TRUTH.positions[rows][:, :, None].copy()
        codes[:, 0] = 99
        return Codes(codes, walks.lengths, 100), walks.observations[:, 1:]


@pytest.fixture(autouse=True)
def known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_walks("test.npz", WALKS)
    save_truth("test.npz", TRUTH)
    sizes = ModelConfig(num_observations=4, num_actions=4, num_targets=4, encoder="gru")
    save_config(tmp_path / "room", "places", sizes, TrainingConfig(), WALKS)
    run = KnowsAll("room")
    for command in (plan, evaluate):
        monkeypatch.setattr(command, "load_run", lambda folder: run)
    return run


def planned(capsys, *options):
    assert main(["plan", "room", "--walks", "test.npz", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def check(plan, start, goal, avoid=()):
    labels = WORLD.action_labels
    position = start
    for action, name, seen in zip(
        plan["action_indices"], plan["actions"], plan["observations"][1:], strict=True
    ):
        assert labels[action] == name
        position = WORLD.next_position[position, action]
        assert WORLD.observation_labels[WORLD.observation[position]] == seen
    assert position == goal
    assert len(plan["actions"]) == optimal_distances(WORLD, avoid)[start, goal]


def test_one_path(capsys, known):
    start, goal = int(TRUTH.positions[3, 5]), int(TRUTH.positions[1, 30])
    check(planned(capsys, "--from", "3:5", "--to", "1:30"), start, goal)
    assert known.encoded == [2]  # no walk is read that was not asked about
    index = WORLD.observation_labels.index("b")
    check(planned(capsys, "--from", "3:5", "--to", "1:30", "--avoid", "b"), start, goal, (index,))


def test_as_text(capsys):
    assert main(["plan", "room", "--walks", "test.npz", "--from", "3:5", "--to", "1:30"]) == 0
    shown = capsys.readouterr().out
    assert "actions: " in shown
    assert set(shown.split(": ")[1].split()) <= set(WORLD.action_labels)
    assert main(["plan", "room", "--walks", "test.npz", "--from", "3:5", "--to", "3:5"]) == 0
    assert capsys.readouterr().out == "no action: already at the goal\n"


def test_the_nearest_place_that_shows_something(capsys):
    plan = planned(capsys, "--from", "3:5", "--showing", "v")
    assert plan["observations"][-1] == "v"


def test_many_paths_in_order_with_errors_in_their_places(capsys, tmp_path):
    problems = [
        {"from": [3, 5], "to": [1, 30]},
        {"from": [3, 40], "to": [1, 30]},
        {"from": [9, 5], "to": [1, 30]},
        {"from": [DOUBTFUL, 0], "to": [1, 30]},
        {"from": [2, 7], "to": [4, 39], "avoid": ["purple"]},
        {"from": [0, 9], "to": [4, 39], "avoid": ["c"]},
    ]
    (tmp_path / "problems.json").write_text(json.dumps(problems))
    plans = planned(capsys, "--problems", "problems.json")
    check(plans[0], TRUTH.positions[3, 5], TRUTH.positions[1, 30])
    assert plans[1] == {"error": "`from` must be a step of walk 3, 0 to 39, got step 40"}
    assert plans[2] == {"error": "`from` must be in a walk of the file, 0 to 4, got walk 9"}
    assert f"at walk {DOUBTFUL}, step 0 it does not" in plans[3]["error"]
    assert "got 'purple'" in plans[4]["error"]
    check(plans[5], TRUTH.positions[0, 9], TRUTH.positions[4, 39], (WORLD.observation_labels.index("c"),))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--from", "3:5"], "a path needs --from and one of --to and --showing"),
        (["--from", "3", "--to", "1:30"], "`--from` must be WALK:STEP, two whole numbers, got '3'"),
        (["--from", "3:50", "--to", "1:30"], "`from` must be a step of walk 3, 0 to 39, got step 50"),
        (["--from", "3:5", "--to", "1:30", "--avoid", "red"], "which knows a, b, c, v; got 'red'"),
        (["--problems", "none.json"], "cannot read none.json"),
        (["--problems", "bad.json"], "problem 0 must have"),
        (["--problems", "ends.json"], "must give each end as [walk, step], got [[3, 5], 7]"),
        (["--problems", "bad.json", "--to", "1:30"], "give one or the other"),
    ],
)
def test_bad_questions_are_reported_in_one_line(capsys, tmp_path, options, message):
    (tmp_path / "bad.json").write_text('[{"from": [3, 5]}]')
    (tmp_path / "ends.json").write_text('[{"from": [3, 5], "to": 7}]')
    assert main(["plan", "room", "--walks", "test.npz", *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_walks_in_words_that_the_run_does_not_know(capsys, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"observations": ["a", "zebra"], "actions": ["up"]}')
    assert main(["plan", "room", "--walks", "odd.jsonl", "--from", "0:0", "--to", "0:1"]) == 2
    assert "zebra" in capsys.readouterr().err


def test_evaluate_writes_and_prints_the_scores(capsys, tmp_path):
    options = ["evaluate", "room", "--walks", "test.npz", "--context-length", "10"]
    assert main(options) == 0
    shown = capsys.readouterr().out
    assert "RatioSP" in shown
    scores = Scores.load(tmp_path / "room" / "scores.json")
    assert (scores.test_accu, scores.imp_fallback, scores.norm_ged, scores.exact) == (1.0, 1.0, 0.0, True)
    assert main([*options, "--map", "paper", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["imp_fallback"] == 1.0
    assert Scores.load(tmp_path / "room" / "scores.paper.json").imp_fallback == 1.0


def test_evaluate_without_the_truth_says_what_it_can(capsys, tmp_path):
    save_walks("alone.npz", load_walks("test.npz"))
    assert main(["evaluate", "room", "--walks", "alone.npz"]) == 0
    shown = capsys.readouterr().out
    assert "TestAccu" in shown
    assert "without the truth there is no more to score" in shown
    assert Scores.load(tmp_path / "room" / "scores.json").imp_fallback is None


def test_evaluate_refuses_a_context_that_leaves_no_way(capsys, tmp_path):
    assert main(["evaluate", "room", "--walks", "test.npz", "--context-length", "50"]) == 2
    assert "`context_length` (=50) must be" in capsys.readouterr().err
    assert not (tmp_path / "room" / "scores.json").exists()


def test_by_default_the_context_fits_the_walks(tmp_path):
    """Walks of 40 steps are too short for the paper's context of 50."""
    assert main(["evaluate", "room", "--walks", "test.npz"]) == 0
    assert Scores.load(tmp_path / "room" / "scores.json").context_length == 10
