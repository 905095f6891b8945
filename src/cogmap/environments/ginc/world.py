"""The concepts: hidden Markov models with the same words and the same slow chain, and different fast chains.

Shape letters beyond the legend of `records`: C concepts, V values, F slots, H = V F hidden states, O words.
Hidden state `value * F + slot` emits one word, `emission[state]`; its transitions are kron(values, slots).

Beliefs over hidden states are arrays (..., V, F, B): values, slots and prompts. Leading axes, if any, are hypotheses
such as concepts. A belief sums to one over all axes but the last. kron(values, slots) is never formed: the two chains
advance one after the other.

A document is one continuous sample from one concept. All documents are sampled in parallel.
"""

from __future__ import annotations

import itertools
import string
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.ginc.config import SEED_OFFSET, GincConfig
from cogmap.environments.ginc.draws import CumulativeTable
from cogmap.errors import BadConfig
from cogmap.records import Floats, Integers, Labels

DELIMITER = "/"
PERMUTATIONS = 10  # in each transition block, whatever its size


@dataclass(frozen=True, eq=False)
class GincWorld:
    """The parameters of all concepts. The first half is in distribution, the second half is out of distribution."""

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
    """Draw the concepts. `random` is seeded with `config.seed`; documents are sampled from it next."""
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
    """(V, V): from a separate seed, so that drawing them does not change other draws."""
    random = np.random.RandomState(config.seed + SEED_OFFSET)
    block = _transition_block(random, config.values, config.transition_temperature)
    return (1 - config.value_stay) * block + config.value_stay * np.eye(config.values)


def _transition_block(random: np.random.RandomState, size: int, temperature: float) -> Floats:
    """(size, size): a mixture of random permutations, in which a few have most of the weight."""
    weights = _softmax((random.rand(PERMUTATIONS) - 0.5) / temperature)
    permutations = [np.eye(size)[random.permutation(size)] for _ in range(PERMUTATIONS)]
    return np.sum(weights[:, None, None] * permutations, axis=0)


def _softmax(logits: NDArray[np.float64]) -> Floats:
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def _vocabulary(symbols: int) -> Labels:
    """The delimiter, then a, b, ... z, ab, ac, ...: words without repeated letters, shortest first."""
    words = (
        "".join(letters)
        for length in (1, 2, 3)
        for letters in itertools.permutations(string.ascii_lowercase, length)
    )
    vocabulary = (DELIMITER, *itertools.islice(words, symbols - 1))
    if len(vocabulary) < symbols:
        raise BadConfig(f"`symbols` (={symbols}) must be at most {len(vocabulary)}")
    return vocabulary


def condition(belief: Floats, world: GincWorld, word: Integers) -> tuple[Floats, Floats]:
    """The belief after seeing `word` (B,), and its likelihood (B,). An impossible word gives a belief of zeros."""
    emission = world.emission.reshape(world.num_values, world.num_slots, 1)
    seen = belief * (emission == word)
    likelihood = seen.reshape(-1, word.size).sum(axis=0)
    seen /= np.where(likelihood > 0, likelihood, 1)
    return seen, likelihood


def advance(belief: Floats, value_transitions: Floats, slot_transitions: Floats) -> Floats:
    """The belief one step later; `slot_transitions` is (..., F, F), from and to."""
    leaving_slots = np.swapaxes(slot_transitions, -1, -2)[..., None, :, :]  # (..., 1, F, F)
    moved = leaving_slots @ belief  # (..., V, F, B)
    *hypotheses, values, slots, prompts = moved.shape
    by_value = moved.reshape(*hypotheses, values, slots * prompts)
    return (value_transitions.T @ by_value).reshape(moved.shape)


def word_probabilities(belief: Floats, world: GincWorld) -> Floats:
    """(O, B): the probability of each word, given the belief about the state that emits it."""
    words = np.eye(len(world.vocabulary))[world.emission].T  # (O, H)
    *_, values, slots, prompts = belief.shape
    return words @ belief.reshape(-1, values * slots, prompts).sum(axis=0)


def next_word(world: GincWorld, concept: Integers, slot: Integers | None, words: Integers) -> Integers:
    """(B,): the most likely word after `words` (B, L) in `concept` (B,), starting in `slot` (B,) if known.

    After words that the concept cannot emit, the answer is the delimiter, as in the published set.
    """
    answer = np.empty(concept.shape, dtype=np.int32)
    for one in np.unique(concept):
        chosen = np.flatnonzero(concept == one)
        belief = _start_belief(world, None if slot is None else slot[chosen], chosen.size)
        for word in words[chosen].T:
            seen, _ = condition(belief, world, word)
            belief = advance(seen, world.value_transitions, world.slot_transitions[one])
        answer[chosen] = word_probabilities(belief, world).argmax(axis=0)
    return answer


def _start_belief(world: GincWorld, slot: Integers | None, prompts: int) -> Floats:
    """(V, F, B): uniform over values at each prompt's start slot (B,), or over all states if it is unknown."""
    if slot is None:
        return np.full((world.num_values, world.num_slots, prompts), 1 / world.emission.size)
    at_slot = np.arange(world.num_slots)[:, None] == slot  # (F, B)
    return np.broadcast_to(at_slot / world.num_values, (world.num_values, *at_slot.shape))


@dataclass(frozen=True, eq=False)
class Documents:
    """B documents of N tokens, as hidden states."""

    concept: Integers  # (B,) in [0, C)
    hidden: Integers  # (B, N) in [0, H)

    def tokens(self, world: GincWorld) -> Integers:
        """(B, N): the words."""
        return world.emission[self.hidden]


def sample_training_and_validation(
    world: GincWorld, config: GincConfig, random: np.random.RandomState
) -> tuple[Documents, Documents]:
    """Both sets, from the same `random` that `build_world` used before."""
    training = _sample_documents(world, config.documents, config.document_length, random)
    validation = _sample_documents(world, config.validation_documents, config.validation_length, random)
    return training, validation


def _sample_documents(world: GincWorld, count: int, length: int, random: np.random.RandomState) -> Documents:
    concept, uniforms = _draw(world.num_concepts, count, length, random)
    num_hidden = world.start.shape[1]
    # The published sampler takes the first cumulative sum above the uniform number, or state 0 if rounding
    # leaves none. So the sums are not normalised, and `% num_hidden` maps "none" to 0.
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
        # The published sampler also draws the word of each state, although there is only one: skip these draws.
        uniforms[:, document] = random.random_sample(2 * length)[::2]
    return concept, uniforms
