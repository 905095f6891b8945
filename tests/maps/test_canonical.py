"""Codes are joined by their predicted futures: one rare test that tells two apart counts."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.errors import BadRun
from cogmap.hmm.counts import count_transitions
from cogmap.maps.canonical import canonical_codes, deeper_futures, usual_observation
from cogmap.records import PredictedFutures


def futures(probabilities: np.ndarray) -> PredictedFutures:
    tests = np.arange(probabilities.shape[1])[:, None]
    return PredictedFutures(tests, probabilities.astype(np.float32))


def certain(outcomes: list[list[int]], observations: int = 3) -> np.ndarray:
    """(J, T, O) futures that are certain."""
    return np.eye(observations)[np.array(outcomes)]


def test_codes_with_one_future_are_one_and_one_rare_test_is_enough_to_keep_two() -> None:
    outcomes = [[0, 1, 2] * 30, [0, 1, 2] * 30, [0, 1, 2] * 29 + [0, 1, 0]]
    joined = canonical_codes(futures(certain(outcomes)), np.arange(3), np.zeros(3, int), np.array([5, 9, 7]))
    assert joined[0] == joined[1] != joined[2]


def test_codes_that_look_different_are_never_one() -> None:
    joined = canonical_codes(futures(certain([[0], [0]])), np.arange(2), np.array([0, 1]), np.array([1, 1]))
    assert joined[0] != joined[1]


@pytest.mark.parametrize(
    ("apart", "tolerance", "same"), [(0.01, 0.02, True), (0.03, 0.02, False), (0.03, 0.5, True)]
)
def test_the_tolerance_is_a_total_variation(apart: float, tolerance: float, same: bool) -> None:
    table = np.array([[[0.5, 0.5]], [[0.5 + apart, 0.5 - apart]]])
    joined = canonical_codes(futures(table), np.arange(2), np.zeros(2, int), np.array([2, 1]), tolerance)
    assert (joined[0] == joined[1]) == same


def test_codes_that_differ_only_in_what_the_next_codes_predict_are_two() -> None:
    """Codes 0 and 1 predict the same; action 1 leads to code 2 from one and to code 3 from the other."""
    table = futures(certain([[0, 1], [0, 1], [0, 2], [0, 1]]))
    walks = np.array([[0, 2, 0], [1, 3, 1], [0, 2, 1]])
    moves = count_transitions(walks, np.array([[1, 0], [1, 0], [1, 0]]), 4, 2)
    deeper = deeper_futures(table, moves)
    assert deeper.tests.tolist() == [[0, -1], [1, -1], [0, 0], [0, 1], [1, 0], [1, 1]]
    np.testing.assert_allclose(deeper.probabilities[0, 4:], certain([[0, 2]])[0])
    np.testing.assert_allclose(deeper.probabilities[1, 4:], certain([[0, 1]])[0])
    assert not deeper.probabilities[0, 2:4].any()  # action 0 was never taken there
    joined = [
        canonical_codes(each, np.arange(4), np.zeros(4, int), np.full(4, 3), 0.7) for each in (table, deeper)
    ]
    assert [each[0] == each[1] for each in joined] == [True, False]


def test_the_usual_observation_is_the_most_frequent() -> None:
    usual, visits = usual_observation(np.array([0, 0, 1]), np.array([2, 1, 0]), np.array([3, 5, 4]), 3)
    assert usual.tolist() == [1, 0, 0]
    assert visits.tolist() == [8, 4, 0]


def test_futures_of_the_wrong_shape() -> None:
    with pytest.raises(BadRun, match=r"`probabilities` must have shape \(J, T, O\) with T = 2"):
        PredictedFutures(np.zeros((2, 1), int), np.zeros((4, 3, 2), np.float32))
