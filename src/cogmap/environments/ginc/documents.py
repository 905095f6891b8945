"""Documents: each one continuous sample of one concept. All of them advance together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.environments.ginc.config import GincConfig
from cogmap.environments.ginc.draws import CumulativeTable
from cogmap.environments.ginc.world import GincWorld
from cogmap.records import Floats, Integers


@dataclass(frozen=True, eq=False)
class Documents:
    """B documents of N tokens: what emitted them."""

    concept: Integers  # (B,) in [0, C)
    hidden: Integers  # (B, N) in [0, H)

    def tokens(self, world: GincWorld) -> Integers:
        """(B, N): the words."""
        return world.emission[self.hidden]


def sample_training_and_validation(
    world: GincWorld, config: GincConfig, random: np.random.RandomState
) -> tuple[Documents, Documents]:
    """Both sets from one stream; `random` is where `build_world` left it."""
    training = _sample_documents(world, config.documents, config.document_length, random)
    validation = _sample_documents(world, config.validation_documents, config.validation_length, random)
    return training, validation


def _sample_documents(world: GincWorld, count: int, length: int, random: np.random.RandomState) -> Documents:
    concept, uniforms = _draw(world.num_concepts, count, length, random)
    num_hidden = world.start.shape[1]
    # The published sampler takes the first cumulative sum above the uniform number, and state 0 where
    # rounding leaves none: hence sums that are not normalised, and the remainder below.
    first = CumulativeTable(np.cumsum(world.start, axis=1))
    later = CumulativeTable(np.cumsum(world.transitions(), axis=2).reshape(-1, num_hidden))
    hidden = np.empty((length, count), dtype=np.int32)
    state = first.first_above(concept, uniforms[0]) % num_hidden
    hidden[0] = state
    for step in range(1, length):
        state = later.first_above(concept * num_hidden + state, uniforms[step]) % num_hidden
        hidden[step] = state
    return Documents(concept, np.ascontiguousarray(hidden.T))


def _draw(
    num_concepts: int, count: int, length: int, random: np.random.RandomState
) -> tuple[Integers, Floats]:
    """A concept (B,) for each document and a uniform number (N, B) for each of its states."""
    concept = np.empty(count, dtype=np.int32)
    uniforms = np.empty((length, count))
    for document in range(count):
        concept[document] = random.choice(num_concepts)
        # Every state's draw is followed by one for its word, which has only one to choose from.
        uniforms[:, document] = random.random_sample(2 * length)[::2]
    return concept, uniforms
