"""Moves that another machine of as many states says otherwise are not known."""

from __future__ import annotations

import time

import numpy as np
import pytest
from protocols import log_of, no_opinion, protocol, states_of

from cogmap.environments.machines import MealyMachine, random_machine, score_machine
from cogmap.maps.agreed import agreed_moves, naming_moves
from cogmap.maps.fold import fold, history_tree, with_sure_moves
from cogmap.maps.rewire import Histories, histories_of, shorter
from cogmap.maps.traces import Reading, read
from cogmap.records import Walks

LATE = np.inf
LOGS = [(60, {}), (150, {}), (60, {"sinks": 1}), (150, {"sinks": 1}), (300, {"sinks": 1})]


def found_in(walks: Walks) -> tuple[Histories, Reading]:
    tree = history_tree(walks)
    assert tree is not None
    histories = histories_of(tree)
    by = histories.read(fold(tree, no_opinion(walks), 400))
    assert by is not None
    return histories, shorter(histories, by, no_opinion(walks), LATE)


def wrong_moves(by: Reading, known: np.ndarray, truth: MealyMachine) -> int:
    return score_machine(np.where(known, by.target, -1), by.output - 1, truth).wrong_moves


def test_no_move_is_wrong_whatever_the_log_leaves_open() -> None:
    """Of what was seen alone, 40 logs. Two witnesses are not enough: two states may have become one."""
    by_witnesses, by_agreement, known_moves, made = 0, 0, 0, 0
    for walks_in_log, kind in LOGS:
        for seed in range(8):
            machine = protocol(8, seed, **kind)
            _, walks = log_of(machine, walks_in_log, 30, seed)
            histories, by = found_in(walks)
            witnessed = with_sure_moves(histories.machine(by), walks, no_opinion(walks)).next_state >= 0
            known = witnessed & agreed_moves(histories.traces, by, [], LATE)
            by_witnesses += wrong_moves(by, witnessed, machine)
            by_agreement += wrong_moves(by, known, machine)
            known_moves, made = known_moves + known.sum(), made + (by.target >= 0).sum()
    assert by_witnesses > 0
    assert by_agreement == 0
    assert known_moves > 0.9 * made


@pytest.mark.parametrize("seed", range(4))
def test_all_is_known_of_a_machine_that_was_tried_often(seed: int) -> None:
    machine = random_machine(6, 3, 3, seed)
    _, walks = log_of(machine, 200, 40, seed)
    histories, by = found_in(walks)
    known = agreed_moves(histories.traces, by, [], LATE)
    assert known.all()
    assert score_machine(by.target, by.output - 1, machine).exact


def two_machines(seed: int) -> tuple[Histories, Reading, Reading]:
    """A machine, and the same with other numbers of its states."""
    machine = random_machine(6, 3, 3, seed)
    _, walks = log_of(machine, 200, 40, seed)
    histories, by = found_in(walks)
    order = np.random.default_rng(seed).permutation(by.num_states)
    number = np.argsort(order)
    other = read(histories.traces, number[by.target[order]], by.shows[order], number[by.state])
    assert not other.wrong.any()
    return histories, by, other


@pytest.mark.parametrize("seed", range(3))
def test_another_numbering_of_states_is_no_other_machine(seed: int) -> None:
    histories, by, other = two_machines(seed)
    assert agreed_moves(histories.traces, by, [other], time.monotonic() - 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_move_that_another_machine_leads_elsewhere_is_not_known(seed: int) -> None:
    histories, by, other = two_machines(seed)
    names = naming_moves(by)
    actions = by.target.shape[1]
    move = next(move for move in range(len(by.given)) if move not in names)
    here, action = divmod(move, actions)
    first = np.flatnonzero(by.move == move)[0]  # the other machine's names of both ends
    at, to = other.state[histories.traces.parent[first]], other.state[first]
    other.target[at, action] = (to + 1) % other.num_states
    known = agreed_moves(histories.traces, by, [other], time.monotonic() - 1)
    assert np.argwhere(~known).tolist() == [[here, action]]


def test_each_state_has_one_name_from_the_start() -> None:
    machine = protocol(8, 0)
    _, walks = log_of(machine, 100, 30)
    _, by = found_in(walks)
    named = [int(by.state[0])]
    for move in naming_moves(by):
        here, action = divmod(move, by.target.shape[1])
        assert here in named
        named.append(int(by.target[here, action]))
    assert sorted(named) == list(range(by.num_states))


def test_states_of_the_truth_are_found_again() -> None:
    """Each learned state of a machine that is exact is one true state."""
    machine = random_machine(6, 3, 3, 1)
    _, walks = log_of(machine, 200, 40, 1)
    histories, by = found_in(walks)
    pairs = np.column_stack([histories.machine(by).steps.ravel(), states_of(machine, walks).ravel()])
    assert len(np.unique(pairs, axis=0)) == machine.num_states
