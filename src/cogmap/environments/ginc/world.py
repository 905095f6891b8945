"""The concepts: hidden Markov models that share their words and their slow chain and differ in the fast one.

Shape letters beyond the legend of records.py: C concepts, V values, F slots, H = V F hidden states, O words.
Hidden state `value * F + slot` emits one word, `emission[state]`; its transitions are kron(values, slots).
"""

from __future__ import annotations

import itertools
import string
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.ginc.config import SEED_OFFSET, GincConfig
from cogmap.errors import BadConfig
from cogmap.records import Floats, Integers, Labels

DELIMITER = "/"
PERMUTATIONS = 10  # of each transition block, whatever its size


@dataclass(frozen=True, eq=False)
class GincWorld:
    """The parameters of all concepts: the first half in distribution, the second half out of it."""

    start: Floats  # (C, H) probabilities of the first hidden state
    slot_transitions: Floats  # (C, F, F) of the fast chain, one for each concept
    value_transitions: Floats  # (V, V) of the slow chain, shared
    emission: Integers  # (H,) the word each hidden state emits; slot 0 emits the delimiter, word 0
    vocabulary: Labels  # O words

    @property
    def num_concepts(self) -> int:
        """Concepts in distribution: half of all."""
        return self.start.shape[0] // 2

    @property
    def num_slots(self) -> int:
        return self.slot_transitions.shape[1]

    @property
    def num_values(self) -> int:
        return self.value_transitions.shape[0]

    def transitions(self) -> Floats:
        """(C, H, H): from, to."""
        return np.stack([np.kron(self.value_transitions, slots) for slots in self.slot_transitions])


def build_world(config: GincConfig, random: np.random.RandomState) -> GincWorld:
    """Draw the concepts; `random`, seeded `config.seed`, is left where the documents begin."""
    vocabulary = _vocabulary(config.symbols)
    emission = random.randint(1, config.symbols, size=(config.values, config.slots))  # (V, F)
    emission[:, 0] = 0
    starts, slots = [], []
    for _ in range(2 * config.concepts):
        logits = random.rand(config.values * config.slots) - 0.5  # (H,)
        starts.append(_softmax(logits / config.start_temperature))
        slots.append(_transition_block(random, config.slots, config.transition_temperature))
    return GincWorld(
        start=np.stack(starts),
        slot_transitions=np.stack(slots),
        value_transitions=_value_transitions(config),
        emission=emission.reshape(-1).astype(np.int32),
        vocabulary=vocabulary,
    )


def _value_transitions(config: GincConfig) -> Floats:
    """(V, V): from a seed of their own, so that drawing them moves nothing else."""
    random = np.random.RandomState(config.seed + SEED_OFFSET)
    block = _transition_block(random, config.values, config.transition_temperature)
    return (1 - config.value_stay) * block + config.value_stay * np.eye(config.values)


def _transition_block(random: np.random.RandomState, size: int, temperature: float) -> Floats:
    """(size, size): a mixture of random permutations, a few of which carry most of the weight."""
    weights = _softmax((random.rand(PERMUTATIONS) - 0.5) / temperature)
    permutations = [np.eye(size)[random.permutation(size)] for _ in range(PERMUTATIONS)]
    return np.sum(weights[:, None, None] * permutations, axis=0)


def _softmax(logits: NDArray[np.float64]) -> Floats:
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _vocabulary(symbols: int) -> Labels:
    """The delimiter, then a, b, ... z, ab, ac, ...: letters without repetition, shortest first."""
    words = (
        "".join(letters)
        for length in (1, 2, 3)
        for letters in itertools.permutations(string.ascii_lowercase, length)
    )
    vocabulary = (DELIMITER, *itertools.islice(words, symbols - 1))
    if len(vocabulary) < symbols:
        raise BadConfig(f"`symbols` (={symbols}) must be at most {len(vocabulary)}")
    return vocabulary
