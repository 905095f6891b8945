"""Families of rooms on the command line, with the small model that is kept in `results/models`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.environments.oracle import optimal_distances
from cogmap.errors import BadConfig
from cogmap.experiments import family_demo
from cogmap.maps.store import load_map
from cogmap.records import Walks
from cogmap.runs.run import load_run
from cogmap.tasks.family import chosen_names
from cogmap.walks.family import save_family_walks
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.truth_store import load_truth

STORED = Path(__file__).parents[2] / "results" / "models" / "rooms-4x5"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A copy of the stored run, to write maps into."""
    return Path(shutil.copytree(STORED, tmp_path / "run"))


def walk(out: Path, *more: str, rooms: str = "test") -> None:
    """Walks in rooms of the stored model's own family."""
    options = json.loads((STORED / "family.json").read_text())["rooms"]
    told = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert main(["walk", "family", "--rooms", rooms, *told, "--out", str(out), "--force", *more]) == 0


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return "".join(capsys.readouterr())


def some_rooms_walks(tmp_path: Path) -> Path:
    walk(tmp_path / "test.npz", "--walks", "40", "--steps", "300", "--walk-seed", "5")
    return tmp_path / "test.npz"


def room_with_most_walks(tmp_path: Path) -> int:
    return int(np.bincount(np.load(tmp_path / "test.npz")["rooms"]).argmax())


def of_one_room(tmp_path: Path, steps: int = 300) -> Walks:
    """The walks of the room that the most of 40 walks are in."""
    path = some_rooms_walks(tmp_path)
    rooms = np.load(path)["rooms"]
    walks = load_walks(path)
    chosen = walks.rows(np.flatnonzero(rooms == room_with_most_walks(tmp_path)))
    return Walks(
        chosen.observations[:, :steps],
        chosen.actions[:, : steps - 1],
        np.minimum(chosen.lengths, steps),
        chosen.num_observations,
        chosen.num_actions,
    )


def test_a_new_room_is_mapped_from_its_own_walks(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_walks(tmp_path / "new.npz", of_one_room(tmp_path))
    told(capsys)
    assert main(["map", str(run), "--walks", str(tmp_path / "new.npz"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["nodes"], found["edges"], found["warnings"]) == (20, 80, [])
    drawn = load_map(run / "map.npz")
    assert set(np.unique(drawn.node_observation)) == set(np.unique(of_one_room(tmp_path).observations))
    told(capsys)
    plan = [
        "plan",
        str(run),
        "--walks",
        str(tmp_path / "new.npz"),
        "--from",
        "0:100",
        "--to",
        "0:250",
        "--json",
    ]
    assert main(plan) == 0
    actions = json.loads(capsys.readouterr().out)["action_indices"]
    truth = load_truth(tmp_path / "test.npz")
    walk_of_room = int((np.load(tmp_path / "test.npz")["rooms"] == room_with_most_walks(tmp_path)).argmax())
    start, goal = truth.positions[walk_of_room, [100, 250]].tolist()
    assert len(actions) == optimal_distances(truth.world)[start, goal]
    for action in actions:
        start = int(truth.world.next_position[start, action])
    assert start == goal


def test_walks_of_several_rooms_need_a_room_to_be_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = some_rooms_walks(tmp_path)
    rooms = np.unique(np.load(path)["rooms"])
    told(capsys)
    assert main(["map", str(run), "--walks", str(path)]) == 2
    assert f"the walks must be of one room, these are of {len(rooms)}: give --room" in told(capsys)
    assert main(["map", str(run), "--walks", str(path), "--room", "9999"]) == 2
    assert "`--room` must be one of the walks'" in told(capsys)
    assert main(["map", str(run), "--walks", str(path), "--room", str(rooms[0])]) == 0


@pytest.mark.parametrize(
    ("observations", "line"),
    [
        ([[0, 1, 2, 3, 0, 1]], "must show at most 3 different observations, these walks show 4"),
        ([[0, 1, 12, 1, 0, 1]], "`observations` must be in [0, 12), got 0 to 12"),
    ],
)
def test_a_room_of_no_such_family_is_refused_in_one_line(
    run: Path, tmp_path: Path, observations: list[list[int]], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = np.array(observations)
    np.savez(tmp_path / "odd.npz", observations=seen, actions=np.zeros((1, 5), dtype=int))
    assert main(["map", str(run), "--walks", str(tmp_path / "odd.npz")]) == 2
    said = told(capsys)
    assert line in said
    assert said.count("\n") == 1


def test_a_walk_too_short_to_see_all_colours_gives_a_map_with_its_doubts(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walks = of_one_room(tmp_path)
    row = walks.observations[0]
    steps = next(step for step in range(2, 300) if len(np.unique(row[: step + 1])) == 3)
    short = Walks(row[None, :steps], walks.actions[:1, : steps - 1], np.array([steps]), 12, 4)
    save_walks(tmp_path / "short.npz", short)
    told(capsys)
    assert main(["map", str(run), "--walks", str(tmp_path / "short.npz")]) == 0
    assert "of the 3 observations that rooms of the family have" in told(capsys)


def test_evaluate_maps_every_room_by_itself(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walk(tmp_path / "test.npz", "--walks", "24", "--walk-seed", "3")
    told(capsys)
    evaluate = [
        "evaluate",
        str(run),
        "--walks",
        str(tmp_path / "test.npz"),
        "--context-length",
        "100",
        "--json",
    ]
    assert main(evaluate) == 0
    found = json.loads(capsys.readouterr().out)
    assert found[""]["test_accu"] >= 0.975
    assert found["atlas"]["imp_fallback"] >= 0.95
    assert found["atlas"]["problems"] == 24


def test_learning_a_family_needs_rooms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walks = Walks(np.zeros((4, 5), dtype=np.int32), np.zeros((4, 4), dtype=np.int32), np.full(4, 5), 3, 2)
    save_walks(tmp_path / "plain.npz", walks)
    assert main(["learn", str(tmp_path / "plain.npz"), "--family", "--out", str(tmp_path / "a")]) == 2
    assert "must say which room each walk is of, in an array `rooms` (B,)" in told(capsys)
    save_family_walks(tmp_path / "one.npz", walks, np.zeros(4, dtype=np.int32))
    assert main(["learn", str(tmp_path / "one.npz"), "--family", "--out", str(tmp_path / "b")]) == 2
    assert "a family must have at least 2 rooms" in told(capsys)
    every = Walks(np.tile([0, 1, 2, 1, 0], (4, 1)), walks.actions, walks.lengths, 3, 2)
    save_family_walks(tmp_path / "all.npz", every, np.arange(4, dtype=np.int32))
    assert main(["learn", str(tmp_path / "all.npz"), "--family", "--out", str(tmp_path / "c")]) == 2
    assert "must show fewer observations than there are (=3), one shows 3" in told(capsys)


def test_a_family_is_learned_end_to_end_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walk(tmp_path / "train.npz", "--walks", "60", "--steps", "80", rooms="train")
    out = tmp_path / "learned"
    sizes = ["--change", "width=16", "num_codes=8", "head_width=16", "batch_size=8", "validate_every=4"]
    learn = ["learn", str(tmp_path / "train.npz"), "--family", "--out", str(out)]
    assert main([*learn, "--steps", "4", *sizes]) == 0
    assert "map a new room with: cogmap map" in told(capsys)
    assert load_run(out).config.in_base
    assert load_run(out).config.slot_encoder
    assert not (out / "map.npz").exists()
    assert main([*learn, "--steps", "12", "--resume"]) == 0
    told(capsys)
    (out / "atlas.npz").unlink(missing_ok=True)
    save_walks(tmp_path / "new.npz", of_one_room(tmp_path))
    told(capsys)
    assert main(["map", str(out), "--walks", str(tmp_path / "new.npz")]) == 2
    assert "a family's run must hold atlas.npz" in told(capsys)


def test_the_demo_of_a_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(family_demo, "STORED", STORED)
    monkeypatch.setattr(family_demo, "SCORED_ROOMS", 3)
    assert main(["demo", "--world", "family", "--out", str(tmp_path / "demo")]) == 0
    said = told(capsys)
    assert said.count("the map is the room") == family_demo.SHOWN_ROOMS
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
    assert (tmp_path / "demo" / "figures" / "new_rooms.png").is_file()
    monkeypatch.setattr(family_demo, "STORED", tmp_path)
    assert main(["demo", "--world", "family", "--out", str(tmp_path / "demo")]) == 2
    assert "must find its trained model in" in told(capsys)


def test_what_an_encoder_knows_observations_by() -> None:
    assert chosen_names("auto", "gru", "fast", 4) == "none"
    assert chosen_names("auto", "gru", "fast", 40) == "seen"  # a slot for each would be slow
    assert chosen_names("auto", "transformer", "fast", 4) == "seen"
    assert chosen_names("auto", "transformer", "paper", 4) == "plain"
    assert chosen_names("plain", "gru", "fast", 4) == "plain"
    with pytest.raises(BadConfig, match="`names` must be plain in the preset paper, got 'seen'"):
        chosen_names("seen", "transformer", "paper", 4)
