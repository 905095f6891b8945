"""Moves led elsewhere: what a change does, and machines with fewer states."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from protocols import log_of, no_opinion, protocol, states_of

from cogmap.maps.fold import fold, history_tree
from cogmap.maps.opinions import Opinion
from cogmap.maps.rewire import Histories, denied_targets, histories_of, shorter
from cogmap.maps.traces import Reading, change, lead, nodes_of, read, scratch_for
from cogmap.records import Walks

LATE = np.inf


def histories_of_log(walks: Walks) -> Histories:
    tree = history_tree(walks)
    assert tree is not None
    return histories_of(tree)


def folded(histories: Histories, walks: Walks) -> Reading:
    by = histories.read(fold(histories.tree, no_opinion(walks), 400))
    assert by is not None
    return by


def same(one: Reading, other: Reading) -> bool:
    return all(np.array_equal(*each) for each in zip(one, other, strict=True))


def test_the_nodes_come_branch_by_branch() -> None:
    _, walks = log_of(protocol(5, 0), 30, 12)
    traces = histories_of_log(walks).traces
    for node in range(1, len(traces.parent)):
        above = traces.parent[node]
        assert above < node < traces.end[node] <= traces.end[above]
    tree = history_tree(walks)
    assert tree is not None
    assert np.bincount(traces.action[1:]).tolist() == (tree.child >= 0).sum(axis=0).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_a_move_led_elsewhere_is_read_as_if_all_were_read_anew(seed: int) -> None:
    _, walks = log_of(protocol(6, seed), 60, 20, seed)
    histories = histories_of_log(walks)
    by, rng = folded(histories, walks), np.random.default_rng(seed)
    for _ in range(30):
        before = by.copy()
        move = int(rng.choice(np.flatnonzero(by.given.sum(axis=1))))
        to = int(rng.integers(by.num_states))
        lead(histories.traces, by, *divmod(move, walks.num_actions), to)
        anew = read(histories.traces, by.target, by.shows, before.state)
        assert same(by, anew)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_change_would_do_is_what_it_does(seed: int) -> None:
    """As long as it makes no move that was never made before, and lets no move give something else."""
    _, walks = log_of(protocol(6, seed), 300, 30, seed)
    histories = histories_of_log(walks)
    by, rng = folded(histories, walks), np.random.default_rng(seed)
    scratch, compared = scratch_for(histories.traces), 0
    for number in range(1, 60):
        move = int(rng.choice(np.flatnonzero(by.given.sum(axis=1))))
        to, wrong = int(rng.integers(by.num_states)), int(by.wrong.sum())
        nodes, _, clean = nodes_of(histories.traces, by, np.array([move]))
        more = change(histories.traces, by, nodes, clean[0], move, to, 10**9, wrong, scratch, number)
        after = by.copy()
        lead(histories.traces, after, *divmod(move, walks.num_actions), to)
        if np.array_equal(after.target >= 0, by.target >= 0) and np.array_equal(after.output, by.output):
            assert more == after.wrong.sum() - wrong
            compared += 1
        if number % 4 == 0:  # with some contradictions, too
            by = after
    assert compared > 10


def test_states_that_wrong_merges_made_are_given_up_again() -> None:
    """Where two states differ only after two inputs in a row, folding what was seen makes states without need."""
    before, after = 0, 0
    for seed in range(8):
        machine = protocol(8, seed, twins=1)
        _, walks = log_of(machine, 150, 30, seed)
        histories = histories_of_log(walks)
        by = folded(histories, walks)
        found = shorter(histories, by, no_opinion(walks), LATE)
        assert not found.wrong.any()
        assert same(found, read(histories.traces, found.target, found.shows, found.state))
        before += by.num_states > machine.num_states
        after += found.num_states > machine.num_states
    assert before >= 5
    assert after == 0


def test_a_machine_goes_there_and_back() -> None:
    machine = protocol(6, 1)
    _, walks = log_of(machine, 100, 20)
    histories = histories_of_log(walks)
    by = folded(histories, walks)
    again = histories.read(histories.machine(by))
    assert again is not None
    assert same(by, again)
    steps = histories.machine(by).steps
    assert (by.target[steps[:, :-1], walks.actions] == steps[:, 1:]).all()


def test_steps_without_a_state_get_one() -> None:
    """Folding leaves them where nothing is said of a move. Here all moves of the last state are forgotten."""
    machine = protocol(6, 3)
    _, walks = log_of(machine, 200, 30)
    histories = histories_of_log(walks)
    found = fold(histories.tree, no_opinion(walks), 400)
    next_state = np.where(found.next_state == found.num_states - 1, -1, found.next_state)
    steps = found.steps.copy()
    for step in range(29):
        steps[:, step + 1] = np.where(
            steps[:, step] >= 0, next_state[steps[:, step], walks.actions[:, step]], -1
        )
    assert (steps < 0).any()
    by = histories.read(replace(found, next_state=next_state, steps=steps))
    assert by is not None
    assert (by.state >= 0).all()
    assert not by.wrong.any()


def test_the_model_denies_where_most_labels_are_apart() -> None:
    machine = protocol(6, 2)
    _, walks = log_of(machine, 200, 30)
    histories = histories_of_log(walks)
    states = states_of(machine, walks)
    opinion = Opinion(states, ~np.eye(machine.num_states, dtype=bool))
    known = np.where(walks.step_mask(), states, -1)
    by = read(
        histories.traces,
        np.full((machine.num_states, walks.num_actions), -1),
        np.zeros(machine.num_states),
        histories.labels(Opinion(known, opinion.apart)),
    )
    denied = denied_targets(by, histories.labels(opinion), opinion.apart)
    made = by.target.ravel() >= 0
    expected = np.arange(machine.num_states) != by.target.ravel()[made, None]
    assert (denied[made] == expected).all()
    assert not denied_targets(by, histories.labels(no_opinion(walks)), no_opinion(walks).apart).any()


def test_no_state_is_given_up_once_the_time_is_over() -> None:
    _, walks = log_of(protocol(8, 0), 400, 30)
    histories = histories_of_log(walks)
    by = folded(histories, walks)
    assert shorter(histories, by, no_opinion(walks), time.monotonic() - 1) is by
