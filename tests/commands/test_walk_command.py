"""`cogmap walk`: every world to a file, the same seed the same walks, and nothing overwritten unasked."""

import json

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.environments.egocentric.renderer import load_mujoco
from cogmap.environments.machines import machine_of_world, matching_states, random_machine, save_machine
from cogmap.errors import MissingExtra
from cogmap.evaluation.prediction import ceiling
from cogmap.walks.family import room_of_each_walk
from cogmap.walks.store import load_walks
from cogmap.walks.truth_store import load_truth
from cogmap.walks.views import ViewWalks

try:
    load_mujoco()
    NOTHING_DRAWS = ""
except MissingExtra as error:
    NOTHING_DRAWS = str(error)
needs_graphics = pytest.mark.skipif(bool(NOTHING_DRAWS), reason=NOTHING_DRAWS)
MAZE = "abab\nb##b\nabab\n"


@pytest.fixture(autouse=True)
def _in_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "maze.txt").write_text(MAZE)


def walk(*arguments):
    """Few short walks in a world, and the file they went to."""
    assert main(["walk", *arguments, "--walks", "6", "--steps", "12", "--out", "w.npz", "--force"]) == 0
    return load_walks("w.npz")


def failure(capsys, *arguments):
    assert main(["walk", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "observations", "places"),
    [
        (["room"], 4, 300),
        (["room", "--height", "6", "--width", "8", "--bump", "resample", "--walls", "5"], 4, 43),
        (["room", "--height", "10", "--width", "10", "--walls", "0.1", "--patch", "0"], 4, 90),
        (["cube"], 12, 216),
        (["torus", "--one-way-doors", "3"], 4, 48),
        (["maze", "maze.txt"], 2, 10),
        (["streets", "--corners", "50", "--one-way", "0.2", "--figure", "w.png"], 45, 50),
        (["streets", "--corners", "50", "--bump", "stay", "--seed", "1"], 43, 50),
        (["machine", "nRF52832"], 12, 29),
        (["frozenlake", "--deterministic", "--size", "4x4", "--figure", "w.png"], 4, 16),
        (["cliff", "--deterministic", "--figure", "w.png"], 9, 38),
    ],
)
def test_every_world(arguments, observations, places):
    if arguments[0] in ("frozenlake", "cliff", "taxi"):
        pytest.importorskip("gymnasium")
    walks = walk(*arguments)
    truth = load_truth("w.npz", walks)
    assert (walks.num_walks, walks.num_steps, walks.num_observations) == (6, 12, observations)
    assert truth.world.num_positions == places
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    assert (truth.world.next_position[here, walks.actions] == there).all()
    assert (truth.world.observation[truth.positions] == walks.observations).all()


@pytest.mark.parametrize("rooms", ["train", "test", "restricted", "A", "B", "C", "D"])
def test_families(rooms):
    walks = walk("family", "--rooms", rooms, "--train-rooms", "30", "--test-rooms", "20")
    assert walks.num_observations == 30
    assert room_of_each_walk("w.npz").shape == (6,)
    assert load_truth("w.npz", walks).world.num_positions == 48


def test_gymnasium():
    pytest.importorskip("minigrid")
    view = ["--settings", '{"agent_view_size": 3}', "--actions", "0", "1", "2"]
    walks = walk("gym", "minigrid:MiniGrid-FourRooms-v0", *view)
    other = walk("gym", "minigrid:MiniGrid-FourRooms-v0", *view, "--walk-seed", "1")
    assert walks.num_actions == 3
    assert (walks.actions != other.actions).any()
    first = {
        labels[row[0]] for labels, row in [(walks.observation_labels, row) for row in walks.observations]
    }
    assert len(first) == 1, "each walk starts at the same place"


def test_seeds():
    first, again = walk("room"), walk("room")
    other_walks = walk("room", "--walk-seed", "1")
    same_world = load_truth("w.npz").world
    walk("room", "--seed", "1")
    other_world = load_truth("w.npz").world
    assert (first.actions == again.actions).all()
    assert (first.actions != other_walks.actions).any()
    walk("room")
    assert (load_truth("w.npz").world.observation == same_world.observation).all()
    assert (other_world.observation != same_world.observation).any()


def test_noise_changes_what_is_seen_and_not_where_one_was():
    clean = walk("room", "--steps", "12")
    positions = load_truth("w.npz").positions
    noisy = walk("room", "--noise", "0.5")
    assert (noisy.actions == clean.actions).all()
    assert (load_truth("w.npz").positions == positions).all()
    assert 0.2 < (noisy.observations != clean.observations).mean() < 0.55


@pytest.mark.parametrize("name", ["w.jsonl", "w.csv"])
def test_formats(name):
    expected = walk("room")
    assert main(["walk", "room", "--walks", "6", "--steps", "12", "--out", name, "--force"]) == 0
    walks = load_walks(name, like=expected)
    assert (walks.observations == expected.observations).all()
    assert (load_truth(name, walks).world.observation[load_truth(name).positions] == walks.observations).all()


def test_what_it_prints(capsys):
    main(["walk", "room", "--walks", "5", "--steps", "9", "--out", "room.npz", "--figure", "room.png"])
    assert capsys.readouterr().out.splitlines() == [
        "wrote room.npz: 5 walks of 9 steps, 4 observations, 4 actions",
        "wrote room.truth.npz: the true positions, among 300 places",
        "wrote room.png: the world, and the first 9 steps of walk 0",
    ]


def test_json(capsys, tmp_path):
    main(["walk", "room", "--walks", "5", "--steps", "9", "--out", "room.npz", "--json"])
    assert json.loads(capsys.readouterr().out) == {
        "walks": "room.npz",
        "truth": "room.truth.npz",
        "num_walks": 5,
        "num_steps": 9,
        "num_observations": 4,
        "num_actions": 4,
        "num_positions": 300,
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["room", "--out", "w.txt"], "a walks file must end in .npz, .jsonl, .csv or .walks, got 'w.txt'"),
        (
            ["room", "--out", "w.npz", "--figure", "w.gif"],
            "a figure must end in .png, .svg or .pdf, got 'w.gif'",
        ),
        (["room", "--out", "maze.txt/w.npz"], "cannot write maze.txt/w.truth.npz"),
        (["room", "--out", "w.npz", "--height", "6", "--width", "6", "--patch", "4"], "two 4 x 4 patches"),
        (["room", "--out", "w.npz", "--observations", "400"], "`observations` (=400) must be from 1 to"),
        (["room", "--out", "w.npz", "--seed", "-1"], "`--seed` and `--walk-seed` must be 0 or more, got -1"),
        (["room", "--out", "w.npz", "--noise", "2"], "`--noise` must be in [0, 1], got 2.0"),
        (["room", "--out", "w.npz", "--slip", "-0.1"], "`--slip` must be in [0, 1], got -0.1"),
        (["room", "--out", "w.npz", "--sticky", "nan"], "`--sticky` must be in [0, 1], got nan"),
        (["room", "--out", "w.npz", "--start", "300"], "`start` must be a position in [0, 300), got 300"),
        (["room", "--out", "w.npz", "--start", "last"], "Error parsing --start"),
        (
            ["gym", "CartPole-v1", "--out", "w.npz", "--slip", "0.1"],
            "`--slip`, `--sticky` and `--start` must",
        ),
        (["room", "--out", "w.npz", "--steps", "1"], "`steps` (=1) must be at least 2"),
        (["room", "--out", "w.npz", "--walks", "0"], "`walks` (=0) must be at least 1"),
        (
            ["family", "--out", "w.npz", "--train-rooms", "0"],
            "`train_rooms` (=0) and `test_rooms` (=512) must be",
        ),
        (["taxi", "--out", "w.npz", "--figure", "w.png"], "`--figure` must be left out for the taxi"),
        (["streets", "--out", "w.npz", "--corners", "1"], "`corners` must be at least 3, got 1"),
        (["machine", "CC26", "--out", "w.npz"], "a machine must be a .json or .dot file or one of CC2650,"),
        (["machine", "gone.json", "--out", "w.npz"], "cannot read gone.json: No such file or directory"),
        (
            ["machine", "CC2650", "--out", "w.npz", "--figure", "w.png"],
            "`--figure` must be left out for a machine",
        ),
        (["maze", "nowhere.txt", "--out", "w.npz"], "cannot read nowhere.txt: No such file or directory"),
        (["gym", "Nowhere-v0", "--out", "w.npz"], "cannot make the environment 'Nowhere-v0'"),
        (["gym", "CartPole-v1", "--out", "w.npz", "--settings", "["], "`--settings` must be JSON"),
        (
            ["gym", "CartPole-v1", "--out", "w.npz", "--settings", "3"],
            "`--settings` must be a JSON object, got 3",
        ),
        (["gym", "CartPole-v1", "--out", "w.npz", "--figure", "w.png"], "`--figure` must be left out"),
    ],
)
def test_problems(capsys, tmp_path, arguments, line):
    told = failure(capsys, *arguments)
    assert line in told
    assert told.startswith("cogmap: ")
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["maze.txt"], (
        "a refused command leaves nothing behind"
    )


@pytest.mark.parametrize("taken", ["w.npz", "w.truth.npz", "w.png"])
def test_nothing_is_overwritten_unasked(capsys, tmp_path, taken):
    (tmp_path / taken).write_text("precious")
    arguments = ["room", "--walks", "3", "--steps", "5", "--out", "w.npz", "--figure", "w.png"]
    assert f"{taken} exists; add --force to overwrite it" in failure(capsys, *arguments)
    assert (tmp_path / taken).read_text() == "precious"
    assert main(["walk", *arguments, "--force"]) == 0


def test_a_folder_in_the_way(capsys, tmp_path):
    (tmp_path / "w.npz").mkdir()
    assert "w.npz is a folder, and must be a file" in failure(capsys, "room", "--out", "w.npz", "--force")


def test_the_truth_of_overwritten_walks_goes_with_them(tmp_path):
    pytest.importorskip("gymnasium")
    walk("room")
    walks = walk("gym", "CartPole-v1")
    assert not (tmp_path / "w.truth.npz").exists()
    assert np.all(walks.lengths >= 2)


@needs_graphics
def test_a_3d_room_keeps_each_view_once(tmp_path):
    (tmp_path / "plan.txt").write_text("..o\n.#.\n...\n")
    walks = walk("room3d", "--plan", "plan.txt", "--textures", "painted", "--figure", "room.png")
    assert isinstance(walks, ViewWalks)
    assert walks.views.shape[1:] == (64, 64, 3)
    assert walks.action_labels == ("forward", "left", "right")
    truth = load_truth("w.npz", walks)
    assert truth.world.num_positions == 28
    assert np.array_equal(truth.world.observation[truth.positions], walks.observations)
    assert (tmp_path / "room.png").is_file()


@pytest.mark.parametrize(
    ("drawing", "message"),
    [("###\n", "must have a free cell, got none"), (".#.\n", "must be connected"), ("", "got an empty file")],
)
def test_a_bad_floor_plan(capsys, tmp_path, drawing, message):
    (tmp_path / "plan.txt").write_text(drawing)
    assert message in failure(capsys, "room3d", "--plan", "plan.txt", "--out", "w.npz")


def test_views_go_to_npz_only(capsys):
    assert "walks of views must be kept in .npz" in failure(capsys, "room3d", "--out", "w.csv")


@pytest.mark.parametrize("name", ["w.npz", "w.csv", "w.jsonl"])
def test_a_machine_starts_at_its_initial_state_and_its_truth_gives_it_back(tmp_path, name):
    machine = random_machine(9, 3, 2, seed=4)
    save_machine(tmp_path / "m.json", machine)
    out = ["--walks", "40", "--steps", "60", "--out", name]
    assert main(["walk", "machine", "m.json", *out]) == 0
    walks = load_walks(name)
    assert {walks.observation_labels[seen] for seen in walks.observations[:, 0]} == {"start"}
    number = {label: index for index, label in enumerate(machine.input_labels)}
    for walk in range(3):
        inputs = [number[walks.action_labels[action]] for action in walks.actions[walk]]
        shown = [walks.observation_labels[seen] for seen in walks.observations[walk, 1:]]
        assert shown == [machine.output_labels[output] for output in machine.run(inputs)]
    world = load_truth(name, walks).world
    assert matching_states(machine_of_world(world), machine) is not None
    assert ceiling(walks, world).accuracy == 1


def test_slips_repeats_and_a_known_start():
    room = ["room", "--height", "6", "--width", "8"]
    first = walk(*room, "--start", "first")
    assert (load_truth("w.npz", first).positions[:, 0] == 0).all()
    walks = walk(*room, "--start", "17", "--slip", "0.5", "--sticky", "0.9", "--figure", "w.png")
    truth = load_truth("w.npz", walks)
    assert (truth.positions[:, 0] == 17).all()
    assert (walks.actions[:, 1:] == walks.actions[:, :-1]).mean() > 0.7
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    assert (truth.world.next_position[here, walks.actions] != there).any()
    # At a corner, where two intended moves and two slips stay.
    assert truth.world.move_probability.max() == 0.75
    assert truth.world.start_probability[17] == 1


@pytest.mark.parametrize(
    "world", [["family", "--train-rooms", "5"], ["cube"], ["streets", "--corners", "40"]]
)
def test_every_world_slips(world):
    walks = walk(*world, "--slip", "1", "--start", "first")
    truth = load_truth("w.npz")
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    assert (truth.positions[:, 0] == 0).all()
    assert (truth.world.next_position[here, walks.actions] != there).any()


@pytest.mark.parametrize(
    ("world", "places"),
    [(["frozenlake"], 64), (["frozenlake", "--size", "4x4"], 16), (["cliff"], 38), (["taxi"], 404)],
)
def test_worlds_with_chance_of_gymnasium(world, places):
    pytest.importorskip("gymnasium")
    walks = walk(*world)
    truth = load_truth("w.npz", walks)
    assert truth.world.num_positions == places
    assert (truth.world.start_probability[truth.positions[:, 0]] > 0).all()
    assert (truth.world.observation[truth.positions] == walks.observations).all()
    table = np.zeros((places, walks.num_actions, places))
    table[truth.world.move_source, truth.world.move_action, truth.world.move_target] = 1
    assert table[truth.positions[:, :-1], walks.actions, truth.positions[:, 1:]].all()
    assert 0 < ceiling(walks, truth.world).accuracy < 1
