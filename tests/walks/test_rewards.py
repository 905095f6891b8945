"""Rewards of actions: kept by every format, on the map, and refused where they are no numbers or too few."""

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities
from cogmap.errors import BadWalks
from cogmap.maps.build import build_map
from cogmap.records import Codes, Walks
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import load_walks, save_walks

# Action 0 leads from 0 to 1 (reward 2) or stays (reward -1); everything else leads to 0 with reward 0.5.
MOVES = np.array([[[0.25, 0.75], [1, 0]], [[1, 0], [1, 0]]], dtype=float)
PAID = np.array([[[-1.0, 2], [0.5, 0]], [[0.5, 0], [0.5, 0]]])
WORLD = from_probabilities(MOVES, np.array([0, 1]), rewards=PAID)


def ragged():
    walks, _ = sample_walks(WORLD, 4, 9, np.random.default_rng(0))
    lengths = np.array([9, 2, 5, 9])
    mask = np.arange(9) < lengths[:, None]
    return Walks(
        np.where(mask, walks.observations, 0),
        np.where(mask[:, 1:], walks.actions, 0),
        lengths,
        2,
        2,
        rewards=np.where(mask[:, 1:], walks.rewards, 0.0),
    )


def test_sampled_walks_carry_the_rewards_of_their_moves():
    walks, truth = sample_walks(WORLD, 20, 50, np.random.default_rng(1))
    here, there = truth.positions[:, :-1], truth.positions[:, 1:]
    assert np.array_equal(walks.rewards, PAID[here, walks.actions, there])
    assert np.array_equal(walks.rows(slice(3, 5)).rewards, walks.rewards[3:5])


@pytest.mark.parametrize("suffix", ["npz", "jsonl", "csv"])
def test_every_format_keeps_them(tmp_path, suffix):
    path = tmp_path / f"walks.{suffix}"
    save_walks(path, ragged())
    read = load_walks(path)
    assert np.array_equal(read.rewards, ragged().rewards)
    assert np.array_equal(load_walks(path, like=read).rewards, read.rewards)


def test_an_action_too_many_has_a_reward_that_is_dropped(tmp_path):
    np.savez(tmp_path / "a.npz", observations=[[0, 1, 0]], actions=[[0, 1, 1]], rewards=[[1.0, 2.0, 9.0]])
    assert load_walks(tmp_path / "a.npz").rewards.tolist() == [[1, 2]]
    (tmp_path / "a.jsonl").write_text(
        '{"observations": [0, 1, 0], "actions": [0, 1], "rewards": [1, 2, 9]}\n'
    )
    assert load_walks(tmp_path / "a.jsonl").rewards.tolist() == [[1, 2]]


def test_the_map_has_their_mean_by_move():
    walks, truth = sample_walks(WORLD, 40, 60, np.random.default_rng(2))
    codes = Codes(truth.positions[:, :, None], walks.lengths, 2)
    found = build_map(codes, walks)
    assert found.num_nodes == 2
    place = found.node_observation
    paid = PAID[place[found.edge_source], found.edge_action, place[found.edge_target]]
    np.testing.assert_allclose(found.edge_reward, paid, atol=1e-9)
    assert found.deterministic().edge_reward.shape == found.deterministic().edge_source.shape


def bad_files(tmp_path):
    np.savez(tmp_path / "nan.npz", observations=[[0, 1]], actions=[[0]], rewards=[[np.nan]])
    np.savez(tmp_path / "sum.npz", observations=[[0, 1, 0]], actions=[[0, 0]], rewards=[[1.0, -1.7e308]])
    np.savez(tmp_path / "short.npz", observations=[[0, 1, 0]], actions=[[0, 0]], rewards=[[1.0]])
    (tmp_path / "nan.jsonl").write_text('{"observations": [0, 1], "actions": [0], "rewards": [NaN]}\n')
    (tmp_path / "short.jsonl").write_text('{"observations": [0, 1, 0], "actions": [0, 1], "rewards": []}\n')
    (tmp_path / "none.jsonl").write_text(
        '{"observations": [0, 1], "actions": [0], "rewards": [1]}\n{"observations": [0, 1], "actions": [0]}\n'
    )
    (tmp_path / "empty.csv").write_text("walk,step,observation,action,reward\n0,0,1,0,\n0,1,1,,\n")
    (tmp_path / "few.csv").write_text("walk,step,observation,action,reward\n0,0,1,0\n0,1,1,\n")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nan.npz", r"`rewards` must be finite and at most 1e\+100 in size, got nan"),
        (
            "short.npz",
            r"`rewards` must be numbers of shape \(B, N - 1\) = \(1, 2\) .* got float64 of shape \(1, 1\)",
        ),
        ("sum.npz", r"`rewards` must be finite and at most 1e\+100 in size, got -1.7e\+308"),
        ("nan.jsonl", "line 1: `rewards` must hold finite numbers, got NaN"),
        ("short.jsonl", "line 1: `rewards` must be a list of 2 or 3 numbers, got 0"),
        ("none.jsonl", "line 2: `rewards` must be a list of 1 or 2 numbers, got null"),
        ("empty.csv", "line 2: the reward must be a finite number, got ''"),
        ("few.csv", "line 2: a row must have 5 cells, as the header, got 4"),
    ],
)
def test_what_is_no_reward_is_refused(tmp_path, name, says):
    bad_files(tmp_path)
    with pytest.raises(BadWalks, match=says):
        load_walks(tmp_path / name)
