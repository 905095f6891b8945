"""Expected counts, likelihoods and beliefs against sums over all paths through the states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cogmap.hmm.inference import expect, maximise, predict
from cogmap.hmm.states import StateCounts, count_states, join_states, never_taken, with_slips
from cogmap.hmm.steps import UNEXPLAINED
from cogmap.records import Walks

STATES, ACTIONS, OBSERVATIONS = 3, 2, 2


def random_model(seed: int) -> tuple[StateCounts, np.ndarray, np.ndarray, np.ndarray]:
    """Counts, and the same as dense probabilities: first (V,), moves (V, A, V), sights (V, O). One move is one-way."""
    rng = np.random.default_rng(seed)
    moves = rng.dirichlet(np.ones(STATES), (STATES, ACTIONS))
    moves[0, 0] = [0, 1, 0]
    sights = rng.dirichlet(np.ones(OBSERVATIONS), STATES)
    source, action, target = np.nonzero(moves)
    state, seen = np.nonzero(sights)
    many = 1000.0  # so that every entry counts
    counts = StateCounts(
        first=np.full(STATES, 1e9),  # uniform, whatever the visits
        row=source * ACTIONS + action,
        target=target.astype(np.int32),
        count=many * moves[source, action, target],
        seen_at=state.astype(np.int32),
        seen=seen.astype(np.int32),
        seen_count=many * sights[state, seen],
        num_actions=ACTIONS,
        num_observations=OBSERVATIONS,
    )
    return counts, np.full(STATES, 1 / STATES), moves, sights


def random_walk(seed: int, steps: int = 5) -> Walks:
    rng = np.random.default_rng(seed + 100)
    seen, done = rng.integers(0, 2, (1, steps)), rng.integers(0, 2, (1, steps - 1))
    return Walks(seen, done, np.array([steps]), OBSERVATIONS, ACTIONS)


def by_paths(walks: Walks, first: np.ndarray, moves: np.ndarray, sights: np.ndarray):
    """The likelihood, the expected moves (V, A, V) and the posterior (N, V), by adding up all paths."""
    seen, done = walks.observations[0], walks.actions[0]
    total, expected, posterior = 0.0, np.zeros_like(moves), np.zeros((len(seen), STATES))
    for path in itertools.product(range(STATES), repeat=len(seen)):
        chance = first[path[0]] * sights[path[0], seen[0]]
        for step, action in enumerate(done):
            chance *= moves[path[step], action, path[step + 1]] * sights[path[step + 1], seen[step + 1]]
        total += chance
        for step, action in enumerate(done):
            expected[path[step], action, path[step + 1]] += chance
        for step, state in enumerate(path):
            posterior[step, state] += chance
    return total, expected / total, posterior / total


@pytest.mark.parametrize("seed", range(6))
def test_a_pass_over_a_walk_agrees_with_adding_up_all_paths(seed: int) -> None:
    counts, *dense = random_model(seed)
    walks = random_walk(seed)
    likelihood, expected, posterior = by_paths(walks, *dense)
    found = expect(counts, walks)
    assert found.log_likelihood == pytest.approx(np.log(likelihood))
    assert found.unexplained == 0
    source, action = np.divmod(found.counts.row, ACTIONS)
    np.testing.assert_allclose(found.counts.count, expected[source, action, found.counts.target], atol=1e-9)
    np.testing.assert_allclose(found.counts.visits, posterior.sum(axis=0))
    np.testing.assert_allclose(found.counts.first, posterior[0])
    np.testing.assert_array_equal(found.path[0], posterior.argmax(axis=1))
    np.testing.assert_allclose(found.sure[0], posterior.max(axis=1), rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_what_an_edge_is_needed_for_is_what_its_paths_are_worth(seed: int) -> None:
    """A walk of two steps has one move: without an edge the likelihood is that of the other paths."""
    counts, *dense = random_model(seed)
    walks = random_walk(seed, steps=2)
    _, expected, _ = by_paths(walks, *dense)
    found = expect(counts, walks)
    source, action = np.divmod(found.counts.row, ACTIONS)
    share = expected[source, action, found.counts.target]
    np.testing.assert_allclose(found.need, -np.log(1 - share), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_predictions_agree_with_adding_up_all_paths(seed: int) -> None:
    counts, *dense = random_model(seed)
    walks = random_walk(seed)
    state, predicted, log_likelihood = predict(counts, walks)
    for step in range(1, walks.num_steps):
        both = []
        for seen in range(OBSERVATIONS):
            observations = walks.observations[:, : step + 1].copy()
            observations[0, step] = seen
            asked = Walks(observations, walks.actions[:, :step], np.array([step + 1]), OBSERVATIONS, ACTIONS)
            both.append(by_paths(asked, *dense)[0])
        assert predicted[0, step - 1] == int(np.argmax(both))
        seen = walks.observations[0, step]
        assert log_likelihood[0, step - 1] == pytest.approx(np.log(both[seen] / sum(both)))
        known = Walks(
            walks.observations[:, : step + 1],
            walks.actions[:, :step],
            np.array([step + 1]),
            OBSERVATIONS,
            ACTIONS,
        )
        assert state[0, step] == by_paths(known, *dense)[2][-1].argmax()


def test_rounds_never_lower_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    walks = Walks(rng.integers(0, 2, (20, 30)), rng.integers(0, 2, (20, 29)), np.full(20, 30), 2, 2)
    counts, before = random_model(0)[0], -np.inf
    for _ in range(8):
        found = expect(counts, walks)
        assert found.log_likelihood >= before - 1e-3  # dropped shares of 1e-5
        counts, before = found.counts, found.log_likelihood
    assert maximise(walks, random_model(0)[0], 8).log_likelihood == pytest.approx(before)


def test_a_step_that_no_edge_explains_begins_anew() -> None:
    """Two states in turn; the walk stays at one once, which no edge allows."""
    steps = np.array([[0, 1, 0, 1, 0, 1]])
    turns = Walks(steps, np.zeros((1, 5), int), np.array([6]), 2, 1)
    counts = count_states(steps, turns, 2)
    broken = Walks(np.array([[0, 1, 1, 0]]), np.zeros((1, 3), int), np.array([4]), 2, 1)
    found = expect(counts, broken)
    assert found.unexplained == 1
    assert found.path.tolist() == [[0, 1, 1, 0]]
    start = np.log(found.counts.first.sum())  # one walk
    assert found.log_likelihood < np.log(UNEXPLAINED) + start + 1e-9


def test_padding_counts_nothing() -> None:
    counts, *_ = random_model(1)
    seen, done = np.array([[0, 1, 1, 0], [1, 0, 0, 0]]), np.array([[0, 1, 1], [1, 0, 0]])
    both = expect(counts, Walks(seen, done, np.array([4, 2]), 2, 2))
    alone = [
        expect(counts, Walks(seen[[i], :n], done[[i], : n - 1], np.array([n]), 2, 2))
        for i, n in ((0, 4), (1, 2))
    ]
    assert both.log_likelihood == pytest.approx(sum(each.log_likelihood for each in alone))
    np.testing.assert_allclose(both.counts.count, sum(each.counts.count for each in alone))
    assert both.path[1].tolist()[2:] == [-1, -1]


def test_joined_states_add_up_and_removed_ones_vanish() -> None:
    counts, *_ = random_model(2)
    joined = join_states(counts, np.array([0, 0, 1]), 2)
    assert joined.count.sum() == pytest.approx(counts.count.sum())
    assert joined.visits.tolist() == pytest.approx([counts.visits[:2].sum(), counts.visits[2]])
    removed = join_states(counts, np.array([-1, 0, 1]), 2)
    kept = (counts.row // ACTIONS > 0) & (counts.target > 0)
    assert removed.count.sum() == pytest.approx(counts.count[kept].sum())


def test_an_action_that_is_never_taken_says_where_one_is() -> None:
    """Both states look alike; from the first only action 0 is ever taken."""
    steps = np.tile([0, 1], (50, 20))
    done = np.where(steps[:, :-1] == 0, 0, np.random.default_rng(0).integers(0, 2, (50, 39)))
    walks = Walks(np.zeros((50, 40), int), done, np.full(50, 40), 1, 2)
    counts = count_states(steps, walks, 2)
    assert never_taken(counts).tolist() == [[False, True], [False, False]]
    placed = expect(counts, walks).path
    np.testing.assert_array_equal(placed, steps)


def test_slips_lead_where_other_actions_do_or_nowhere() -> None:
    """State 0 goes to 1 by the first action and to 2 by the second; state 1 stays, by the first action alone."""
    counts = StateCounts(
        first=np.array([1.0, 0, 0]),
        row=np.array([0, 1, 2]),
        target=np.array([1, 2, 1], dtype=np.int32),
        count=np.array([30.0, 10, 5]),
        seen_at=np.arange(3, dtype=np.int32),
        seen=np.zeros(3, dtype=np.int32),
        seen_count=np.ones(3),
        num_actions=2,
        num_observations=1,
    )
    wide = with_slips(counts, 0.1)
    edges = {
        (int(row), int(to)): count for row, to, count in zip(wide.row, wide.target, wide.count, strict=True)
    }
    assert set(edges) == {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 1)}
    assert edges[0, 1] == pytest.approx(30 + 0.1 * 30 * 30 / 40)
    assert edges[0, 2] == pytest.approx(0.1 * 30 * 10 / 40)
    assert edges[1, 0] == pytest.approx(0.1 * 10 * 0.1)
    assert (np.diff(wide.row * 3 + wide.target) > 0).all()
