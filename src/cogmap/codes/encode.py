"""From walks to codes, with a trained model."""

from __future__ import annotations

import numpy as np

from cogmap.errors import BadRun, BadWalks
from cogmap.models.config import ModelConfig
from cogmap.models.reading import read_walks
from cogmap.models.tdb import Model
from cogmap.records import Codes, Integers, Walks
from cogmap.walks.base_targets import as_observations, ranks_so_far


def encode(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """The codes of all walks, and the predicted next observations (B, N - 1) that come with them.

    A model trained in base foretells ranks; where one stands for nothing that the walk has shown yet there is -1.
    """
    codes, predicted = encode_targets(model, walks)
    return codes, _observations_of(model, walks, predicted)


def encode_targets(model: Model, walks: Walks) -> tuple[Codes, Integers]:
    """As `encode`, with what the model itself foretells: of one trained in base, ranks."""
    if model.config.vanilla:
        raise BadRun("only a TDB has codes, this run holds a vanilla model")
    check_vocabulary(model.config, walks)
    codes, predicted = read_walks(model, walks.observations, walks.actions)
    codes *= walks.step_mask()[:, :, None]
    return Codes(codes.astype(np.int32), walks.lengths, model.config.num_codes), predicted


def predict_next(model: Model, walks: Walks) -> Integers:
    """The predicted next observations (B, N - 1) of any model, as `encode` gives them."""
    return _observations_of(model, walks, predict_targets(model, walks))


def predict_targets(model: Model, walks: Walks) -> Integers:
    """What any model itself foretells (B, N - 1): of one trained in base, ranks."""
    check_vocabulary(model.config, walks)
    return read_walks(model, walks.observations, walks.actions)[1]


def _observations_of(model: Model, walks: Walks, predicted: Integers) -> Integers:
    if not model.config.in_base:
        return predicted
    nothing = np.zeros((1, walks.num_observations), dtype=bool)
    rows = zip(walks.observations[:, :-1], predicted, strict=True)
    return np.stack([as_observations(guess, ranks_so_far(seen[None], nothing)[1][0]) for seen, guess in rows])


def check_vocabulary(config: ModelConfig, walks: Walks) -> None:
    """Walks may know less than the run, never more."""
    for what in ("observations", "actions"):
        there, here = getattr(walks, f"num_{what}"), getattr(config, f"num_{what}")
        if there > here:
            raise BadWalks(f"walks must have at most the run's {here} {what}, got {there}")
