"""The demo: the story from beginning to end, and only its own files are ever taken away."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from report_material import merged_map

from cogmap.cli import main
from cogmap.environments.oracle import optimal_distances
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.evaluation.scores import Scores
from cogmap.experiments import demos
from cogmap.maps.store import save_map
from cogmap.runs.names import MAP_FILES
from cogmap.runs.run import load_run
from cogmap.tasks.learning import learn
from cogmap.walks.truth_store import load_truth

ROOM = AliasedRoom(4, 5, observations=4, seed=0)
SIZES = {"HEIGHT": 4, "WIDTH": 5, "ROOM_WALKS": (12, 6)}
# No code stands for a place: the agent is found by what it sees.
BY_SIGHT = {"code_tuples": np.zeros((1, 1), dtype=np.int32), "code_node": np.array([-1])}


def learn_little(walks, out, **options):
    """A training of five steps, and the maps that whole ones find: the room itself, and one of what looks alike."""
    little = {"num_codes": 50, "width": 32, "bottleneck_from": 0, "steps": 5}
    learn(walks, out, **options | little)
    whole, alike = true_map(ROOM), merged_map(ROOM)[0]
    save_map(out / MAP_FILES["minimal"], replace(whole, kind="minimal", **BY_SIGHT))
    save_map(out / MAP_FILES["paper"], replace(alike, kind="paper", **BY_SIGHT))
    return load_run(out)


@pytest.fixture
def small(monkeypatch):
    """A story told in seconds."""
    monkeypatch.setattr(demos, "learn", learn_little)
    for name, value in SIZES.items():
        monkeypatch.setattr(demos, name, value)


def test_the_story_scores_both_maps_and_what_it_says_to_try_next_works(small, tmp_path, capsys):
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    for stage in range(1, 6):
        assert f"[{stage}/5]" in told
    own, baseline = (
        Scores.load(out / "runs" / name) for name in ("room/scores.json", "room_one_step/scores.paper.json")
    )
    assert (own.exact, own.imp_fallback, own.ratio_sp, own.norm_ged) == (True, 1.0, 1.0, 0.0)
    assert (own.nodes, own.positions, own.problems) == (20, 20, 6)
    assert (baseline.exact, baseline.nodes) == (False, merged_map(ROOM)[0].num_nodes)
    assert baseline.norm_ged > 0
    rows = {
        name: numbers.split() for name, numbers in re.findall(r"^(TDB.*?, here\S*.*?)  +(.*)$", told, re.M)
    }
    assert rows["TDB(S=3, M=1), here"] == [f"{100 * own.test_accu:.2f}", "100.00", "1.000", "0.000", "20"]
    assert rows["TDB(S=1, M=1), here, the paper's map"][-1] == str(baseline.nodes)
    assert "TDB(S=3, M=1), in the paper" in told
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "There are 20 places, and the map is exact; it solves 100.00% of the planning problems." in page
    for name in ("room.npz", "test.truth.npz", "runs/room/map.npz", "runs/room_one_step/scores.json"):
        assert (out / name).is_file()
    assert_next_commands_work(out, re.findall(r"^  cogmap (plan|evaluate) (.*)$", told, re.MULTILINE), capsys)


def assert_next_commands_work(out, commands, capsys):
    (plan, asked), (evaluate, scored) = commands
    assert main([plan, *shlex.split(asked), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert asked.endswith("--from 3:50 --to 3:350 --avoid 1")
    position, goal = load_truth(out / "test.npz").positions[3, [50, 350]].tolist()
    assert len(found["actions"]) == optimal_distances(ROOM, avoid=(1,))[position, goal]
    for action in found["action_indices"]:
        position = int(ROOM.next_position[position, action])
    assert position == goal
    assert main([evaluate, *shlex.split(scored), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nodes"] == merged_map(ROOM)[0].num_nodes


def test_an_earlier_demo_is_cleared_away_and_nothing_else(tmp_path):
    for name in (
        "demo.json",
        "room.npz",
        "runs/room/map.npz",
        "runs/mine/map.npz",
        "figures/map.svg",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    demos.make_room_for(tmp_path)
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["demo.json", "notes.txt", "runs/mine/map.npz"]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_place_of_someone_else_is_left_alone(tmp_path, capsys, kind):
    out = tmp_path / "mine"
    if kind == "folder":
        out.mkdir()
        (out / "report.html").write_text("mine")
    else:
        out.write_text("mine")
    assert main(["demo", "--out", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"cogmap: the demo folder must be new, empty or made by an earlier demo, {out} is not: give another --out\n"
    )
    assert (out / "report.html" if kind == "folder" else out).read_text() == "mine"


def test_steps_must_be_above_zero_before_anything_is_written(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo"), "--steps", "0"]) == 2
    assert capsys.readouterr().err == "cogmap: `--steps` must be at least 1, got 0\n"
    assert not (tmp_path / "demo").exists()
