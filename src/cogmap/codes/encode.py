"""From walks to codes, with a trained model."""

from __future__ import annotations

import numpy as np

from cogmap.errors import BadRun, BadWalks
from cogmap.models.config import ModelConfig
from cogmap.models.reading import read_walks
from cogmap.models.tdb import Model
from cogmap.records import Codes, Integers, Walks


def encode(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """The codes of all walks, and the predicted next observations (B, N - 1) that come with them."""
    if model.config.vanilla:
        raise BadRun("only a TDB has codes, this run holds a vanilla model")
    check_vocabulary(model.config, walks)
    codes, predicted = read_walks(model, walks.observations, walks.actions)
    codes *= walks.step_mask()[:, :, None]
    return Codes(codes.astype(np.int32), walks.lengths, model.config.num_codes), predicted


def predict_next(model: Model, walks: Walks) -> Integers:
    """The predicted next observations (B, N - 1) of any model."""
    check_vocabulary(model.config, walks)
    return read_walks(model, walks.observations, walks.actions)[1]


def check_vocabulary(config: ModelConfig, walks: Walks) -> None:
    """Walks may know less than the run, never more."""
    for what in ("observations", "actions"):
        there, here = getattr(walks, f"num_{what}"), getattr(config, f"num_{what}")
        if there > here:
            raise BadWalks(f"walks must have at most the run's {here} {what}, got {there}")
