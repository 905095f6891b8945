"""Clone-structured graphs against dense arithmetic and enumerated paths."""

import itertools

import numpy as np
import pytest

from cogmap.baselines.clone_blocks import CloneBlocks
from cogmap.baselines.cscg import PSEUDOCOUNT, CloneOptions, learn_clones
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadConfig
from cogmap.hmm.inference import likeliest_paths, predict
from cogmap.hmm.states import StateCounts, count_states
from cogmap.records import Walks
from cogmap.walks.sample import sample_walks


def some_walks(lengths=(5, 4, 2), observations=2, actions=2, seed=0):
    rng = np.random.default_rng(seed)
    shape = (len(lengths), max(lengths))
    seen = rng.integers(observations, size=shape)
    done = rng.integers(actions, size=(shape[0], shape[1] - 1))
    return Walks(seen, done, np.array(lengths), observations, actions)


def dense_of(model, values=None):
    """(A, K, K) the transitions of a clone model, or other values of them; zero where walks never go."""
    dense = np.zeros((model.num_actions, model.num_states, model.num_states))
    for view, action, rows, columns in model.views(model.chances() if values is None else values):
        dense[action, rows, columns] = view
    return dense


def dense_round(model, walks):
    """Log-likelihood after the first observation, expected transitions (A, K, K) and first states (K,), all states."""
    moves, states = dense_of(model), model.num_states
    shows = np.repeat(np.arange(model.num_observations), model.size)
    counts, first, total = np.zeros_like(moves), np.zeros(states), 0.0
    for seen, done, length in zip(walks.observations, walks.actions, walks.lengths, strict=True):
        alpha = [model.first * (shows == seen[0])]
        alpha[0] = alpha[0] / alpha[0].sum()
        scale = [1.0]
        for step in range(1, length):
            after = alpha[-1] @ moves[done[step - 1]] * (shows == seen[step])
            scale.append(after.sum())
            alpha.append(after / after.sum())
        total += np.log(scale).sum()
        beta = np.ones(states)
        for step in range(length - 1, 0, -1):
            ahead = (shows == seen[step]) * beta / scale[step]
            counts[done[step - 1]] += alpha[step - 1][:, None] * moves[done[step - 1]] * ahead
            beta = moves[done[step - 1]] @ ahead
        first += alpha[0] * beta
    return total, counts, first


@pytest.mark.parametrize("seed", range(3))
def test_a_round_is_that_of_dense_matrices(seed):
    walks = some_walks((40, 25, 2), observations=3, seed=seed)
    model = CloneBlocks(walks, 4, seed)
    likelihood, counts, first = model.expected(walks)
    dense = dense_round(model, walks)
    assert likelihood == pytest.approx(dense[0], rel=1e-4)
    assert model.log_likelihood(walks) == pytest.approx(dense[0] / (walks.lengths - 1).sum(), rel=1e-4)
    np.testing.assert_allclose(first, dense[2], atol=1e-4)
    np.testing.assert_allclose(dense_of(model, counts), dense[1], atol=1e-3)


def test_chances_sum_to_one_for_every_clone_and_action_that_occur():
    walks = some_walks((40, 25), observations=3)
    model = CloneBlocks(walks, 4, 0)
    model.update(*model.expected(walks)[1:], PSEUDOCOUNT)
    total = dense_of(model).sum(axis=2)
    np.testing.assert_allclose(total[total > 0], 1, atol=12 / 65535)  # of 12 targets, each kept to 1 / 65535


def test_a_transition_is_kept_to_a_65535th_of_its_root():
    walks = some_walks((40, 25), observations=3)
    model = CloneBlocks(walks, 4, 0)
    _, counts, first = model.expected(walks)
    total = dense_of(model, counts + np.float32(PSEUDOCOUNT))
    exact = total / np.maximum(total.sum(axis=2, keepdims=True), 1e-30)
    model.update(counts, first, PSEUDOCOUNT)
    assert np.abs(np.sqrt(dense_of(model)) - np.sqrt(exact)).max() < 0.51 / 65535


def test_dense_blocks_take_less_than_two_dense_tables():
    walks = some_walks((400, 400), observations=2)
    model = CloneBlocks(walks, 20, 0)
    assert model.num_states == 40
    # A dense table and its counts in 32 bits have 8 bytes a transition.
    assert model.nbytes == 6 * 2 * 40 * 40


def test_rounds_never_lower_the_likelihood_without_a_pseudocount():
    walks, _ = sample_walks(AliasedRoom(3, 3, 2, seed=0), 6, 60, np.random.default_rng(0))
    model, before = CloneBlocks(walks, 6, 0), -np.inf
    for _ in range(15):
        likelihood, *counts = model.expected(walks)
        assert likelihood > before - 0.05
        before = likelihood
        model.update(*counts, 0.0)


def test_walks_longer_than_a_segment_have_the_likelihood_of_the_whole():
    walks, _ = sample_walks(AliasedRoom(3, 4, 2, seed=0), 1, 2500, np.random.default_rng(0))
    model = CloneBlocks(walks, 5, 0)
    likelihood, counts, first = model.expected(walks)
    assert likelihood == pytest.approx(dense_round(model, walks)[0], rel=1e-4)
    assert counts.sum() + first.sum() == pytest.approx(2500, rel=1e-4)


def test_only_pairs_of_observations_that_occur_take_memory():
    ring = np.tile(np.arange(10), 20)[None]
    walks = Walks(ring, np.zeros((1, 199), dtype=int), np.array([200]), 10, 1)
    model = CloneBlocks(walks, 8, 0)
    assert model.num_states == 80
    assert model.nbytes < 8 * 80 * 80 / 5  # a dense table of doubles has ten times the entries


def test_an_observation_has_no_more_clones_than_sightings():
    walks = Walks(np.array([[0, 0, 0, 1]]), np.zeros((1, 3), dtype=int), np.array([4]), 3, 1)
    assert CloneBlocks(walks, 8, 0).size.tolist() == [3, 1, 0]


def test_the_likeliest_path_is_the_best_of_all():
    rng = np.random.default_rng(0)
    walks = some_walks((6, 5), observations=2, seed=3)
    states, actions = 4, walks.num_actions
    moves = rng.random((states, actions, states)) * 100
    row, target = np.divmod(np.arange(moves.size), states)
    counts = StateCounts(
        first=rng.random(states) * 10,
        row=row,
        target=target.astype(np.int32),
        count=moves.ravel(),
        seen_at=np.arange(states, dtype=np.int32),
        seen=np.array([0, 0, 1, 1], dtype=np.int32),
        seen_count=np.full(states, 50.0),
        num_actions=actions,
        num_observations=2,
    )
    chance = moves / moves.sum(axis=2, keepdims=True)
    first = counts.first + counts.visits / counts.visits.sum()
    first = first / first.sum()
    path, _ = likeliest_paths(counts, walks)
    for walk, length in enumerate(walks.lengths):
        seen, done = walks.observations[walk], walks.actions[walk]

        def weight(states, seen=seen, done=done):
            if any(counts.seen[state] != shown for state, shown in zip(states, seen, strict=False)):
                return 0.0
            steps = zip(states, done, states[1:], strict=False)
            return first[states[0]] * np.prod([chance[here, action, there] for here, action, there in steps])

        best = max(itertools.product(range(states), repeat=int(length)), key=weight)
        assert path[walk, :length].tolist() == list(best)
        assert (path[walk, length:] == -1).all()


def test_a_small_room_is_learned_and_more_clones_are_asked_for_only_while_they_help():
    room = AliasedRoom(4, 4, 4, seed=1)
    walks, truth = sample_walks(room, 60, 100, np.random.default_rng(0))
    told = []
    graph = learn_clones(
        walks.rows(slice(54)), walks.rows(slice(54, 60)), CloneOptions(restarts=1), told.append
    )
    state, _, _ = predict(graph.counts, walks)
    late = state[:, 30:], truth.positions[:, 30:]
    together = np.zeros((graph.num_states, room.num_positions))
    np.add.at(together, late, 1)
    assert together.max(axis=1).sum() / together.sum() > 0.98
    assert 2 <= len(told) <= 4


def test_counts_of_a_known_path_are_refined_to_themselves():
    walks, truth = sample_walks(AliasedRoom(3, 4, 3, seed=0), 20, 80, np.random.default_rng(0))
    counts = count_states(truth.positions, walks, 12)
    path, _ = likeliest_paths(counts, walks)
    assert (path == truth.positions)[:, 20:].mean() > 0.99


def test_no_clones_are_refused():
    with pytest.raises(BadConfig, match=r"`clones` must be at least 1, got 0"):
        CloneBlocks(some_walks(), 0, 0)
