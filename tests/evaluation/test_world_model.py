"""The metrics of world models against sentences that are enumerated one by one."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.world_model import (
    EPSILON,
    MapPredictor,
    boundaries,
    depth_of,
    detour_success,
    language_scores,
    map_replanner,
    world_model_scores,
)
from cogmap.planning.rollouts import read_by_steps
from cogmap.records import CognitiveMap, TableWorld
from cogmap.walks.sample import sample_walks


@dataclass(frozen=True)
class Histories:
    """What was seen and done, for a predictor that is a table of chances by history."""

    past: tuple

    def rows(self, index):
        return Histories(tuple(self.past[i] for i in np.asarray(index).tolist()))


class Table:
    """Random probabilities for each (history, action), some below EPSILON: an arbitrary model."""

    def __init__(self, observations, seed):
        self.observations, self.seed, self.known = observations, seed, {}

    def chances(self, past, action):
        key = (past, action)
        if key not in self.known:
            rng = np.random.default_rng([self.seed, abs(hash(key)) % 2**32])
            shares = rng.random(self.observations) * (rng.random(self.observations) < 0.5)
            self.known[key] = (shares + 1e-4) / (shares + 1e-4).sum()
        return self.known[key]

    def begin(self, observations, actions):
        return Histories(tuple((index,) for index in range(len(observations))))

    def predict(self, state, actions):
        shares = [self.chances(past, int(a)) for past, a in zip(state.past, actions, strict=True)]
        moved = tuple((*past, int(a)) for past, a in zip(state.past, actions, strict=True))
        return np.log(np.array(shares).reshape(len(shares), self.observations)), Histories(moved)

    def advance(self, state, observations):
        return Histories(tuple((*past, int(o)) for past, o in zip(state.past, observations, strict=True)))

    def read(self, state, actions, observations):
        return read_by_steps(self, state, actions, observations)


def model_has(table, start, sentence):
    past = (start,)
    for action, shown in sentence:
        if table.chances(past, action)[shown] < EPSILON:
            return False
        past = (*past, action, shown)
    return True


def world_has(world, position, sentence):
    for action, shown in sentence:
        position = world.next_position[position, action]
        if world.observation[position] != shown:
            return False
    return True


def boundary(has, first, second, words, depth):
    return [
        sentence
        for length in range(1, depth + 1)
        for sentence in itertools.product(words, repeat=length)
        if has(first, sentence)
        and not has(second, sentence)
        and all(has(side, sentence[:cut]) for side in (first, second) for cut in range(1, length))
    ]


@pytest.mark.parametrize("seed", range(5))
def test_boundaries_are_those_of_enumerated_sentences(seed):
    rng = np.random.default_rng(seed)
    world = TableWorld(rng.integers(5, size=(5, 2)), rng.integers(3, size=5), 3)
    table, depth = Table(3, seed), 3
    position = rng.integers(5, size=4).astype(np.int32)
    other = np.array([1, 0, 3, 2])
    state = table.begin(np.zeros((4, 1)), None)
    found = boundaries(table, state, other, position, world, depth)
    words = list(itertools.product(range(2), range(3)))
    for index, there in enumerate(other):

        def of_model(who, sentence):
            return model_has(table, who, sentence)

        def of_world(who, sentence):
            return world_has(world, position[who], sentence)

        learned, true = (boundary(has, index, there, words, depth) for has in (of_model, of_world))
        right = [s for s in learned if of_world(index, s) and not of_world(there, s)]
        kept = [s for s in true if of_model(index, s) and not of_model(there, s)]
        assert (found[index].of_model, found[index].true) == (len(learned), len(right))
        assert (found[index].of_world, found[index].found) == (len(true), len(kept))


def true_map(world, merged=()):
    """The world as a map; positions of `merged` are one node."""
    node = np.arange(world.num_positions)
    for first, second in merged:
        node[second] = first
    source, action = np.nonzero(np.ones_like(world.next_position, dtype=bool))
    edges = np.unique(np.stack([node[source], action, node[world.next_position[source, action]]]), axis=1)
    return CognitiveMap(
        kind="minimal",
        node_observation=world.observation,
        node_support=np.ones(world.num_positions, dtype=int),
        edge_source=edges[0],
        edge_action=edges[1],
        edge_target=edges[2],
        edge_support=np.ones(edges.shape[1], dtype=int),
        code_tuples=np.zeros((0, 1), dtype=int),
        code_node=np.zeros(0, dtype=int),
        num_observations=world.num_observations,
        num_actions=world.num_actions,
        explained=1.0,
    )


@pytest.fixture(scope="module")
def room():
    world = AliasedRoom(4, 5, 4, seed=2)
    return world, *sample_walks(world, 60, 120, np.random.default_rng(0))


def test_the_true_map_has_all_of_it(room):
    world, walks, truth = room
    scores = world_model_scores(true_map(world), walks, truth, pairs=24)
    assert scores.compression_precision == scores.distinction_precision == scores.distinction_recall == 1
    assert scores.detours > 0.95


def test_a_map_that_merges_places_distinguishes_less(room):
    world, walks, truth = room
    pairs = [
        (first, second)
        for first in range(20)
        for second in range(first + 1, 20)
        if world.observation[first] == world.observation[second]
    ][:4]
    scores = world_model_scores(true_map(world, pairs), walks, truth, pairs=24)
    assert scores.distinction_recall < 1
    assert scores.detours < 1


def test_a_map_of_one_place_for_each_observation_recalls_little(room):
    world, walks, truth = room
    first = {shown: int(np.flatnonzero(world.observation == shown)[0]) for shown in range(4)}
    merged = [(first[int(shown)], place) for place, shown in enumerate(world.observation)]
    scores = language_scores(
        MapPredictor(true_map(world, merged)), walks, truth, np.random.default_rng(0), 24
    )
    assert scores.distinction_recall < 0.7
    assert scores.compression_precision > 0.9  # it compresses too much, not too little


def test_detours_are_reached_by_a_planner_that_knows_and_by_no_other(room):
    world, walks, truth = room
    target = truth.positions[:, 80]
    rng = np.random.default_rng(0)
    knows = map_replanner(true_map(world), target)
    assert detour_success(knows, walks, truth, 49, target, rng) > 0.95
    nowhere = lambda seen, done, which: [np.zeros(0, dtype=np.int32)] * len(which)  # noqa: E731
    at_goal = (truth.positions[:, 49] == target).mean()
    assert detour_success(nowhere, walks, truth, 49, target, rng) == at_goal


@pytest.mark.parametrize(("actions", "depth"), [(1, 8), (2, 8), (4, 4), (16, 2), (300, 2)])
def test_depth_bounds_the_sentences(actions, depth):
    assert depth_of(actions) == depth


@pytest.mark.parametrize("possible", [False, True])
def test_actions_that_can_be_taken_at_neither_place_are_part_of_no_sentence(possible):
    """Action 1 tells two places apart, where it can be taken."""
    legal = np.array([[True, possible], [True, possible], [True, True]])
    world = TableWorld(np.array([[0, 2], [1, 1], [2, 2]]), np.array([0, 0, 1]), 2, legal)
    table = Table(2, 0)
    state = table.begin(np.zeros((2, 1), dtype=int), np.zeros((2, 0), dtype=int))
    found = boundaries(table, state, np.array([1, 0]), np.array([0, 1]), world, 1)
    assert [side.of_world for side in found] == [int(possible)] * 2
