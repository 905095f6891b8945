"""Predicted futures are what the heads say, test by test, in a bounded number of tests."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cogmap.models import futures as futures_module
from cogmap.models.config import ModelConfig
from cogmap.models.futures import predicted_futures
from cogmap.models.tdb import TDB
from cogmap.records import Walks


def model(actions: int = 3, **options) -> TDB:
    torch.manual_seed(0)
    made = TDB(
        ModelConfig(
            num_observations=4,
            num_actions=actions,
            num_targets=4,
            encoder="gru",
            width=16,
            layers=1,
            num_codes=20,
            head_width=16,
            code_width=8,
            **options,
        )
    )
    torch.nn.init.normal_(made.bottlenecks.dictionary)
    return made.double().eval()


def walked(actions: int) -> Walks:
    """Walks that take every sequence of a few actions."""
    drawn = np.random.default_rng(0).integers(actions, size=(40, 200))
    return Walks(np.zeros((40, 201), np.int32), drawn, np.full(40, 201), 4, actions)


@pytest.mark.parametrize("options", [{}, {"bottlenecks": 2}, {"code_logits": True}])
def test_each_test_is_a_heads_prediction_for_its_actions(options) -> None:
    network = model(**options)
    tuples = np.arange(5 * network.config.bottlenecks).reshape(5, -1).astype(np.int32)
    found = predicted_futures(network, tuples, walked(3))
    assert found is not None
    assert found.probabilities.shape == (5, 3 + 9 + 27, 4)
    for row, test in ((0, 0), (3, 7), (4, 38)):
        actions = found.tests[test][found.tests[test] >= 0]
        codes = torch.from_numpy(tuples[row].astype(np.int64))[None, None]
        vectors = network.bottlenecks.entries(codes).flatten(2)
        logits = network.heads[len(actions) - 1](
            vectors, torch.from_numpy(actions.astype(np.int64))[None, None]
        )
        if network.code_logits is not None:
            logits = logits + network.code_logits(codes)[len(actions) - 1]
        wanted = torch.softmax(logits[0, 0], 0).detach().numpy()
        np.testing.assert_allclose(found.probabilities[row, test], wanted, rtol=1e-5)


def test_of_many_sequences_the_usual_ones_are_tests_and_every_single_action() -> None:
    found = predicted_futures(model(actions=25), np.zeros((2, 1), np.int32), walked(25))
    assert found is not None
    assert len(found.tests) == 25 + 2 * futures_module.TESTS_OF_A_LENGTH
    assert found.tests[:25, 0].tolist() == list(range(25))


def test_what_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(futures_module, "MOST_NUMBERS", 5 * 4 * 13)  # room for 13 tests of 5 tuples
    found = predicted_futures(model(), np.arange(5, dtype=np.int32)[:, None], walked(3))
    assert found is not None
    assert len(found.tests) == 3 + 9
    monkeypatch.setattr(futures_module, "MOST_NUMBERS", 5)
    assert predicted_futures(model(), np.arange(5, dtype=np.int32)[:, None], walked(3)) is None


def test_sequences_that_are_never_taken_are_no_tests() -> None:
    """Action 2 is taken only after action 1, as a button of a page that only a link leads to."""
    actions = np.tile([0, 1, 2], (5, 20))
    walks = Walks(np.zeros((5, 61), np.int32), actions, np.full(5, 61), 4, 3)
    found = predicted_futures(model(), np.arange(5, dtype=np.int32)[:, None], walks)
    assert found is not None
    taken = [test[test >= 0].tolist() for test in found.tests]
    assert taken == [[0], [1], [2], [0, 1], [1, 2], [2, 0], [0, 1, 2], [1, 2, 0], [2, 0, 1]]


def test_a_walk_shorter_than_a_sequence_has_none_of_it() -> None:
    walks = Walks(np.zeros((2, 3), np.int32), np.array([[0, 1], [1, 0]]), np.full(2, 3), 4, 3)
    found = predicted_futures(model(), np.arange(5, dtype=np.int32)[:, None], walks)
    assert found is not None
    assert [test[test >= 0].tolist() for test in found.tests] == [[0], [1], [2], [0, 1], [1, 0]]


def test_sequences_of_very_many_actions_are_distinguished() -> None:
    """Their number is beyond 64 bits."""
    actions = np.random.default_rng(0).integers(10_000, size=(4, 60))
    walks = Walks(np.zeros((4, 61), np.int32), actions, np.full(4, 61), 4, 10_000)
    found = futures_module._usual_sequences(walks, 6, 512)
    assert found.shape == (4 * 55, 6)
    assert {tuple(row) for row in found} == {tuple(walk[i : i + 6]) for walk in actions for i in range(55)}
