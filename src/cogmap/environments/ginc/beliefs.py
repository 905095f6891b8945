"""Beliefs over hidden states: conditioned on a word, moved one step on, turned into the words to come.

A belief is an array (..., V, F, B): values, slots, and as many prompts as one likes, last so that they are
contiguous. kron(values, slots) is never formed: the two chains move one after the other.
"""

from __future__ import annotations

import numpy as np

from cogmap.environments.ginc.world import GincWorld
from cogmap.records import Floats, Integers


def condition(belief: Floats, world: GincWorld, word: Integers) -> tuple[Floats, Floats]:
    """The belief (..., V, F, B) after seeing `word` (B,), and how likely (..., B) that word was.

    A belief that ruled the word out becomes all zeros.
    """
    emission = world.emission.reshape(world.num_values, world.num_slots, 1)
    seen = belief * (emission == word)
    likelihood = seen.sum(axis=(-3, -2))
    return seen / np.where(likelihood > 0, likelihood, 1)[..., None, None, :], likelihood


def advance(belief: Floats, value_transitions: Floats, slot_transitions: Floats) -> Floats:
    """The belief (..., V, F, B) one step later; `slot_transitions` is (..., F, F), from and to."""
    leaving_slots = np.swapaxes(slot_transitions, -1, -2)[..., None, :, :]  # (..., 1, F, F)
    moved = leaving_slots @ belief  # (..., V, F, B)
    *_, values, slots, prompts = moved.shape
    by_value = moved.reshape(*moved.shape[:-3], values, slots * prompts)
    return (value_transitions.T @ by_value).reshape(moved.shape)


def word_probabilities(belief: Floats, world: GincWorld) -> Floats:
    """(..., O, B): how likely each word is when the belief (..., V, F, B) is about the state that emits it."""
    words = np.eye(len(world.vocabulary))[world.emission].T  # (O, H)
    *_, values, slots, prompts = belief.shape
    return words @ belief.reshape(*belief.shape[:-3], values * slots, prompts)


def start_belief(world: GincWorld, slot: Integers | None, prompts: int) -> Floats:
    """(V, F, B): uniform over values at each prompt's start slot (B,), or over all states without one."""
    if slot is None:
        return np.full((world.num_values, world.num_slots, prompts), 1 / world.emission.size)
    at_slot = np.arange(world.num_slots)[:, None] == slot  # (F, B)
    return np.broadcast_to(at_slot / world.num_values, (world.num_values, *at_slot.shape))


def next_word(world: GincWorld, concept: Integers, slot: Integers | None, words: Integers) -> Integers:
    """(B,): the most likely word after `words` (B, L) in `concept` (B,), the first of its states in `slot` (B,).

    Words that the concept cannot emit are followed by the delimiter, as in the published set.
    """
    answer = np.empty(concept.shape, dtype=np.int32)
    for one in np.unique(concept):
        chosen = np.flatnonzero(concept == one)
        belief = start_belief(world, None if slot is None else slot[chosen], chosen.size)
        for word in words[chosen].T:
            belief, _ = condition(belief, world, word)
            belief = advance(belief, world.value_transitions, world.slot_transitions[one])
        answer[chosen] = word_probabilities(belief, world).argmax(axis=0)
    return answer
