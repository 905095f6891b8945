"""Rollouts with a cached state predict what the model predicts from the whole history."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from cogmap.models.config import ModelConfig
from cogmap.models.rollout_predictor import RolloutPredictor
from cogmap.models.tdb import VanillaModel

CONFIG = ModelConfig(
    num_observations=5,
    num_actions=3,
    num_targets=5,
    width=16,
    layers=2,
    heads=2,
    mlp_width=32,
    vanilla=True,
    prediction_steps=1,
    attention_span=6,
    context_length=6,
)


@pytest.mark.parametrize("action_at_head", [False, True])
@pytest.mark.parametrize(
    "config",
    [CONFIG, replace(CONFIG, form="paper"), replace(CONFIG, encoder="lstm"), replace(CONFIG, encoder="gru")],
    ids=["transformer", "paper", "lstm", "gru"],
)
def test_cached_steps_equal_one_pass_over_everything(config: ModelConfig, action_at_head: bool) -> None:
    torch.manual_seed(0)
    model = VanillaModel(replace(config, action_at_head=action_at_head)).eval()
    rng = np.random.default_rng(0)
    observations, actions = rng.integers(5, size=(4, 12)), rng.integers(3, size=(4, 12))
    with torch.inference_mode():
        whole = (
            model(torch.from_numpy(observations), torch.from_numpy(actions), torch.zeros(4).long())
            .logits[0]
            .numpy()
        )
    predictor = RolloutPredictor(model)
    history = predictor.begin(observations[:, :5], actions[:, :4])
    rows = np.array([3, 1, 1])
    branch = history.rows(rows)
    for step in range(4, 9):
        logits, branch = predictor.predict(branch, actions[rows, step])
        np.testing.assert_allclose(logits, whole[rows, step], atol=1e-5)
        branch = predictor.advance(branch, observations[rows, step + 1])
    logits, _ = predictor.read(history, actions[:, 4:11], observations[:, 5:12])
    np.testing.assert_allclose(logits, whole[:, 4:11], atol=1e-5)
    first = predictor.begin(observations[:, :1], actions[:, :0])
    np.testing.assert_allclose(predictor.predict(first, actions[:, 0])[0], whole[:, 0], atol=1e-5)
