"""The shortest account of walks: machines come back as they are, and lengths are what they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.environments.machines import MachineWorld, random_machine
from cogmap.environments.room import AliasedRoom
from cogmap.hmm.states import count_states
from cogmap.records import TableWorld, Walks
from cogmap.search import shortest
from cogmap.search.account import Account, Log, account
from cogmap.search.description import description_length
from cogmap.search.distance import StateDistances
from cogmap.search.shortest import find_states
from cogmap.walks.sample import Agent, sample_walks


def isomorphic(found: Account, world: TableWorld, positions: np.ndarray) -> bool:
    """Whether states and visited positions are one to one, and every likeliest edge is the world's."""
    visited = np.unique(positions)
    pairs = np.unique(np.stack([found.found.path.ravel(), positions.ravel()]), axis=1)
    counts = found.counts
    at = np.zeros((found.num_states, world.num_positions), dtype=int)
    np.add.at(at, (found.found.path.ravel(), positions.ravel()), 1)
    place = at.argmax(axis=1)
    if sorted(place) != visited.tolist() or len(pairs[0]) < len(visited):
        return False
    source, action = np.divmod(counts.row, counts.num_actions)
    main = counts.count > 0.5 * counts.tries[counts.row]
    wanted = world.next_position[place[source[main]], action[main]]
    return bool((place[counts.target[main]] == wanted).all())


def labelled(world: TableWorld, walks: int, steps: int, seed: int, start: int | None = None):
    return sample_walks(world, walks, steps, np.random.default_rng(seed), Agent(start=start))


@settings(max_examples=8, deadline=None)
@given(states=st.integers(3, 9), inputs=st.integers(2, 4), seed=st.integers(0, 10_000))
def test_a_random_machine_given_with_perfect_codes_comes_back(states: int, inputs: int, seed: int) -> None:
    world = MachineWorld(random_machine(states, inputs, 3, seed))
    walks, truth = labelled(world, 60, 60, seed, start=0)
    tries = np.zeros(world.next_position.shape)
    np.add.at(tries, (truth.positions[:, :-1], walks.actions), 1)
    found = find_states(walks, [truth.positions])
    if tries[np.unique(truth.positions)].min() >= 20:
        assert isomorphic(found, world, truth.positions)


@pytest.mark.parametrize("seed", range(4))
def test_one_code_in_twenty_wrong_and_it_still_does(seed: int) -> None:
    world = MachineWorld(random_machine(6, 3, 3, seed))
    walks, truth = labelled(world, 100, 100, seed, start=0)
    rng = np.random.default_rng(seed)
    wrong = rng.random(truth.positions.shape) < 0.05
    codes = np.where(wrong, rng.integers(0, world.num_positions, truth.positions.shape), truth.positions)
    assert isomorphic(find_states(walks, [codes]), world, truth.positions)


def test_two_states_that_differ_on_one_input_of_nine_tried_twenty_times_stay_two() -> None:
    """A hub leads to either of two rooms, which look alike; input 8 alone shows which it is."""
    table = np.full((5, 9), 0)
    table[0] = [1, 2] + [0] * 7
    table[1], table[2] = 1, 2
    table[1, 0] = table[2, 0] = 0  # both lead back
    table[1, 8], table[2, 8] = 3, 4
    world = TableWorld(table, np.array([0, 1, 1, 2, 3]), 4)
    walks, truth = labelled(world, 60, 60, 0, start=0)
    tries = np.zeros((5, 9), dtype=int)
    np.add.at(tries, (truth.positions[:, :-1], walks.actions), 1)
    assert tries[1:3, 8].min() >= 20
    found = find_states(walks, [truth.positions])
    assert isomorphic(found, world, truth.positions)


def test_many_codes_a_place_are_merged_and_rare_differences_are_not() -> None:
    world = TableWorld(np.array([[1, 2], [0, 3], [3, 0], [2, 1]]), np.array([0, 1, 1, 0]), 2)
    walks, truth = labelled(world, 40, 100, 3)
    codes = 7 * truth.positions + np.random.default_rng(0).integers(0, 7, truth.positions.shape)
    found = find_states(walks, [codes])
    assert found.num_states == len(
        np.unique(StateDistances(count_states(truth.positions, walks, 4)).merged(0.1)[0])
    )


def test_the_length_of_a_ring_worked_out_by_hand() -> None:
    """Three places in a ring, each with its own observation, one action, walks from one start.

    Walks cost nothing: every step is certain, but for the share of other starts. Three looks; three moves listed; one
    start.
    """
    steps = np.tile([0, 1, 2], (10, 10))
    walks = Walks(steps, np.zeros((10, 29), int), np.full(10, 30), 3, 1)
    found = account(Log(walks), count_states(steps, walks, 3))
    name = look = np.log(3)
    starts = -10 * np.log((10 + 1 / 3) / 11)  # `first` plus the share of visits
    assert found.found.log_likelihood == pytest.approx(-starts)
    assert found.length == pytest.approx(starts + 3 * look + 3 * name + name)


def test_a_further_target_costs_its_name_a_probability_and_which_move_has_it() -> None:
    """A ring of three places, and one with a jump over a place in one of some hundred moves."""
    steps = np.tile([0, 1, 2], (5, 20))
    jumped = steps.copy()
    jumped[0, 11:] = (jumped[0, 11:] + 1) % 3
    straight, found = (
        account(Log(walks), count_states(walks.observations, walks, 3))
        for walks in (Walks(each, np.zeros((5, 59), int), np.full(5, 60), 3, 1) for each in (steps, jumped))
    )
    tries = found.counts.tries[jumped[0, 10]]
    # The moves from that state: all but one follow the ring.
    nats = -((tries - 1) * np.log((tries - 1) / tries) + np.log(1 / tries))
    price = np.log(3) + 0.5 * np.log(tries) + np.log(4)  # before, between or after the three moves
    # Visits move a little, and with them the chance of a start at another state.
    assert found.length - straight.length == pytest.approx(nats + price, abs=0.05)


def test_the_truth_is_shorter_than_a_map_that_merges_or_doubles() -> None:
    world = TableWorld(np.array([[1, 0], [2, 0], [2, 0]]), np.array([0, 0, 1]), 2)
    walks, truth = labelled(world, 50, 50, 0)
    length = account(Log(walks), count_states(truth.positions, walks, 3)).length
    merged = account(Log(walks), count_states(np.array([0, 0, 1])[truth.positions], walks, 2)).length
    doubled = truth.positions + 3 * np.random.default_rng(0).integers(0, 2, truth.positions.shape)
    assert length < merged
    assert length < account(Log(walks), count_states(doubled, walks, 6), rounds=1).length
    assert description_length(account(Log(walks), count_states(truth.positions, walks, 3)).found) == length


@pytest.mark.parametrize(("slip", "seed"), [(0.3, 1), (0.2, 2)])
def test_moves_that_slip_are_found_although_codes_are_lost_after_each(slip: float, seed: int) -> None:
    """A model does not know where it is after a slip: no code leads by a slip to the code of where it went."""
    room = AliasedRoom(4, 5, 4, seed=seed)
    walks, truth = sample_walks(room, 100, 200, np.random.default_rng(seed), Agent(slip=slip))
    went_wrong = room.next_position[truth.positions[:, :-1], walks.actions] != truth.positions[:, 1:]
    lost = np.zeros(truth.positions.shape, dtype=bool)
    lost[:, 1:] = went_wrong
    lost[:, 2:] |= went_wrong[:, :-1]
    codes = np.where(lost, room.num_positions + walks.observations, truth.positions)
    found = find_states(walks, [codes])
    assert isomorphic(found, truth.world, truth.positions)
    true = account(Log(walks), count_states(truth.positions, walks, room.num_positions), 12)
    # A start or an edge more or less is the name of a state.
    assert found.length < true.length + 3 * np.log(room.num_positions)


def test_places_seen_wrongly_are_not_places_of_their_own() -> None:
    """One observation in ten is wrong, and codes say what is seen: each place has four of them."""
    room = AliasedRoom(4, 5, 4, seed=0)
    walks, truth = sample_walks(room, 100, 200, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    wrong = rng.random(walks.observations.shape) < 0.1
    seen = np.where(wrong, rng.integers(0, 4, walks.observations.shape), walks.observations)
    noisy = Walks(seen, walks.actions, walks.lengths, 4, walks.num_actions)
    found = find_states(noisy, [truth.positions * 4 + seen])
    assert isomorphic(found, truth.world, truth.positions)


def elevator(floors: int) -> TableWorld:
    """A car and its door: all floors but the lowest and the highest look alike. Position 2 f is floor f, shut."""
    floor = np.arange(floors)
    shut, is_open = 2 * floor, 2 * floor + 1
    moves = np.zeros((2 * floors, 4), dtype=np.int32)  # up, down, open, close
    moves[shut, 0], moves[shut, 1] = 2 * np.minimum(floor + 1, floors - 1), 2 * np.maximum(floor - 1, 0)
    moves[is_open, 0] = moves[is_open, 1] = is_open
    moves[:, 2], moves[:, 3] = np.repeat(is_open, 2), np.repeat(shut, 2)
    lamp = np.where(floor == 0, 0, np.where(floor == floors - 1, 2, 1))
    look = np.stack([2 * lamp, 2 * lamp + 1], axis=1).ravel().astype(np.int32)
    return TableWorld(moves, look, 6)


@pytest.mark.parametrize("seed", range(3))
def test_two_merged_floors_are_split_with_their_open_doors(seed: int) -> None:
    """Only the moves of the shut door are in doubt, and splitting one state alone explains nothing."""
    world = elevator(7)
    walks, truth = labelled(world, 120, 80, seed)
    third = truth.positions // 2 == 3
    merged = np.where(third, truth.positions + 2, truth.positions)  # on floor 4
    assert isomorphic(find_states(walks, [merged]), world, truth.positions)


def test_a_search_that_has_no_time_gives_its_first_account() -> None:
    walks, truth = sample_walks(AliasedRoom(4, 5, 3, seed=0), 20, 50, np.random.default_rng(0))
    labels = 2 * truth.positions + np.arange(50) % 2  # every place twice
    hurried = find_states(walks, [labels], seconds=0)
    assert hurried.num_states == 40
    assert find_states(walks, [labels]).length < hurried.length


def test_rounds_that_cannot_make_an_account_short_enough_are_not_made() -> None:
    walks, truth = labelled(AliasedRoom(4, 5, 3, seed=0), 20, 100, 0)
    blurred = count_states(truth.positions // 2, walks, 10)
    whole = account(Log(walks), blurred, 30)
    assert account(Log(walks), blurred, 30, below=whole.length + 1).length == pytest.approx(whole.length)
    assert account(Log(walks), blurred, 30, below=whole.length / 2).length > whole.length + 1


def test_a_search_on_few_walks_is_enough_where_the_others_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    room = AliasedRoom(4, 5, 4, seed=2)
    walks, truth = sample_walks(room, 100, 200, np.random.default_rng(0), Agent(slip=0.1))
    codes = 2 * truth.positions + np.random.default_rng(1).integers(0, 2, truth.positions.shape)
    searched, search = [], shortest._shortest

    def counted(log: Log, *rest: Any) -> Account:
        searched.append(log.walks.num_walks)
        return search(log, *rest)

    monkeypatch.setattr(shortest, "_FEW_STEPS", 5000)
    monkeypatch.setattr(shortest, "_shortest", counted)
    assert isomorphic(find_states(walks, [codes]), truth.world, truth.positions)
    assert searched == [25]


def test_a_place_that_few_walks_do_not_visit_is_found_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of three places; every fortieth walk starts in another ring, which looks the same the other way round."""
    table = np.array([[1], [2], [0], [5], [3], [4]])
    world = TableWorld(table, np.array([0, 1, 2, 0, 1, 2]), 3)
    starts = np.where(np.arange(80) % 40 == 7, 3, 0)
    positions = np.empty((80, 30), dtype=np.int64)
    positions[:, 0] = starts
    for step in range(1, 30):
        positions[:, step] = table[positions[:, step - 1], 0]
    walks = Walks(world.observation[positions], np.zeros((80, 29), int), np.full(80, 30), 3, 1)
    monkeypatch.setattr(shortest, "_FEW_STEPS", 300)
    few = shortest._some_walks(walks, [positions], 300)
    assert positions[few].max() < 3
    assert isomorphic(find_states(walks, [positions]), world, positions)
