"""The truth file beside a walks file: round trip, what may be left out, what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments import chance
from cogmap.environments.machines import MachineWorld, load_machine
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadWalks
from cogmap.evaluation.prediction import ceiling
from cogmap.records import ChanceWorld, TableWorld
from cogmap.walks.family import room_of_each_walk
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.truth_store import load_truth, save_truth, truth_path

WORLD = AliasedRoom(5, 7, patch=2, bump="resample")
WALKS, TRUTH = sample_walks(WORLD, 4, 9, np.random.default_rng(0))
# A one-way door: what leads from 0 to 1 does not lead back.
ONE_WAY = {"next_position": np.array([[1, 0], [1, 1]]), "observation": np.array([0, 1])}
POSITIONS = np.array([[0, 1, 1]])


@pytest.mark.parametrize("name", ["room.npz", "room.jsonl", "room.csv", "room.truth.npz"])
def test_path(tmp_path, name):
    assert truth_path(tmp_path / name) == tmp_path / "room.truth.npz"


def test_a_dot_in_the_name_stays(tmp_path):
    assert truth_path(tmp_path / "room.v2.npz").name == "room.v2.truth.npz"


def test_round_trip(tmp_path):
    rooms = np.array([3, 1, 2, 0], dtype=np.int32)
    save_truth(tmp_path / "room.csv", TRUTH, rooms)
    back = load_truth(tmp_path / "room.csv", WALKS)
    assert (back.positions == TRUTH.positions).all()
    for field in ("next_position", "observation", "legal", "coordinates"):
        assert np.array_equal(getattr(back.world, field), getattr(WORLD, field)), field
    for field in ("num_observations", "observation_labels", "action_labels", "name"):
        assert getattr(back.world, field) == getattr(WORLD, field), field
    assert room_of_each_walk(tmp_path / "room.npz").tolist() == [3, 1, 2, 0]


def test_chance_rewards_and_starts_come_back(tmp_path):
    world = chance.with_start(chance.with_slip(WORLD, 0.3), 4)
    noisy = np.eye(world.num_observations)[world.observation] * 0.8 + 0.2 / world.num_observations
    rewards = np.random.default_rng(0).normal(size=world.move_source.size)
    world = replace(world, observation_probability=noisy, move_reward=rewards)
    walks, truth = sample_walks(world, 4, 9, np.random.default_rng(0))
    save_truth(tmp_path / "w.npz", truth)
    back = load_truth(tmp_path / "w.npz", walks).world
    assert isinstance(back, ChanceWorld)
    for field in ChanceWorld.__dataclass_fields__:
        mine, theirs = getattr(world, field), getattr(back, field)
        assert np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs, field


def test_chance_in_another_vocabulary(tmp_path):
    """Walks from CSV number labels in the order of their first appearance."""
    moves = np.array([[[0.1, 0.9], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]])
    seen = np.array([[0.7, 0.3], [0.1, 0.9]])
    labels = {"observation_labels": ("a", "b"), "action_labels": ("x", "y")}
    world = chance.from_probabilities(moves, seen, **labels)
    walks, truth = sample_walks(world, 1, 30, np.random.default_rng(0))
    other = replace(
        walks,
        observations=1 - walks.observations,
        actions=1 - walks.actions,
        observation_labels=("b", "a"),
        action_labels=("y", "x"),
    )
    save_truth(tmp_path / "w.npz", truth)
    back = load_truth(tmp_path / "w.npz", other).world
    again = np.zeros((2, 2, 2))
    again[back.move_source, back.move_action, back.move_target] = back.move_probability
    assert np.array_equal(again, moves[:, ::-1])
    assert np.array_equal(back.observation_probability, seen[:, ::-1])


def test_half_a_world_with_chance_is_refused(tmp_path):
    chances = {"move_source": np.zeros(1, int)}
    np.savez(tmp_path / "w.truth.npz", positions=POSITIONS, **ONE_WAY, **chances)
    with pytest.raises(BadWalks, match="must have `move_action`, got none"):
        load_truth(tmp_path / "w.npz")


def test_three_arrays_are_enough(tmp_path):
    np.savez(tmp_path / "w.truth.npz", positions=POSITIONS, **ONE_WAY)
    world = load_truth(tmp_path / "w.npz").world
    assert world.next_position.tolist() == [[1, 0], [1, 1]]
    assert world.num_observations == 2
    assert world.legal is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positions": POSITIONS + 1}, r"`positions` must be in \[0, 2\), got 1 to 2"),
        ({"positions": POSITIONS * 1.0}, "`positions` must hold integers, got dtype float64"),
        ({"next_position": np.array([[0, 5], [0, 0]])}, r"`next_position` must be in \[0, 2\), got 0 to 5"),
        ({"observation": np.array([0])}, r"`observation` must have shape \(P,\) = \(2,\), got \(1,\)"),
        ({"legal": np.ones((2, 2))}, "`legal` must hold booleans, got dtype float64"),
        ({"legal": np.zeros((2, 2), bool)}, "every position needs a legal action, position 0 has none"),
        ({"coordinates": np.array([["a", "b"]])}, "`coordinates` must hold numbers, got dtype <U1"),
    ],
)
def test_problems(tmp_path, change, message):
    np.savez(tmp_path / "w.truth.npz", **({"positions": POSITIONS} | ONE_WAY | change))
    with pytest.raises(BadWalks, match=rf"w\.truth\.npz: {message}"):
        load_truth(tmp_path / "w.npz")


def test_no_truth_at_all(tmp_path):
    with pytest.raises(BadWalks, match=r"cannot read .*w\.truth\.npz: No such file or directory"):
        load_truth(tmp_path / "w.npz")


def test_the_truth_of_other_walks(tmp_path):
    np.savez(tmp_path / "w.truth.npz", positions=POSITIONS, **ONE_WAY)
    with pytest.raises(
        BadWalks, match=r"`positions` must have the shape of the walks, \(4, 9\), got \(1, 3\)"
    ):
        load_truth(tmp_path / "w.npz", WALKS)


def test_rooms_of_walks_that_have_none(tmp_path):
    save_truth(tmp_path / "room.npz", TRUTH)
    assert room_of_each_walk(tmp_path / "room.npz") is None


def test_a_world_is_numbered_as_the_walks_number_their_labels(tmp_path):
    """CSV sorts labels; an axis mistaken here would send every plan the wrong way."""
    world = TableWorld(
        # "up" leads on, "down" stays, from 1 "down" leads on.
        next_position=np.array([[1, 0], [1, 2], [0, 2]]),
        observation=np.array([0, 1, 0]),
        num_observations=2,
        legal=np.array([[1, 1], [0, 1], [1, 1]], dtype=bool),
        observation_labels=("red", "blue"),
        action_labels=("up", "down"),
    )
    walks, truth = sample_walks(world, 20, 15, np.random.default_rng(0))
    save_walks(tmp_path / "w.csv", walks)
    save_truth(tmp_path / "w.csv", truth)
    read = load_walks(tmp_path / "w.csv")
    assert (read.action_labels, read.observation_labels) == (("down", "up"), ("blue", "red"))
    aligned = load_truth(tmp_path / "w.csv", read)
    here, there = aligned.positions[:, :-1], aligned.positions[:, 1:]
    assert (aligned.world.next_position[here, read.actions] == there).all()
    assert (aligned.world.observation[aligned.positions] == read.observations).all()
    assert aligned.world.legal.tolist() == [[True, True], [True, False], [True, True]]
    assert aligned.world.action_labels == ("down", "up")


def test_labels_that_only_one_of_the_two_has(tmp_path):
    save_truth(tmp_path / "room.npz", TRUTH)
    renamed = replace(WALKS, action_labels=("up", "down", "left", "east"))
    with pytest.raises(
        BadWalks, match="the action labels must be those of the walks, only one of them has 'east'"
    ):
        load_truth(tmp_path / "room.npz", renamed)


def test_a_table_that_lacks_what_was_never_seen_is_scored_all_the_same(tmp_path):
    world = MachineWorld(load_machine("tcp_server_bsd_trans"))
    walks, truth = sample_walks(world, 3, 12, np.random.default_rng(0))
    save_walks(tmp_path / "w.csv", walks)
    save_truth(tmp_path / "w.csv", truth)
    read = load_walks(tmp_path / "w.csv")
    assert read.num_observations < world.num_observations
    assert read.num_actions == world.num_actions
    back = load_truth(tmp_path / "w.csv", read)
    assert back.world.observation_labels[: read.num_observations] == read.observation_labels
    assert set(back.world.observation_labels) == set(world.observation_labels)
    assert (back.world.observation[back.positions] == read.observations).all()
    assert ceiling(read, back.world).accuracy == 1
