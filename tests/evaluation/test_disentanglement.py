"""The regression against a plain one, and codes that are independent or copies of each other."""

import numpy as np
import pytest

from cogmap.errors import BadConfig
from cogmap.evaluation.disentanglement import _fit, disentanglement
from cogmap.records import Codes


def plain_adam(tuples, bottleneck, num_codes, rng, iterations, batch_size, learning_rate):
    """The textbook on a dense table, in double precision."""
    others = np.delete(tuples, bottleneck, axis=1)
    onehot = np.eye(num_codes)[others].reshape(len(tuples), -1)  # (T, (M - 1) K)
    target = np.eye(num_codes)[tuples[:, bottleneck]]
    weights = np.zeros((onehot.shape[1], num_codes))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, iterations + 1):
        batch = rng.integers(len(tuples), size=batch_size)
        logits = onehot[batch] @ weights
        share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        gradient = onehot[batch].T @ (share - target[batch]) / batch_size
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        unbiased = first / (1 - 0.9**step), second / (1 - 0.999**step)
        weights -= learning_rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    return weights


@pytest.mark.parametrize("used", [12, 7], ids=["all codes occur", "some never occur"])
def test_the_regression_is_trained_by_adam(used):
    tuples = np.random.default_rng(0).integers(used, size=(300, 3)).astype(np.int32)
    arguments = (tuples, 1, 12)
    table, codes = _fit(*arguments, np.random.default_rng(1), 300, 4, 0.01)
    expected = plain_adam(*arguments, np.random.default_rng(1), 300, 4, 0.01)
    np.testing.assert_allclose(table, expected[:, codes], atol=1e-4)
    assert np.abs(expected).max() > 0.3
    assert codes.tolist() == list(range(min(used + 1, 12)))


def codes_from(tuples, num_codes):
    walks = tuples.reshape(20, -1, tuples.shape[1])
    return Codes(walks, np.full(20, walks.shape[1]), num_codes)


def test_copies_are_predicted_and_independent_codes_are_not():
    rng = np.random.default_rng(0)
    place = rng.integers(10, size=(2, 4000))
    copies = [np.stack([row, (row + 3) % 10, 9 - row], axis=1) for row in place]
    apart = rng.integers(10, size=(2, 4000, 3))
    settings = {"iterations": 150, "learning_rate": 0.05}
    together = disentanglement(*(codes_from(part, 10) for part in copies), rng, **settings)
    assert together.accuracy == 1.0
    separate = disentanglement(*(codes_from(part, 10) for part in apart), rng, **settings)
    assert abs(separate.accuracy - 0.1) < 0.04
    assert (separate.chance, separate.by_bottleneck.shape) == (0.1, (3,))
    assert abs(separate.most_frequent - 0.1) < 0.04


def test_one_bottleneck_has_no_others():
    codes = codes_from(np.zeros((40, 1), int), 5)
    with pytest.raises(BadConfig, match="at least 2 bottlenecks, got 1"):
        disentanglement(codes, codes, np.random.default_rng(0))
