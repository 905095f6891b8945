"""Predicted futures are what the heads say, test by test, in a bounded number of tests."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cogmap.models import futures as futures_module
from cogmap.models.config import ModelConfig
from cogmap.models.futures import predicted_futures
from cogmap.models.tdb import TDB


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


@pytest.mark.parametrize("options", [{}, {"bottlenecks": 2}, {"code_logits": True}])
def test_each_test_is_a_heads_prediction_for_its_actions(options) -> None:
    network = model(**options)
    tuples = np.arange(5 * network.config.bottlenecks).reshape(5, -1).astype(np.int32)
    found = predicted_futures(network, tuples)
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


def test_many_actions_are_sampled_and_every_single_action_is_a_test() -> None:
    found = predicted_futures(model(actions=25), np.zeros((2, 1), np.int32))
    assert found is not None
    assert len(found.tests) == 25 + 2 * futures_module.TESTS_OF_A_LENGTH
    assert found.tests[:25, 0].tolist() == list(range(25))


def test_what_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(futures_module, "MOST_NUMBERS", 5 * 4 * 13)  # room for 13 tests of 5 tuples
    found = predicted_futures(model(), np.arange(5, dtype=np.int32)[:, None])
    assert found is not None
    assert len(found.tests) == 3 + 9
    monkeypatch.setattr(futures_module, "MOST_NUMBERS", 5)
    assert predicted_futures(model(), np.arange(5, dtype=np.int32)[:, None]) is None
