"""Beliefs over hidden states: conditioned on a word, moved one step on, turned into the words to come.

A belief is an array (..., V, F, B): values, slots, and as many prompts as one likes, last so that they are
contiguous. Axes before, if any, are rivals such as concepts: a belief sums to one over all axes but the last.
kron(values, slots) is never formed: the two chains move one after the other.
"""

from __future__ import annotations

import numpy as np

from cogmap.environments.ginc.world import GincWorld
from cogmap.records import Floats, Integers


def condition(belief: Floats, world: GincWorld, word: Integers) -> tuple[Floats, Floats]:
    """The belief after seeing `word` (B,), all zeros where it had ruled that out, and how likely (B,) it was."""
    emission = world.emission.reshape(world.num_values, world.num_slots, 1)
    seen = belief * (emission == word)
    likelihood = seen.reshape(-1, word.size).sum(axis=0)
    seen /= np.where(likelihood > 0, likelihood, 1)
    return seen, likelihood


def advance(belief: Floats, value_transitions: Floats, slot_transitions: Floats) -> Floats:
    """The belief one step later; `slot_transitions` is (..., F, F), from and to."""
    leaving_slots = np.swapaxes(slot_transitions, -1, -2)[..., None, :, :]  # (..., 1, F, F)
    moved = leaving_slots @ belief  # (..., V, F, B)
    *rivals, values, slots, prompts = moved.shape
    by_value = moved.reshape(*rivals, values, slots * prompts)
    return (value_transitions.T @ by_value).reshape(moved.shape)


def word_probabilities(belief: Floats, world: GincWorld) -> Floats:
    """(O, B): how likely each word is, from the belief about the state that emits it."""
    words = np.eye(len(world.vocabulary))[world.emission].T  # (O, H)
    *_, values, slots, prompts = belief.shape
    return words @ belief.reshape(-1, values * slots, prompts).sum(axis=0)


def next_word(world: GincWorld, concept: Integers, slot: Integers | None, words: Integers) -> Integers:
    """(B,): the most likely word after `words` (B, L) in `concept` (B,), begun in `slot` (B,) if known.

    Words that the concept cannot emit are followed by the delimiter, as in the published set.
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
    """(V, F, B): uniform over values at each prompt's start slot (B,), or over all states without one."""
    if slot is None:
        return np.full((world.num_values, world.num_slots, prompts), 1 / world.emission.size)
    at_slot = np.arange(world.num_slots)[:, None] == slot  # (F, B)
    return np.broadcast_to(at_slot / world.num_values, (world.num_values, *at_slot.shape))
