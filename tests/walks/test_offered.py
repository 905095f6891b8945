"""Actions that there are only after some ways to a node, as in a game whose free fields are hidden."""

import numpy as np
import pytest

from cogmap.records import Walks
from cogmap.walks.offered import offers_by_the_way

WAYS, LAST, AFTER = 3, 3, 4  # nodes 0 to 2 lead to node 3, from which all actions lead to node 4


def log_of(draw, walks=600):
    """Walks from one of three nodes over node 3 to node 4; `draw(way)` is the action at node 3."""
    rng = np.random.default_rng(0)
    first = rng.integers(WAYS, size=walks)
    nodes = np.column_stack([first, np.full(walks, LAST), np.full(walks, AFTER)])
    actions = np.column_stack([rng.integers(4, size=walks), [draw(rng, way) for way in first]])
    lengths = np.full(walks, 3)
    return nodes, Walks(np.minimum(nodes, LAST), actions, lengths, 4, 4)


def any_but_one(rng, way):
    return rng.choice([action for action in range(4) if action != way])


def test_a_field_that_is_taken_shows_in_what_a_random_agent_never_does():
    assert offers_by_the_way(*log_of(any_but_one)) == 1


def test_an_agent_that_may_do_everything_raises_no_doubt():
    assert offers_by_the_way(*log_of(lambda rng, way: rng.integers(4))) == 0


def test_an_agent_with_aims_raises_none():
    """It nearly always does one thing, and what that is depends on where it came from."""
    log = log_of(lambda rng, way: (way + 1) % 4 if rng.random() < 0.8 else any_but_one(rng, way), 3000)
    assert offers_by_the_way(*log) == 0


@pytest.mark.parametrize("seed", range(5))
def test_an_agent_that_never_turns_back_raises_none(seed):
    """On a ring of 6 nodes: right, left, stay, jump; it does not go left after right, nor right after left."""
    rng = np.random.default_rng(seed)
    moves = np.array([1, -1, 0, 3])
    nodes, actions = np.zeros((20, 400), dtype=int), np.zeros((20, 399), dtype=int)
    for walk in range(20):
        last = 2
        for step in range(399):
            allowed = [action for action in range(4) if moves[action] != -moves[last] or last == 2]
            actions[walk, step] = last = rng.choice(allowed)
            nodes[walk, step + 1] = (nodes[walk, step] + moves[last]) % 6
    walks = Walks(nodes % 2, actions, np.full(20, 400), 2, 4)
    assert offers_by_the_way(nodes, walks) == 0


def test_unknown_nodes_and_short_walks_say_nothing():
    nodes, walks = log_of(any_but_one)
    assert offers_by_the_way(np.full_like(nodes, -1), walks) == 0
    short = Walks(walks.observations[:, :2], walks.actions[:, :1], np.full(len(nodes), 2), 4, 4)
    assert offers_by_the_way(nodes[:, :2], short) == 0
