"""Tables of moves that are changed at random, against reading all walks again, and on machines that count."""

import numpy as np
import pytest

from cogmap.environments.table import TableWorld
from cogmap.hmm.states import count_states
from cogmap.records import Walks
from cogmap.search import anneal
from cogmap.search.account import Log, account
from cogmap.search.anneal import _anneal, annealed, by_rules, lead, more_contradictions, read, steps_of
from cogmap.walks.sample import sample_walks


def counter(price: int) -> TableWorld:
    """A machine that shows only when there are enough coins in it: insert, pay out, press."""
    states = np.arange(price + 1)
    inserted = np.minimum(states + 1, price)
    pressed = np.where(states == price, 0, states)
    table = np.stack([inserted, np.zeros(price + 1, dtype=int), pressed], axis=1)
    start = np.eye(price + 1)[0]
    return TableWorld(table, (states == price).astype(int), 2, start_probability=start)


def some_walks(seed: int) -> tuple[Walks, np.ndarray]:
    walks, truth = sample_walks(counter(4), 20, 40, np.random.default_rng(seed))
    return walks, truth.positions


def read_again(
    walks: Walks, leads: np.ndarray, shows: np.ndarray, first: np.ndarray, usual: np.ndarray
) -> np.ndarray:
    """(B, N) whether each step contradicts the moves, read one by one."""
    strange = np.zeros(walks.observations.shape, dtype=bool)
    for walk in range(walks.num_walks):
        here = first[walk]
        for step in range(walks.num_steps):
            if step:
                here = leads[here, walks.actions[walk, step - 1]]
            seen = walks.observations[walk, step]
            strange[walk, step] = shows[here] != seen
            here = usual[seen] if strange[walk, step] else here
    return strange


@pytest.mark.parametrize("seed", range(5))
def test_a_change_is_judged_and_made_as_if_all_walks_were_read_again(seed: int) -> None:
    walks, positions = some_walks(seed)
    rng = np.random.default_rng(seed)
    shows = (np.arange(5) == 4).astype(int)
    path = np.where(walks.observations == 1, 4, rng.integers(0, 4, size=positions.shape))
    leads, steps = rng.integers(0, 5, size=(5, 3)), steps_of(walks)
    table = read(steps, leads, shows, path.ravel(), 2)
    for _ in range(20):
        here, action, to = (int(rng.integers(0, most)) for most in (5, 3, 5))
        if table.tries[here, action] == 0:
            continue
        expected = table.leads.copy()
        expected[here, action] = to
        more = table.strange.sum() + more_contradictions(steps, table, here, action, to, 1 << 30)
        lead(steps, table, here, action, to)
        assert (table.tries.sum(), table.visits.sum()) == (walks.actions.size, walks.observations.size)
        strange = read_again(walks, table.leads, table.shows, path[:, 0], table.usual)
        assert table.strange.sum() == strange.sum()
        if (table.leads == expected).all():  # no other move came to be made, or to be made no more
            assert table.strange.sum() == more


@pytest.mark.parametrize("price", [3, 4])
def test_a_machine_that_counts_is_found_from_what_it_shows(
    price: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expectation-maximisation from what is seen calls the coins a matter of chance."""
    monkeypatch.setattr(anneal, "_CHANGES", 3000)
    walks, truth = sample_walks(counter(price), 100, 60, np.random.default_rng(0))
    log = Log(walks)
    merged = np.where(truth.positions == 1, 2, truth.positions)
    settled = account(log, count_states(merged, walks, price + 1))
    exact = account(log, count_states(truth.positions, walks, price + 1))
    assert by_rules(settled) > by_rules(exact) + 5
    found = annealed(log, settled)
    assert found.num_states == price + 1
    assert not found.may_hide_states()
    assert by_rules(found) < by_rules(exact) + 3  # one move that few steps make might lead elsewhere


def test_chance_is_left_to_others() -> None:
    rng = np.random.default_rng(0)
    walks = Walks(rng.integers(0, 2, size=(20, 50)), rng.integers(0, 2, size=(20, 49)), np.full(20, 50), 2, 2)
    log = Log(walks)
    settled = account(log, count_states(walks.observations, walks, 2))
    assert annealed(log, settled) is settled


def test_what_does_not_repeat_is_left_as_it_is() -> None:
    walks = Walks(np.arange(12).reshape(6, 2), np.zeros((6, 1), int), np.full(6, 2), 12, 2)
    log = Log(walks)
    settled = account(log, count_states(np.full((6, 2), -1), walks, 0))
    assert annealed(log, settled) is settled


def test_after_any_changes_the_table_says_what_reading_all_walks_again_says() -> None:
    walks, _ = some_walks(0)
    steps, shows = steps_of(walks), np.array([0, 1])
    table = read(steps, np.array([[0, 0, 0], [1, 1, 1]]), shows, walks.observations.ravel(), 2)
    best = read(steps, table.leads[:2], shows, walks.observations.ravel(), 2)
    _anneal(steps, table, best, np.linspace(0, 1, 5000), 2, np.random.default_rng(0))
    for each in (table, best):
        first = each.state[steps.first]
        assert each.strange.sum() == read_again(walks, each.leads, each.shows, first, each.usual).sum()
        assert (np.bincount(each.state, minlength=len(each.visits)) == each.visits).all()
