"""Folding the tree of histories into a machine, moves that walks prove, and leading wrong moves elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.gym_tables import frozen_lake
from cogmap.environments.machines import MachineWorld, load_machine, random_machine, score_machine
from cogmap.environments.minimal import minimal_world
from cogmap.maps.fold import fold, history_tree, with_sure_moves
from cogmap.maps.opinions import Opinion, _distances, _possible
from cogmap.records import Walks
from cogmap.search.reroute import reroute
from cogmap.walks.offered import offered_actions
from cogmap.walks.sample import Agent, sample_walks


def log_of(seed: int, walks: int = 200, steps: int = 40):
    world = MachineWorld(random_machine(6, 3, 3, seed))
    sampled, truth = sample_walks(world, walks, steps, np.random.default_rng(seed), Agent(start=0))
    return world, sampled, truth.positions


def no_opinion(walks: Walks) -> Opinion:
    return Opinion(np.where(walks.step_mask(), 0, -1), np.zeros((1, 1), dtype=bool))


def states_of(world: MachineWorld, walks: Walks) -> np.ndarray:
    """(B, N) the true state of each step."""
    state = np.zeros(walks.observations.shape, dtype=int)
    for step in range(walks.actions.shape[1]):
        state[:, step + 1] = world.machine.next_state[state[:, step], walks.actions[:, step]]
    return state


def test_the_tree_has_a_node_for_every_history() -> None:
    walks = Walks(
        np.array([[0, 1, 0], [0, 1, 1], [0, 2, 0]]), np.array([[0, 0], [0, 1], [1, 0]]), np.full(3, 3), 3, 2
    )
    tree = history_tree(walks)
    assert tree is not None
    assert tree.visits.tolist() == [3, 2, 1, 1, 1, 1]
    assert tree.node[0, :2].tolist() == tree.node[1, :2].tolist()
    assert tree.output[tree.node[:, :-1], walks.actions].tolist() == walks.observations[:, 1:].tolist()


def test_one_history_with_two_continuations_has_no_tree() -> None:
    walks = Walks(np.array([[0, 1], [0, 2]]), np.zeros((2, 1), int), np.full(2, 2), 3, 1)
    assert history_tree(walks) is None


def test_walks_with_different_first_observations_have_no_tree() -> None:
    walks = Walks(np.array([[0, 1], [2, 1]]), np.zeros((2, 1), int), np.full(2, 2), 3, 1)
    assert history_tree(walks) is None


@pytest.mark.parametrize("seed", range(6))
def test_no_step_contradicts_a_machine_and_its_sure_moves_are_right(seed: int) -> None:
    """Without any guess, from what was seen alone."""
    world, walks, _ = log_of(seed)
    tree = history_tree(walks)
    assert tree is not None
    machine = with_sure_moves(fold(tree, no_opinion(walks), 100), walks, no_opinion(walks))
    here, after = machine.steps[:, :-1], machine.steps[:, 1:]
    assert (machine.output[here, walks.actions] == walks.observations[:, 1:]).all()
    known = machine.next_state[here, walks.actions] >= 0
    assert (machine.next_state[here, walks.actions] == after)[known].all()
    assert score_machine(machine.next_state, machine.output - 1, world.machine).exact


def test_a_broker_needs_the_model_and_not_its_steps_alone() -> None:
    """Its states differ up to four steps ahead, and most answers are the same in all of them."""
    world = MachineWorld(load_machine("VerneMQ__two_client_will_retain"))
    walks, _ = sample_walks(world, 1000, 60, np.random.default_rng(0))
    tree = history_tree(walks)
    assert tree is not None
    states, number = states_of(world, walks), world.machine.num_states
    by_model = fold(tree, Opinion(states, ~np.eye(number, dtype=bool)), 100)
    by_steps = fold(tree, no_opinion(walks), 100)
    assert score_machine(by_model.next_state, by_model.output - 1, world.machine).exact
    assert not score_machine(by_steps.next_state, by_steps.output - 1, world.machine).exact


def test_a_wrong_opinion_in_a_hundred_does_no_harm() -> None:
    for seed in range(5):
        world, walks, _ = log_of(seed)
        tree = history_tree(walks)
        assert tree is not None
        states = states_of(world, walks)
        rng = np.random.default_rng(seed)
        wrong = rng.random(len(tree.visits)) < 1 / 100
        opinion = np.where(wrong[tree.node], rng.integers(6, size=len(tree.visits))[tree.node], states)
        found = fold(tree, Opinion(opinion, ~np.eye(6, dtype=bool)), 100)
        assert score_machine(found.next_state, found.output - 1, world.machine).exact


def pages(seed: int) -> Walks:
    """Two pages with one action each, `add` and `back`; the first shows only at every second visit that it is full."""
    rng = np.random.default_rng(seed)
    observations, actions = np.zeros((60, 21), dtype=int), np.zeros((60, 20), dtype=int)
    for walk in range(60):
        full = 0
        for step in range(20):
            on_list = step % 2 == 0
            actions[walk, step] = rng.integers(2) if on_list else 2  # look, add, back
            full = (full + (actions[walk, step] == 1)) % 3
            observations[walk, step + 1] = (1 if full < 2 else 2) if on_list else 0
    return Walks(observations, actions, np.full(60, 21), 3, 3)


def test_states_have_one_look_where_it_decides_which_actions_there_are() -> None:
    walks = pages(0)
    assert offered_actions(walks).tolist() == [
        [True, True, False],
        [False, False, True],
        [False, False, True],
    ]
    tree = history_tree(walks)
    assert tree is not None
    machine = fold(tree, no_opinion(walks), 100)
    assert (machine.shows[machine.steps] == walks.observations).all()
    assert machine.num_states == 6  # three states of the cart, on two pages


def test_tests_with_actions_that_there_are_not_say_nothing() -> None:
    """Two labels differ only after an action that their page does not have."""
    tests = np.array([[0, -1], [1, -1], [0, 1], [1, 1]])
    offered = np.array([[True, False], [True, True]])
    futures = np.zeros((2, 4, 2), dtype=np.float32)
    futures[:, 0, 1] = futures[:, 2, 0] = 1  # action 0 shows 1, then action 1 shows 0
    futures[0, 1, 0] = futures[1, 1, 1] = futures[0, 3, 0] = futures[1, 3, 1] = 1
    possible = _possible(tests, futures, np.zeros(2, dtype=int), offered)
    assert possible.tolist() == [[True, False, True, False]] * 2
    assert _distances(futures, possible).max() == 0
    assert _distances(futures, np.ones_like(possible)).max() == 1


def test_a_move_that_too_little_follows_is_not_known() -> None:
    """Two walks: after the second action of the last one nothing tells which of two states it led to."""
    #  state 0 -a0-> 1, state 1 -a0-> 0 by another output; a1 leads from 0 to 1, once, at the end of a walk.
    walks = Walks(
        np.array([[0, 1, 2, 1, 2, 1], [0, 1, 2, 1, 2, 1]]),
        np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]),
        np.full(2, 6),
        3,
        2,
    )
    tree = history_tree(walks)
    assert tree is not None
    machine = fold(tree, no_opinion(walks), 100)
    assert machine.num_states == 2
    assert (machine.next_state[0] >= 0).all()
    sure = with_sure_moves(machine, walks, no_opinion(walks))
    assert sure.next_state[0, 1] < 0
    assert sure.next_state[0, 0] == 1
    assert sure.next_state[1, 0] == 0


@pytest.mark.parametrize("seed", range(6))
def test_a_move_to_a_wrong_place_that_looks_right_is_led_back(seed: int) -> None:
    world, walks, positions = log_of(seed)
    table, shows = world.next_position.astype(np.int32), world.observation
    tried = np.zeros(table.shape, dtype=int)
    np.add.at(tried, (positions[:, :-1], walks.actions), 1)
    for place, action in np.argwhere(tried >= 20):
        others = np.flatnonzero((shows == shows[table[place, action]]) & (tried.sum(axis=1) > 0))
        others = others[others != table[place, action]]
        if not len(others):
            continue
        wrong = table.copy()
        wrong[place, action] = others[0]
        found = reroute(walks, wrong, shows, positions)
        assert found is not None
        assert (found == table).all()
        return
    pytest.fail("no move has another target that looks the same")


def test_moves_that_nothing_contradicts_stay() -> None:
    world, walks, positions = log_of(0)
    assert reroute(walks, world.next_position.astype(np.int32), world.observation, positions) is None


def test_the_history_with_the_most_evidence_comes_first() -> None:
    """In a grid without chance, folding the most visited history first makes states without end."""
    world = minimal_world(frozen_lake("8x8", slippery=False))
    walks, truth = sample_walks(world, 500, 400, np.random.default_rng([0, 1]))
    tree = history_tree(walks)
    assert tree is not None
    places = len(np.unique(truth.positions))
    assert fold(tree, no_opinion(walks), 200).num_states == 200
    clearest = fold(tree, replace(no_opinion(walks), compared=20), 200)
    assert clearest.num_states < 1.2 * places
    assert (clearest.steps[walks.step_mask()] >= 0).all()
