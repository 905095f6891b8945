"""Bottleneck and heads learned again on a trained encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import cogmap
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadConfig
from cogmap.models.tdb import TDB
from cogmap.training.refit import refit
from cogmap.training.split import split_walks
from cogmap.walks.sample import sample_walks

SMALL = {"encoder": "gru", "width": 32, "num_codes": 64, "batch_size": 16, "window": 20, "seed": 1}


@pytest.fixture(scope="module")
def walks():
    room = AliasedRoom(height=3, width=4, observations=4, seed=0)
    return sample_walks(room, 40, 60, np.random.default_rng(0))[0]


@pytest.fixture(scope="module")
def trained(walks):
    return cogmap.learn(walks, quiet=True, steps=120, **SMALL)


def _weights(model: TDB) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def test_a_refit_keeps_the_encoder_and_is_kept_only_if_it_predicts_better(walks, trained) -> None:
    split = split_walks(walks, None, 1)
    before = _weights(trained.model)
    assert not refit(trained.model, split, replace(trained.training, refit_steps=2))
    after = _weights(trained.model)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert refit(trained.model, split, replace(trained.training, refit_steps=300))
    after = _weights(trained.model)
    same = {name for name in before if torch.equal(before[name], after[name])}
    encoder = {name for name in before if name.startswith("encoder.")}
    assert encoder
    assert encoder <= same
    assert "bottlenecks.dictionary" not in same


@pytest.mark.parametrize("choices", [{"vanilla": True}, {"next_encoding": True}, {"dictionary": "gradient"}])
def test_models_without_a_refit_refuse_it(walks, choices) -> None:
    with pytest.raises(BadConfig, match=r"`refit_steps` \(=5\) must be 0"):
        cogmap.learn(walks, quiet=True, refit_steps=5, **SMALL, **choices)


def test_a_training_ends_with_its_refit(walks, trained) -> None:
    run = cogmap.learn(walks, quiet=True, steps=120, refit_steps=300, **SMALL)
    first, second = (_weights(each.model) for each in (cogmap.load_run(trained.folder), run))
    assert all(torch.equal(first[name], second[name]) for name in first if name.startswith("encoder."))
    assert not torch.equal(first["bottlenecks.dictionary"], second["bottlenecks.dictionary"])
