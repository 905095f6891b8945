"""N-grams against counts by a dictionary."""

import numpy as np
import pytest

from cogmap.models.ngram import ngram_predictions
from cogmap.records import Walks


def random_walks(seed, lengths):
    rng = np.random.default_rng(seed)
    shape = (len(lengths), max(lengths))
    return Walks(
        rng.integers(3, size=shape), rng.integers(2, size=(shape[0], shape[1] - 1)), np.array(lengths), 3, 2
    )


def by_dictionary(train, test_context, order):
    """Witten-Bell, step by step: the chances of the next observation."""
    shares = np.full(3, 1 / 3)
    for length in range(order + 1):
        counts = np.zeros(3)
        for seen, done, size in zip(train.observations, train.actions, train.lengths, strict=True):
            for step in range(size - 1):
                if context(seen, done, step, length) == context(*test_context, length):
                    counts[seen[step + 1]] += 1
        kinds = (counts > 0).sum()
        if kinds:
            shares = (counts + kinds * shares) / (counts.sum() + kinds)
    return shares


def context(seen, done, step, length):
    """The last observations with the actions after them; a walk's beginning is part of it."""
    return tuple(
        (int(seen[i]), int(done[i])) if i >= 0 else None for i in range(step, step - length, -1) if i >= -1
    )


@pytest.mark.parametrize("order", [0, 1, 2])
def test_chances_are_those_of_a_dictionary(order):
    train, test = random_walks(0, (12, 9)), random_walks(1, (6, 4))
    predicted, chance, _ = ngram_predictions(train, test, order)
    for walk, length in enumerate(test.lengths):
        for step in range(length - 1):
            shares = by_dictionary(train, (test.observations[walk], test.actions[walk], step), order)
            assert chance[walk, step] == pytest.approx(shares[test.observations[walk, step + 1]])
            assert shares[predicted[walk, step]] == pytest.approx(shares.max())


def test_a_cycle_is_predicted_once_its_context_is_long_enough():
    seen = np.tile([0, 0, 1], 30)[None]
    walks = Walks(seen, np.zeros((1, 89), dtype=int), np.array([90]), 2, 1)
    long, short = (ngram_predictions(walks, walks, order)[0][0, 3:] for order in (3, 1))
    assert (long == seen[0, 4:]).all()
    assert (short == seen[0, 4:]).mean() < 0.8
