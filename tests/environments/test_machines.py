"""Mealy machines: files, minimal forms and isomorphism against brute force, and their logs as worlds."""

import json
from itertools import permutations, product

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.environments.check import check_environment
from cogmap.environments.machines import (
    MachineWorld,
    MealyMachine,
    load_machine,
    machine_from_dot,
    machine_of_world,
    matching_states,
    minimised,
    random_machine,
    save_machine,
    score_machine,
    shipped_machines,
)
from cogmap.errors import BadWorld
from cogmap.evaluation.prediction import ceiling
from cogmap.walks.sample import sample_walks

SIZES = {  # states of the machines of real systems, as their files have them
    "CC2650": 5,
    "NSS_3.17.4_server_regular": 8,
    "TCP_Linux_Client": 15,
    "VerneMQ__two_client_will_retain": 17,
    "cc2652r1": 4,
    "coffee_mealy": 2,
    "emqtt__two_client_will_retain": 18,
    "miTLS_0.1.3_server_regular": 6,
    "nRF52832": 5,
    "tcp_server_bsd_trans": 55,
}
COFFEE = """
digraph coffee { // as LearnLib writes it
  __start0 [label="" shape="none"];
  s0 [shape="circle" label="0"]; s1 [shape="circle" label="1"]
  s0 -> s0 [label="button / init"]
  s0 -> s1 [label="coin / beep"];
  s1 -> s0 [label="button / coffee", color=red];
  /* a loop */ s1 -> s1 [label="coin / beep"];
  __start0 -> s0;
}
"""


@st.composite
def machines(draw, most_states=4, inputs=2, outputs=2):
    """Any machine, with states that may be out of reach or behave alike."""
    states = draw(st.integers(1, most_states))
    cells = states * inputs
    moves = draw(st.lists(st.integers(0, states - 1), min_size=cells, max_size=cells))
    shown = draw(st.lists(st.integers(0, outputs - 1), min_size=cells, max_size=cells))
    return MealyMachine(
        next_state=np.array(moves).reshape(states, inputs),
        output=np.array(shown).reshape(states, inputs),
        input_labels=tuple("ab"[:inputs]),
        output_labels=tuple("xy"[:outputs]),
        initial=draw(st.integers(0, states - 1)),
    )


def answers(machine, state, depth):
    """The outputs of a state for every sequence of inputs of a length, as labels."""
    words = product(range(machine.num_inputs), repeat=depth)
    from_here = MealyMachine(
        machine.next_state, machine.output, machine.input_labels, machine.output_labels, state
    )
    return tuple(tuple(machine.output_labels[seen] for seen in from_here.run(word)) for word in words)


def reachable(machine):
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(machine.num_states))
    graph.add_edges_from(
        (state, int(target)) for state, row in enumerate(machine.next_state) for target in row
    )
    return {machine.initial} | networkx.descendants(graph, machine.initial)


def relabelled(machine, rng):
    """The same machine with states, inputs and outputs in another order."""
    states, inputs, outputs = (
        rng.permutation(size) for size in (machine.num_states, machine.num_inputs, len(machine.output_labels))
    )
    number, shown = np.argsort(states), np.argsort(outputs)
    return MealyMachine(
        next_state=number[machine.next_state[states][:, inputs]],
        output=shown[machine.output[states][:, inputs]],
        input_labels=tuple(machine.input_labels[index] for index in inputs),
        output_labels=tuple(machine.output_labels[index] for index in outputs),
        initial=int(number[machine.initial]),
    )


@settings(max_examples=200, deadline=None)
@given(machines())
def test_the_minimal_machine_has_a_state_for_each_behaviour_and_the_same_outputs(machine):
    smallest = minimised(machine)
    # Two states of n that behave differently do so within n - 1 inputs.
    depth = machine.num_states
    behaviours = {answers(machine, state, depth) for state in reachable(machine)}
    assert smallest.num_states == len(behaviours)
    assert answers(smallest, smallest.initial, 2 * depth) == answers(machine, machine.initial, 2 * depth)
    assert set(np.unique(smallest.output)) == set(range(len(smallest.output_labels)))


@settings(max_examples=200, deadline=None)
@given(machines(most_states=3), machines(most_states=3))
def test_isomorphism_by_all_permutations(first, second):
    def fits(states):
        return (
            first.num_states == second.num_states
            and states[first.initial] == second.initial
            and np.array_equal(np.array(states)[first.next_state], second.next_state[list(states)])
            and np.array_equal(first.output, second.output[list(states)])
        )

    everything_reached = len(reachable(first)) == first.num_states
    expected = [states for states in permutations(range(second.num_states)) if fits(states)]
    found = matching_states(first, second)
    if not everything_reached or not expected:
        assert found is None
    else:
        assert [tuple(found.tolist())] == expected


@settings(max_examples=100, deadline=None)
@given(machines(most_states=5), st.integers(0, 1000))
def test_machines_of_one_behaviour_have_one_minimal_form(machine, seed):
    other = relabelled(machine, np.random.default_rng(seed))
    assert matching_states(minimised(machine), minimised(other)) is not None


def test_one_output_of_many_that_differs_is_no_isomorphism():
    machine = random_machine(40, 5, 3, seed=4)
    states = matching_states(machine, relabelled(machine, np.random.default_rng(0)))
    assert sorted(states.tolist()) == list(range(40))
    wrong = machine.output.copy()
    wrong[39, 4] = (wrong[39, 4] + 1) % 3
    changed = MealyMachine(machine.next_state, wrong, machine.input_labels, machine.output_labels)
    assert matching_states(machine, changed) is None
    moved = machine.next_state.copy()
    moved[39, 4] = (moved[39, 4] + 1) % 40
    changed = MealyMachine(moved, machine.output, machine.input_labels, machine.output_labels)
    assert matching_states(machine, changed) is None
    other_words = tuple(f"{label}!" for label in machine.input_labels)
    renamed = MealyMachine(machine.next_state, machine.output, other_words, machine.output_labels)
    assert matching_states(machine, renamed) is None


@settings(max_examples=200, deadline=None)
@given(machines(), machines(), st.lists(st.booleans(), min_size=8, max_size=8))
def test_wrong_moves_by_all_words(learned, truth, known):
    """A learned machine has no wrong move if no word of known moves says so: its outputs agree, and words that lead
    to one learned state lead to one true state."""
    moves = np.where(np.array(known * 4)[: learned.next_state.size].reshape(-1, 2), learned.next_state, -1)
    found = score_machine(moves, learned.output, truth, learned.initial)
    meets, agrees = {learned.initial: {truth.initial}}, True
    frontier = {(learned.initial, truth.initial)}
    for _ in range(learned.num_states * truth.num_states + 1):
        following = set()
        for state, true_state in frontier:
            for symbol in range(2):
                if moves[state, symbol] >= 0:
                    agrees &= learned.output[state, symbol] == truth.output[true_state, symbol]
                    pair = (int(moves[state, symbol]), int(truth.next_state[true_state, symbol]))
                    meets.setdefault(pair[0], set()).add(pair[1])
                    following.add(pair)
        frontier = following
    alone = all(len(true_states) == 1 for true_states in meets.values())
    assert (found.wrong_moves == 0) == bool(agrees and alone)
    assert found.unknown_moves == sum(int((moves[state] < 0).sum()) for state in meets)
    if found.exact:
        assert len(meets) == found.states_found == found.states == len(reachable(truth))
    assert found.exact == (
        bool(agrees and alone)
        and found.unknown_moves == 0
        and len(meets) == len(reachable(truth)) == len({min(each) for each in meets.values()})
    )


def test_scores_of_a_learned_machine():
    truth = random_machine(30, 4, 3, seed=2)
    assert score_machine(truth.next_state, truth.output, truth) == (30, 30, 0, 0, True)
    moves = truth.next_state.copy()
    moves[29, 3] = -1
    assert score_machine(moves, truth.output, truth) == (30, 30, 0, 1, False)
    shown = truth.output.copy()
    shown[29, 3] = (shown[29, 3] + 1) % 3
    assert score_machine(truth.next_state, shown, truth) == (30, 30, 1, 0, False)
    # A second state for one that several moves lead to: nothing is wrong, and yet it is not the machine.
    split = int(np.bincount(truth.next_state.ravel()).argmax())
    twice = np.vstack([truth.next_state, truth.next_state[split]])
    twice[tuple(np.argwhere(twice[:30] == split)[-1])] = 30
    shown = np.vstack([truth.output, truth.output[split]])
    assert score_machine(twice, shown, truth) == (30, 30, 0, 0, False)


@pytest.mark.parametrize(("states", "inputs", "outputs"), [(1, 1, 1), (2, 1, 2), (30, 2, 2), (2000, 4, 3)])
def test_random_machines_are_minimal_and_reach_every_state(states, inputs, outputs):
    for seed in range(3):
        machine = random_machine(states, inputs, outputs, seed=seed)
        assert machine.next_state.shape == (states, inputs)
        assert len(reachable(machine)) == states
        assert minimised(machine).num_states == states
        again = random_machine(states, inputs, outputs, seed=seed)
        assert np.array_equal(machine.next_state, again.next_state)
        assert np.array_equal(machine.output, again.output)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 2, 2), r"`states` \(=0\) and `inputs` \(=2\) must be at least 1"),
        ((3, 2, 1), r"`outputs` \(=1\) must be at least 2 for more than one state"),
        ((1, 2, 0), r"`outputs` \(=0\) must be at least 1"),
        ((60, 1, 2), "must allow a minimal machine, none was found"),
    ],
)
def test_random_machines_that_cannot_be(monkeypatch, sizes, message):
    monkeypatch.setattr("cogmap.environments.machines._TRIES", 0 if sizes[0] == 60 else 100)
    with pytest.raises(BadWorld, match=message):
        random_machine(*sizes)


@settings(max_examples=100, deadline=None)
@given(machines(), st.integers(0, 100))
def test_walks_in_the_world_of_a_machine_are_its_logs(machine, seed):
    world = MachineWorld(machine)
    walks, truth = sample_walks(world, 5, 20, np.random.default_rng(seed))
    assert walks.observation_labels == ("start", *machine.output_labels)
    assert walks.action_labels == machine.input_labels
    assert (truth.positions[:, 0] == 0).all()
    assert (walks.observations[:, 0] == 0).all()
    for walk in range(5):
        assert np.array_equal(walks.observations[walk, 1:], machine.run(walks.actions[walk]) + 1)
    assert ceiling(walks, world).accuracy == 1


@settings(max_examples=100, deadline=None)
@given(machines())
def test_the_positions_are_the_pairs_that_occur(machine):
    world = MachineWorld(machine)
    pairs = {(machine.initial, 0)}
    for state in reachable(machine):
        pairs |= {
            (int(machine.next_state[state, a]), int(machine.output[state, a]) + 1)
            for a in range(machine.num_inputs)
        }
    assert set(zip(world.state.tolist(), world.observation.tolist(), strict=True)) == pairs
    assert world.num_positions == len(pairs)
    assert matching_states(machine_of_world(world), minimised(machine)) is not None


@pytest.mark.parametrize("name", shipped_machines())
def test_machines_of_real_systems(name):
    machine = load_machine(name)
    assert machine.name == name
    assert machine.num_states == SIZES[name]
    assert minimised(machine).num_states == SIZES[name]
    world = MachineWorld(machine)
    check_environment(world)
    assert machine_of_world(world).num_states == SIZES[name]
    assert sum(label == "start" for label in world.observation_labels) == 1


def test_all_machines_of_real_systems_are_shipped():
    assert set(shipped_machines()) == set(SIZES)


def test_an_output_called_start_keeps_its_name():
    machine = MealyMachine(np.array([[0]]), np.array([[0]]), ("go",), ("start",))
    assert MachineWorld(machine).observation_labels == ("(start)", "start")


def test_json_round_trip(tmp_path):
    machine = random_machine(12, 3, 2, seed=1)
    save_machine(tmp_path / "m.json", machine)
    again = load_machine(tmp_path / "m.json")
    assert matching_states(machine, again) is not None
    assert again.name == "random-12"


def test_dot_as_learnlib_and_aalpy_write_it(tmp_path):
    (tmp_path / "coffee.dot").write_text(COFFEE)
    machine = load_machine(tmp_path / "coffee.dot")
    assert machine.name == "coffee"
    assert machine.input_labels == ("button", "coin")
    assert machine.output_labels == ("beep", "coffee", "init")
    shipped = load_machine("coffee_mealy")
    bare = tuple(label.strip() for label in shipped.output_labels)
    shipped = MealyMachine(shipped.next_state, shipped.output, shipped.input_labels, bare)
    assert matching_states(machine, shipped) is not None
    aalpy = (
        'digraph "m" {\ns0 [label=s0];\n"s 1" [label="s\\"1"];\n'
        's0 -> "s 1"  [label="a/x/y"];\n"s 1" -> s0 [label="a/1"];\n'
        '__start0 [label="", shape=none];\n__start0 -> s0  [label=""];\n}\n'
    )
    machine = machine_from_dot(aalpy)
    assert machine.output_labels == ("1", "x/y")
    assert machine.run([0, 0, 0]).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold a digraph, got an empty file"),
        ("graph { a -- b }", "must be one `digraph { ... }`"),
        ("digraph { a -> b", "must be one `digraph { ... }`"),
        ("digraph { subgraph x { a -> b } }", "must have no subgraphs"),
        ("digraph { a -> b [label=<b>] }", "line 1: must be Graphviz with plain labels, got '<b>"),
        ("digraph {\n\n a -> -> b }", "a Graphviz statement must be a node or an edge, got 'a -> -> b'"),
        ("digraph { a -> }", "a Graphviz edge must have two ends, got 'a ->'"),
        ("digraph { a -> a }", "must have a label \"input/output\", a -> a has 'none'"),
        ("digraph { a -> a [label=x] }", "must have a label \"input/output\", a -> a has 'x'"),
        ('digraph { a -> a [label="x/ "] }', "a -> a has 'x/ '"),
        ('digraph { a -> a [label="x/y"] }', "one edge from `__start0` to its initial state, got none"),
        (
            'digraph { __start0 -> a; __start1 -> b; a -> b [label="x/y"]; b -> b [label="x/y"] }',
            "one edge from `__start0` to its initial state, got a, b",
        ),
        (
            'digraph { __start0 -> a; a -> a [label="x/y"]; a -> a [label="x/z"] }',
            "'a' has two for 'x'",
        ),
        (
            'digraph { __start0 -> a; a -> b [label="x/y"]; b -> b [label="z/y"] }',
            "every state must have an edge for every input, 'a' has none for 'z'",
        ),
    ],
)
def test_bad_dot(tmp_path, text, message):
    (tmp_path / "bad.dot").write_text(text)
    with pytest.raises(BadWorld) as error:
        load_machine(tmp_path / "bad.dot")
    assert message in str(error.value)
    assert str(error.value).count("bad.dot") == 1


GOOD = {"inputs": ["a", "b"], "initial": 0, "next": [[0, 1], [1, 0]], "output": [["x", "y"], ["y", "y"]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": ["a"]}, "`next_state` must have shape (Q, A) = (2, 1), got (2, 2)"),
        ({"inputs": []}, "must have a state and an input, got 2 and 0"),
        ({"inputs": ["a", "a"]}, "`input_labels` must be distinct, got 'a' more than once"),
        ({"inputs": [1, 2]}, "`inputs` must hold strings, got [1, 2]"),
        ({"initial": 2}, "`initial` must be a state in [0, 2), got 2"),
        ({"initial": True}, "`initial` must be an integer, got True"),
        ({"next": [[0, 1], [1, 2]]}, "`next_state` must be in [0, 2), got 0 to 2"),
        ({"next": [[0, 1], [1, -1]]}, "`next_state` must be in [0, 2), got -1 to 1"),
        ({"next": [[0, 1], [1]]}, "`next` must have one entry for each input in every state"),
        ({"next": [[0, 1], [1, 0.5]]}, "`next` must hold states, got 0.5"),
        ({"next": [[0, 1], [1, 10**30]]}, "`next` must hold states, got 1000"),
        ({"next": {}}, "`next` must be a list of lists"),
        ({"next": []}, "must have a state and an input, got 0 and 2"),
        ({"output": [["x", "y"]]}, "`output` must have shape (Q, A) = (2, 2), got (1, 2)"),
        ({"output": [["x", "y"], ["y", None]]}, "`output` must hold strings, got ['y', None]"),
    ],
)
def test_bad_json(tmp_path, change, message):
    (tmp_path / "bad.json").write_text(json.dumps(GOOD | change))
    with pytest.raises(BadWorld) as error:
        load_machine(tmp_path / "bad.json")
    assert message in str(error.value)
    assert "bad.json" in str(error.value)


def test_other_bad_files(tmp_path):
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(BadWorld, match=r"list.json: a machine must be a JSON object, got list"):
        load_machine(tmp_path / "list.json")
    (tmp_path / "short.json").write_text('{"inputs": []}')
    with pytest.raises(BadWorld, match="a machine must have 'initial', got 'inputs'"):
        load_machine(tmp_path / "short.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(BadWorld, match="must be JSON"):
        load_machine(tmp_path / "broken.json")
    with pytest.raises(BadWorld, match=r"cannot read .*gone.dot: No such file"):
        load_machine(tmp_path / "gone.dot")
    with pytest.raises(BadWorld, match=r"must be a .json or .dot file or one of CC2650, .*; got 'CC26'"):
        load_machine("CC26")
