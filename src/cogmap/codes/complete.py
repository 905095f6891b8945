"""What a model expects after sequences of equal length: the last prediction only, for prompts."""

from __future__ import annotations

import numpy as np

from cogmap.codes.encode import check_vocabulary
from cogmap.models.config import ModelConfig
from cogmap.models.reading import read_walks
from cogmap.models.tdb import Model
from cogmap.records import Integers, Labels
from cogmap.walks.text import token_walks


def complete(model: Model, tokens: Integers, labels: Labels) -> Integers:
    """(B,): the most likely unit after each row of tokens (B, N), places among `labels`."""
    kept = tokens[:, -_most_read(model.config, tokens.shape[1]) :]
    asked = np.zeros((len(kept), 1), dtype=np.int32)  # a step that is predicted and never read
    walks = token_walks(np.concatenate([kept, asked], axis=1), labels)
    check_vocabulary(model.config, walks)
    predicted: Integers = read_walks(model, walks.observations, walks.actions)[1][:, -1]
    return predicted


def reads_all_of(config: ModelConfig, tokens: int) -> bool:
    """Whether a prompt of so many tokens is read from its beginning."""
    return _most_read(config, tokens) == tokens


def _most_read(config: ModelConfig, tokens: int) -> int:
    """The paper's transformer has a context and keeps the end of what is longer; all others read on and on."""
    limited = config.form == "paper" and config.encoder == "transformer"
    return min(tokens, config.context_length) if limited else tokens
