"""Runs without a network: everything that reads a run reads them, or says why not in one line."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import cogmap
from cogmap.cli import main
from cogmap.environments.machines import MachineWorld, load_machine
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadConfig, BadOutput, BadRun
from cogmap.files import read_arrays, write_arrays
from cogmap.maps.store import load_states, save_states
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import save_walks
from cogmap.walks.truth_store import save_truth


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of CSCG in a small room, with test walks beside it."""
    folder = tmp_path_factory.mktemp("cscg")
    room = AliasedRoom(3, 4, 4, seed=0)
    walks, _ = sample_walks(room, 40, 80, np.random.default_rng(0))
    test, truth = sample_walks(room, 12, 80, np.random.default_rng(1))
    save_walks(folder / "log.npz", walks)
    save_walks(folder / "test.npz", test)
    save_truth(folder / "test.npz", truth)
    cogmap.learn(walks, folder / "run", method="cscg", clones=8, restarts=1, quiet=True)
    return folder


def test_it_is_a_run_like_any_other(folder):
    run = cogmap.load_run(folder / "run")
    test = cogmap.load_walks(folder / "test.npz")
    assert run.name == "CSCG(8 clones)"
    assert run.state() == "finished"
    here = run.locate(test.observations[0, :40], test.actions[0, :39])
    there = run.locate(test.observations[1, :40], test.actions[1, :39])
    plan = run.plan(here, there)
    assert plan.nodes[0] == here
    assert plan.nodes[-1] == there
    scores = cogmap.evaluate(run, folder / "test.npz")
    assert scores.test_accu > 0.95 * scores.ceiling
    assert scores.purity > 0.9


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "{run}", "--walks", "{test}"],
        ["evaluate", "{run}", "--walks", "{test}", "--world-model"],
        ["report", "{run}", "--walks", "{test}"],
        ["plan", "{run}", "--walks", "{test}", "--from", "0:30", "--to", "1:60"],
        ["map", "{run}", "--walks", "{test}", "--out", "{out}"],
    ],
)
def test_commands_take_it(folder, words, tmp_path, capsys):
    places = {"run": folder / "run", "test": folder / "test.npz", "out": tmp_path / "map.json"}
    assert main([word.format(**places) for word in words]) == 0


def test_what_needs_a_network_says_so(folder):
    run = cogmap.load_run(folder / "run")
    for asked in (lambda: run.model, run.stream, lambda: run.paper_map):
        with pytest.raises(BadRun, match=r"only a TDB .* was learned by CSCG\(8 clones\)"):
            asked()


def test_states_come_back_from_their_file_and_broken_ones_are_refused(folder, tmp_path):
    counts = load_states(folder / "run" / "states.npz")
    save_states(tmp_path / "states.npz", counts)
    again = load_states(tmp_path / "states.npz")
    for name in ("first", "row", "target", "count", "seen_at", "seen", "seen_count"):
        np.testing.assert_array_equal(getattr(again, name), getattr(counts, name))
    object.__setattr__(again, "target", again.target + counts.num_states)
    save_states(tmp_path / "broken.npz", again)
    with pytest.raises(BadRun, match=r"`target` must be in \[0, "):
        load_states(tmp_path / "broken.npz")


def test_wrong_choices_are_refused_in_one_line(folder, tmp_path, capsys):
    log = folder / "log.npz"
    with pytest.raises(BadConfig, match=r"`method` must be one of tdb, .*, got 'csgc'"):
        cogmap.learn(log, tmp_path / "a", method="csgc")
    with pytest.raises(BadConfig, match=r"--method cscg has the options .*, got `clonez`"):
        cogmap.learn(log, tmp_path / "b", method="cscg", clonez=3)
    with pytest.raises(BadConfig, match=r"`clones` must be from 1 to 2147483647, got 0"):
        cogmap.learn(log, tmp_path / "c", method="cscg", clones=0)
    for wrong in ({"clones": [1]}, {"rounds": float("inf")}, {"minutes": "soon"}):
        with pytest.raises(BadConfig, match="must be a number, got"):
            cogmap.learn(log, tmp_path / "c", method="cscg", **wrong)
    with pytest.raises(BadConfig, match="`clones` must be from 1 to 2147483647, got 1000"):
        cogmap.learn(log, tmp_path / "c", method="cscg", clones=10**20)
    with pytest.raises(BadConfig, match="`minutes` must be from 0 to 2147483647, got nan"):
        cogmap.learn(log, tmp_path / "c", method="cscg", minutes=float("nan"))
    with pytest.raises(BadOutput, match="must be new or empty"):
        cogmap.learn(log, folder / "run", method="cscg")
    assert main(["learn", str(log), "--method", "cscg", "--resume", "--out", str(tmp_path / "d")]) == 2
    assert main(["learn", str(log), "--method", "edsm", "--out", str(tmp_path / "e")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "use --method cscg" in said[1]


def test_a_missing_extra_is_one_line_that_installs_it(tmp_path, capsys, monkeypatch):
    walks, _ = sample_walks(MachineWorld(load_machine("coffee_mealy")), 20, 10, np.random.default_rng(0))
    save_walks(tmp_path / "log.npz", walks)
    monkeypatch.setitem(sys.modules, "aalpy", None)
    assert main(["learn", str(tmp_path / "log.npz"), "--method", "edsm", "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == 'cogmap: --method edsm needs AALpy: pip install "cogmap[automata]"\n'
    assert not (tmp_path / "run" / "config.json").exists()


@pytest.mark.parametrize("kept", [("states.npz",), ("states.npz", "map.npz")])
def test_a_run_that_was_killed_before_its_config_counts_as_nothing(folder, tmp_path, kept):
    walks = cogmap.load_walks(folder / "log.npz")
    for name in kept:
        (tmp_path / name).write_bytes((folder / "run" / name).read_bytes())
    cogmap.learn(walks, tmp_path, method="cscg", clones=8, restarts=1, quiet=True)
    for name in ("states.npz", "map.npz", "config.json"):
        assert (tmp_path / name).read_bytes() == (folder / "run" / name).read_bytes()


@pytest.mark.parametrize("kept", [("map.npz",), ("states.npz", "notes.txt"), ("states.npz", "config.json")])
def test_anything_more_is_not_overwritten(folder, tmp_path, kept):
    for name in kept:
        (tmp_path / name).write_text("mine")
    with pytest.raises(BadOutput, match="the run folder must be new or empty"):
        cogmap.learn(cogmap.load_walks(folder / "log.npz"), tmp_path, method="cscg", quiet=True)
    assert all((tmp_path / name).read_text() == "mine" for name in kept)


@pytest.mark.parametrize("name", ["first", "count", "seen_count", "row", "target", "seen_at", "seen"])
def test_a_number_in_the_place_of_a_row_of_states_is_refused(folder, tmp_path, name):
    arrays = read_arrays(folder / "run" / "states.npz", BadRun)
    write_arrays(tmp_path / "states.npz", arrays | {name: np.array(1.0)})
    with pytest.raises(BadRun, match=f"`{name}` must be a row of numbers"):
        load_states(tmp_path / "states.npz")


def test_rewards_of_the_walks_are_in_the_map(tmp_path):
    """Two places; staying at the second one is paid for."""
    actions = np.random.default_rng(0).integers(2, size=(20, 30))  # 0 stays, 1 goes to the other place
    observations = np.concatenate([np.zeros((20, 1), dtype=np.int64), np.cumsum(actions, axis=1) % 2], axis=1)
    rewards = np.where((observations[:, :-1] == 1) & (actions == 0), 2.5, 0.0)
    np.savez(tmp_path / "log.npz", observations=observations, actions=actions, rewards=rewards)
    cogmap.learn(tmp_path / "log.npz", tmp_path / "run", method="cscg", clones=1, quiet=True)
    found = cogmap.load_run(tmp_path / "run").map
    paid = (found.node_observation[found.edge_source] == 1) & (found.edge_action == 0)
    np.testing.assert_allclose(found.edge_reward, np.where(paid, 2.5, 0.0))


def test_a_seed_on_the_command_line_is_a_number_in_the_config(tmp_path):
    np.savez(tmp_path / "log.npz", observations=[[0, 1] * 10] * 9, actions=[[0] * 19] * 9)
    words = ["learn", str(tmp_path / "log.npz"), "--out", str(tmp_path / "run"), "--method", "cscg"]
    assert main([*words, "--change", "seed=3", "clones=2", "rounds=2"]) == 0
    assert cogmap.load_run(tmp_path / "run").training.seed == 3


def test_a_method_that_finds_no_state_says_so(folder, tmp_path, monkeypatch):
    """Compiled passes over no state read memory that is not theirs."""
    from cogmap.baselines.cscg import CloneGraph
    from cogmap.tasks import states

    whole = load_states(folder / "run" / "states.npz")
    none = {
        name: getattr(whole, name)[:0]
        for name in ("first", "row", "target", "count", "seen_at", "seen", "seen_count")
    }
    empty = replace(whole, **none)
    monkeypatch.setattr(states, "learn_clones", lambda *_: CloneGraph(empty, 400, 1, 0.0))
    with pytest.raises(BadConfig, match=r"CSCG\(400 clones\) found no state that a walk visits"):
        cogmap.learn(folder / "log.npz", tmp_path / "run", method="cscg", clones=400, quiet=True)
    save_states(tmp_path / "states.npz", empty)
    with pytest.raises(BadRun, match="there must be at least one state, got none"):
        load_states(tmp_path / "states.npz")
