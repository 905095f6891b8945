"""Automata learners on logs of known machines, and the logs that they refuse."""

import sys

import numpy as np
import pytest

from cogmap.baselines.automata import LEARNERS, check_start, learn_automaton, outputs_on_moves
from cogmap.environments.machines import MachineWorld, load_machine, machine_of_world, score_machine
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadConfig, MissingExtra
from cogmap.hmm.inference import predict
from cogmap.maps.machine import machine_of_map
from cogmap.records import TableWorld, Walks
from cogmap.tasks.states import map_of_states
from cogmap.walks.sample import Agent, sample_walks


@pytest.fixture(scope="module")
def coffee():
    world = MachineWorld(load_machine("coffee_mealy"))
    return world, *sample_walks(world, 200, 20, np.random.default_rng(0))


@pytest.mark.parametrize("method", ["rpni", "edsm"])
def test_a_small_machine_is_found_exactly(coffee, method):
    pytest.importorskip("aalpy")
    world, walks, _ = coffee
    assert outputs_on_moves(walks)
    found = machine_of_map(map_of_states(learn_automaton(walks, method), walks))
    score = score_machine(found.next_state, found.output - 1, machine_of_world(world), found.initial)
    assert score.exact


@pytest.mark.parametrize("method", LEARNERS)
def test_what_is_seen_at_states_is_predicted_too(method):
    pytest.importorskip("aalpy")
    ring = TableWorld(
        np.array([[1, 2], [2, 0], [0, 1]]), np.array([0, 0, 1]), 2, start_probability=np.array([1.0, 0, 0])
    )
    walks, _ = sample_walks(ring, 100, 20, np.random.default_rng(0))
    assert not outputs_on_moves(walks)
    counts = learn_automaton(walks, method)
    _, predicted, _ = predict(counts, walks)
    assert (predicted == walks.observations[:, 1:]).mean() > (0.99 if method != "alergia" else 0.6)


def test_a_log_that_begins_anywhere_is_refused():
    walks, _ = sample_walks(AliasedRoom(3, 4, 3, seed=0), 50, 20, np.random.default_rng(0))
    with pytest.raises(
        BadConfig, match=r"--method edsm needs logs that begin in one known state.* use --method cscg"
    ):
        check_start(walks, "edsm")


def test_a_log_with_chance_is_refused_by_those_that_take_none(coffee):
    world, _, _ = coffee
    walks, _ = sample_walks(world, 200, 20, np.random.default_rng(0), Agent(slip=0.2))
    with pytest.raises(BadConfig, match=r"repeated histories continue in several ways: use --method cscg"):
        check_start(walks, "rpni")
    check_start(walks, "alergia")


def test_conflicts_are_those_of_a_plain_dictionary():
    rng = np.random.default_rng(0)
    for _ in range(20):
        lengths = rng.integers(2, 6, size=12)
        seen = np.where(np.arange(5) == 0, 0, rng.integers(2, size=(12, 5)))
        walks = Walks(seen, rng.integers(2, size=(12, 4)), lengths, 2, 2)
        ways: dict = {}
        for row, done, length in zip(walks.observations, walks.actions, lengths, strict=True):
            for step in range(length - 1):
                key = (tuple(row[: step + 1]), tuple(done[: step + 1]))
                ways.setdefault(key, set()).add(row[step + 1])
        differing = sum(len(found) > 1 for found in ways.values())
        if differing:
            with pytest.raises(BadConfig, match=rf" {differing} of "):
                check_start(walks, "rpni")
        else:
            check_start(walks, "rpni")


def test_the_missing_extra_names_its_line(coffee, monkeypatch):
    monkeypatch.setitem(sys.modules, "aalpy", None)
    with pytest.raises(MissingExtra, match=r'pip install "cogmap\[automata\]"'):
        learn_automaton(coffee[1], "edsm")


def test_a_search_without_end_is_ended(coffee):
    pytest.importorskip("aalpy")
    with pytest.raises(BadConfig, match=r"did not finish within 0 minutes"):
        learn_automaton(coffee[1], "edsm", minutes=0.0)
