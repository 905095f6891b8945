"""What a log says of itself, on logs whose answer is known."""

import numpy as np
import pytest

from cogmap.environments.chance import from_probabilities
from cogmap.environments.machines import MachineWorld, random_machine
from cogmap.environments.room import AliasedRoom
from cogmap.records import TableWorld
from cogmap.walks.advice import advise
from cogmap.walks.sample import Agent, add_noise, sample_walks
from cogmap.walks.summary import summarise

ROOM = AliasedRoom(5, 6, 4, seed=0)


def advice_of(world, walks=60, steps=100, noise=0.0, agent=None, start=False):
    rng = np.random.default_rng(0)
    sampled, _ = sample_walks(world, walks, steps, rng, agent or Agent())
    if noise:
        sampled = add_noise(sampled, noise, rng)
    summary = summarise(sampled)
    return advise(sampled, summary, start), list(advise(sampled, summary, start).lines(sampled, summary))


def test_a_room_with_enough_steps_needs_nothing():
    found, lines = advice_of(ROOM)
    assert found.visits_of_a_move >= 20
    assert found.settled == 0
    assert not found.outputs_on_moves
    assert "enough" in lines[0]
    assert len(lines) == 2


def test_too_short_a_log_says_how_much_longer():
    found, lines = advice_of(ROOM, walks=4, steps=60)
    assert found.visits_of_a_move < 20
    assert "too few, walk" in lines[0]


def test_chance_shows_in_repeated_steps():
    slips, _ = advice_of(ROOM, walks=300, steps=200, agent=Agent(slip=0.3))
    plain, _ = advice_of(ROOM, walks=300, steps=200)
    assert slips.differing > 10 * max(plain.differing, 0.001)


def test_a_goal_that_is_hardly_ever_reached():
    """A corridor of twelve cells that is walked from its first one: the last, with the reward, is seldom seen."""
    cells = np.arange(12)
    to = np.stack([np.maximum(cells - 1, 0), np.minimum(cells + 1, 11)], axis=1)
    to[11] = 0
    moves = np.zeros((12, 2, 12))
    moves[cells[:, None], [[0, 1]], to] = 1
    rewards = np.zeros(moves.shape)
    rewards[10, 1, 11] = 1
    world = from_probabilities(moves, (cells == 11).astype(int), rewards, start_probability=np.eye(12)[0])
    found, lines = advice_of(world, walks=10, steps=200)
    assert 0 < found.rarest < 40
    assert found.rarest - 10 <= found.gains <= found.rarest
    assert any(f"seen {found.rarest} times: to know what leads there, walk " in line for line in lines)
    assert any(line.startswith(f"{found.gains} moves have a reward above the usual one") for line in lines)
    enough, lines = advice_of(world, walks=200, steps=400)
    assert enough.gains > 40
    assert not any("times as long, or start" in line for line in lines)


def test_an_absorbing_state():
    world = TableWorld(np.array([[1, 0], [2, 0], [2, 2]]), np.array([0, 1, 2]), 3)
    found, lines = advice_of(world)
    assert found.settled > 0.9
    assert any("never left: an absorbing state" in line for line in lines)


def test_answers_of_a_machine():
    found, _ = advice_of(MachineWorld(random_machine(5, 3, 3, seed=1)))
    assert found.outputs_on_moves


@pytest.mark.parametrize("legal", [True, False])
def test_actions_that_are_not_offered(legal):
    table = np.array([[1, 1, 1], [0, 0, 0]])
    allowed = np.array([[True, False, False], [False, True, True]]) if legal else None
    found, _ = advice_of(TableWorld(table, np.array([0, 1]), 2, allowed))
    assert found.offered == (0.5 if legal else 1.0)
