"""A code that several places share is told apart by what led to it, where what follows differs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from coded_worlds import grid
from scipy.special import gammaln

from cogmap.hmm.counts import unique_codes
from cogmap.maps.build import build_map
from cogmap.maps.shared import _evidence, _log_gammas, _tests_made, told_apart
from cogmap.planning.localise import estimated_nodes, nodes_by_code
from cogmap.records import Codes, PredictedFutures, TableWorld, Walks
from cogmap.walks.sample import sample_walks

WORLD = grid(5, 6, 3, np.random.default_rng(3))


def sequences(actions: int, steps: int) -> np.ndarray:
    """(T, S) all sequences of up to S actions."""
    rows = [
        test + (-1,) * (steps - ahead)
        for ahead in range(1, steps + 1)
        for test in product(range(actions), repeat=ahead)
    ]
    return np.array(rows)


def outcomes(world: TableWorld, tests: np.ndarray) -> np.ndarray:
    """(P, T) what is seen at the end of each test from each place."""
    place = np.repeat(np.arange(world.num_positions)[:, None], len(tests), axis=1)
    for actions in tests.T:
        place = np.where(actions >= 0, world.next_position[place, actions], place)
    return world.observation[place]


def alike(world: TableWorld, tests: np.ndarray, number: int) -> np.ndarray:
    """(P,) places, of which some pairs that look the same have one label: those of the most equal tests.

    At most one place of any neighbourhood is in a pair, so that it is clear what led to it.
    """
    seen = outcomes(world, tests)
    differ = (seen[:, None] != seen[None]).sum(axis=2).astype(float)
    differ[(world.observation[:, None] != world.observation[None]) | np.tri(len(seen), dtype=bool)] = np.inf
    label, used = np.arange(len(seen)), np.zeros(len(seen), dtype=bool)
    for flat in np.argsort(differ, axis=None, kind="stable"):
        one, other = np.unravel_index(flat, differ.shape)
        near = np.concatenate([[one, other], world.next_position[one], world.next_position[other]])
        if differ[one, other] > 0 and not used[near].any():
            label[other] = one
            used[near] = True
            number -= 1
            if not number:
                break
    return np.unique(label, return_inverse=True)[1]


def of_other_places(labels: np.ndarray, places: np.ndarray) -> float:
    """The share of steps whose label is most often of another place than theirs."""
    at = np.zeros((labels.max() + 1, places.max() + 1), dtype=int)
    np.add.at(at, (labels, places), 1)
    return float(1 - at.max(axis=1).sum() / labels.size)


def since_a_code_of_its_own(label: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """(B, N) steps from the first on whose place shares its code with no other: what led to them is known."""
    own = np.bincount(label)[label] == 1
    known = np.maximum.accumulate(own[positions], axis=1)
    assert known.mean() > 0.9
    return known


@pytest.fixture(scope="module")
def sampled() -> tuple[Walks, np.ndarray]:
    walks, truth = sample_walks(WORLD, 200, 200, np.random.default_rng(0))
    return walks, truth.positions


def test_places_that_share_a_code_are_told_apart_where_their_futures_differ(sampled) -> None:
    walks, positions = sampled
    tests = sequences(4, 3)
    label = alike(WORLD, tests, 3)
    assert len(np.unique(label)) == WORLD.num_positions - 3
    found = told_apart(label[positions], walks, tests)
    known = since_a_code_of_its_own(label, positions)
    assert of_other_places(label[positions].ravel(), positions.ravel()) > 0.05
    assert of_other_places(found[known], positions[known]) < 1e-3  # long stays at shared codes
    assert len(np.unique(found)) == WORLD.num_positions


def test_places_with_one_future_stay_one_however_they_were_reached() -> None:
    """Two corridors that differ at their ends: in their middle, one step ahead tells nothing and two steps do."""
    # 0 .. 4 and 5 .. 9, from left to right; the ends of the second look different, and its way on leads to the first
    right = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 0])
    left = np.array([9, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    world = TableWorld(np.stack([left, right], axis=1), np.array([1, 0, 0, 0, 1, 2, 0, 0, 0, 2]), 3)
    walks, truth = sample_walks(world, 100, 100, np.random.default_rng(0))
    label = np.array([0, 1, 2, 3, 4, 5, 6, 2, 7, 8])[truth.positions]  # 2 and 7 share a code
    one, two = (told_apart(label, walks, sequences(2, steps)) for steps in (1, 2))
    assert np.array_equal(one, label)
    assert of_other_places(two[:, 1:].ravel(), truth.positions[:, 1:].ravel()) == 0


def test_chance_alone_tells_nothing_apart() -> None:
    """What follows a code is noise, whatever led to it."""
    rng = np.random.default_rng(0)
    walks = Walks(rng.integers(0, 3, (100, 100)), rng.integers(0, 2, (100, 99)), np.full(100, 100), 3, 2)
    labels = walks.observations
    assert np.array_equal(told_apart(labels, walks, sequences(2, 3)), labels)


def test_walks_of_different_lengths_keep_their_padding(sampled) -> None:
    walks, positions = sampled
    lengths = np.random.default_rng(1).integers(2, 201, 200)
    cut = Walks(walks.observations, walks.actions, lengths, 3, 4)
    label = alike(WORLD, sequences(4, 3), 3)
    inside = cut.step_mask()
    found = told_apart(np.where(inside, label[positions], -1), cut, sequences(4, 3))
    assert np.array_equal(found >= 0, inside)
    later = inside & since_a_code_of_its_own(label, positions)
    before, after = (of_other_places(each[later], positions[later]) for each in (label[positions], found))
    assert after < before / 2


def test_the_test_that_a_step_begins_agrees_with_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    lengths = np.array([12, 7, 2])
    walks = Walks(rng.integers(0, 3, (3, 12)), rng.integers(0, 3, (3, 11)), lengths, 3, 3)
    tests = sequences(3, 3)[rng.random(39) < 0.6]
    number = {tuple(test[test >= 0].tolist()): row for row, test in enumerate(tests)}
    made = _tests_made(walks, tests)
    for ahead, walk, step in product(range(1, 4), range(3), range(12)):
        ends = step + ahead < lengths[walk]
        wanted = number.get(tuple(walks.actions[walk, step : step + ahead].tolist()), -1) if ends else -1
        assert made[ahead - 1, walk, step] == wanted


def test_the_evidence_is_that_of_two_dirichlet_multinomials_against_one() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 3, (2, 4)) * 5  # some outcomes are of one place alone

    def likelihood(counts: np.ndarray) -> float:
        return float(gammaln(counts + 0.5).sum() - gammaln(counts.sum() + 2) + gammaln(2) - 4 * gammaln(0.5))

    wanted = likelihood(one) + likelihood(other) - likelihood(one + other)
    sums = int(one.sum()), int(other.sum())
    found = _evidence(one, other, sums, _log_gammas(0.5, 80), _log_gammas(2.0, 80))
    assert found == pytest.approx(wanted)


def test_the_papers_map_has_a_node_for_each_place_of_a_shared_code_and_finds_it_by_the_move(sampled) -> None:
    walks, positions = sampled
    tests = sequences(4, 3)
    label = alike(WORLD, tests, 3)
    codes = Codes(label[positions][..., None], walks.lengths, 30)
    seen = np.eye(3)[outcomes(WORLD, tests)]  # (P, T, O)
    mean = np.stack([seen[label == each].mean(axis=0) for each in range(label.max() + 1)])
    found = build_map(codes, walks, "paper", futures=PredictedFutures(tests, mean.astype(np.float32)))
    assert found.num_nodes == WORLD.num_positions
    nodes = estimated_nodes(found, walks.observations, walks.actions, walks.lengths, codes)
    known = since_a_code_of_its_own(label, positions)
    assert of_other_places(nodes[known], positions[known]) == 0
    by_code = nodes_by_code(found, codes)
    assert of_other_places(by_code[known], positions[known]) > 0.05
    assert len(unique_codes(codes)[0]) == WORLD.num_positions - 3
