"""Accuracy counts real steps only."""

import numpy as np
import pytest

from cogmap.errors import BadWalks
from cogmap.evaluation.prediction import accuracy_by_step, next_observation_accuracy
from cogmap.records import Walks

WALKS = Walks(
    observations=np.array([[0, 1, 2, 0], [2, 2, 0, 0]]),
    actions=np.zeros((2, 3), dtype=int),
    lengths=np.array([4, 2]),
    num_observations=3,
    num_actions=1,
)


def test_padding_is_left_out():
    predicted = np.array([[1, 0, 0], [2, 0, 0]])  # the last two of walk 1 would match its padding
    assert next_observation_accuracy(predicted, WALKS) == 3 / 4
    assert accuracy_by_step(predicted, WALKS).tolist() == [1.0, 0.0, 1.0]


def test_wrong_shape():
    with pytest.raises(BadWalks, match=r"must have shape \(B, N - 1\) = \(2, 3\), got \(2, 4\)"):
        next_observation_accuracy(WALKS.observations, WALKS)
