"""In-context accuracy on GINC prompts: how often a model, or an exact filter, predicts the most likely last word.

There are two filters and two ceilings, because prompts are not generated like documents. Every example of a prompt
restarts at a random value, and at a slot that all examples of the prompt share. In a document the next sentence
continues the last one.

- As prompts: the filter knows this. Its accuracy is the maximum; a few examples determine concept and slot.
- As documents: the filter reads the prompt as part of a document, which is all that a model trained on documents can
  know. Many transitions between examples are impossible in a document, so the filter gives a document a small
  probability to be cut and restart anywhere at each step. The accuracy depends on this probability.

Shapes as in environments/ginc: C concepts, V values, F slots, B prompts, k tokens per example, n examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from cogmap.environments.ginc import GincConfig, GincWorld, Prompts, build_world, sample_prompts
from cogmap.environments.ginc.world import advance, condition, word_probabilities
from cogmap.records import Floats, Integers

Complete = Callable[[Integers], Integers]  # from tokens (B, N) to the next token (B,)
CUT = 1e-5  # probability, at each step, that a document restarts anywhere
# Size of the beliefs of prompts that are filtered together. They must fit a core's cache, and stay in memory that the
# allocator keeps: with 100 prompts it returned the arrays to the system at each step, which took twice as long.
TOGETHER = 25_000


@dataclass(frozen=True)
class InContextRow:
    """The accuracy, a fraction, for one (length, examples) pair."""

    length: int  # k
    examples: int  # n
    prompts: int  # B
    tokens: int  # N, of each prompt
    accuracy: float

    @property
    def standard_error(self) -> float:
        return standard_error(self.accuracy, self.prompts)


@dataclass(frozen=True)
class CeilingRow:
    """The accuracies of both filters, as fractions, for one (length, examples) pair."""

    length: int  # k
    examples: int  # n
    prompts: int  # B
    as_prompts: float
    as_documents: float

    def accuracies(self) -> tuple[float, float]:
        return self.as_prompts, self.as_documents

    def standard_error(self, accuracy: float) -> float:
        return standard_error(accuracy, self.prompts)


def standard_error(accuracy: float, count: int) -> float:
    """Of an accuracy, a fraction, measured on `count` prompts."""
    return float(np.sqrt(accuracy * (1 - accuracy) / count))


def in_context_rows(
    complete: Complete, cells: Iterable[Prompts], most: int | None = None
) -> Iterator[InContextRow]:
    """A row for each cell of prompts, from its first `most` prompts or all; those of a cell have one length."""
    for prompts in cells:
        rows = slice(0, most)
        predicted = complete(prompts.tokens[rows])
        yield InContextRow(
            length=prompts.length,
            examples=prompts.examples,
            prompts=len(predicted),
            tokens=prompts.tokens.shape[1],
            accuracy=float(np.mean(predicted == prompts.label[rows])),
        )


def in_context_accuracy(predicted: Integers, prompts: Prompts) -> float:
    return float(np.mean(predicted == prompts.label))


def ceiling(world: GincWorld, cells: Iterable[Prompts]) -> Iterator[CeilingRow]:
    """Both accuracies for each cell of in-distribution prompts; others are skipped."""
    for prompts in cells:
        if prompts.in_distribution:
            yield CeilingRow(
                length=prompts.length,
                examples=prompts.examples,
                prompts=prompts.count,
                as_prompts=in_context_accuracy(predict_as_prompts(world, prompts), prompts),
                as_documents=in_context_accuracy(predict_as_documents(world, prompts.tokens), prompts),
            )


def sampled_ceiling(config: GincConfig) -> Iterator[CeilingRow]:
    """The ceiling of a text set without its files: the prompts are sampled again, which takes seconds."""
    world = build_world(config, np.random.RandomState(config.seed))
    return ceiling(world, sample_prompts(world, config))


def predict_as_prompts(world: GincWorld, prompts: Prompts) -> Integers:
    """(B,) the most likely last word, given how prompts are generated."""
    weight = _concept_and_slot(world, prompts)  # (C, F, B)
    last = prompts.last_example()  # (B, k - 1)
    parts = _chunks(world, np.arange(prompts.count, dtype=np.int32))
    return np.concatenate([_complete(world, weight[:, :, part], last[part]) for part in parts])


def predict_as_documents(world: GincWorld, tokens: Integers, cut: float = CUT) -> Integers:
    """(B,) the most likely word after `tokens` (B, N), read as the beginning of a document."""
    return np.concatenate([_documents_chunk(world, chunk, cut) for chunk in _chunks(world, tokens)])


def _documents_chunk(world: GincWorld, tokens: Integers, cut: float) -> Integers:
    concepts = world.num_concepts
    start = world.start[:concepts].reshape(concepts, world.num_values, world.num_slots, 1) / concepts
    belief = np.repeat(start, len(tokens), axis=3)  # (C, V, F, B)
    for word in tokens.T:
        seen, _ = condition(belief, world, word)
        anywhere = cut / world.emission.size * seen.sum(axis=(1, 2), keepdims=True)  # (C, 1, 1, B)
        belief = advance(seen, (1 - cut) * world.value_transitions, world.slot_transitions[:concepts])
        belief += anywhere
    return word_probabilities(belief, world).argmax(axis=0).astype(np.int32)


def _complete(world: GincWorld, weight: Floats, words: Integers) -> Integers:
    """(B,) the word after `words` (B, k - 1), given the probability of concept and start slot, `weight` (C, F, B)."""
    concepts = weight.shape[0]
    belief: Floats = np.repeat(weight[:, None] / world.num_values, world.num_values, axis=1)  # (C, V, F, B)
    for word in words.T:
        seen, _ = condition(belief, world, word)
        belief = advance(seen, world.value_transitions, world.slot_transitions[:concepts])
    return word_probabilities(belief, world).argmax(axis=0).astype(np.int32)


def _concept_and_slot(world: GincWorld, prompts: Prompts) -> Floats:
    """(C, F, B) the probability of each concept and shared start slot given the complete examples."""
    complete = prompts.tokens[:, : prompts.examples * (prompts.length + 1)]
    examples = complete.reshape(prompts.count, prompts.examples, prompts.length + 1)[:, :, :-1]  # (B, n, k)
    evidence = np.zeros((world.num_concepts, world.num_slots, prompts.count))
    evidence[:, 0] = -np.inf  # no example starts in the delimiter's slot
    if prompts.examples:
        distinct, which = np.unique(examples.reshape(-1, prompts.length), axis=0, return_inverse=True)
        likelihood = np.concatenate(
            [_log_likelihood(world, chunk) for chunk in _chunks(world, distinct)], axis=2
        )
        for example in which.reshape(examples.shape[:2]).T:
            evidence += likelihood[:, :, example]
    highest = evidence.max(axis=(0, 1))
    weight = np.exp(evidence - np.where(np.isfinite(highest), highest, 0))
    return weight / np.maximum(weight.sum(axis=(0, 1)), 1)


def _log_likelihood(world: GincWorld, words: Integers) -> Floats:
    """(C, F, B) the log likelihood of examples `words` (B, k) in each concept from each start slot, at any value.

    A backward pass serves every start at once: `ahead` is the likelihood of the words from here on.
    """
    concepts = world.num_concepts
    ahead: Floats = np.ones((concepts, world.num_values, world.num_slots, words.shape[0]))
    scale = np.zeros(words.shape[0])
    with np.errstate(divide="ignore"):  # log 0 is minus infinity, as it should be
        for step, word in enumerate(words.T[::-1]):
            if step:
                back = world.slot_transitions[:concepts].swapaxes(1, 2)
                ahead = advance(ahead, world.value_transitions.T, back)
            ahead, total = condition(ahead, world, word)
            scale += np.log(total)
        return np.log(ahead.mean(axis=1)) + scale


def _chunks(world: GincWorld, rows: Integers) -> list[Integers]:
    size = max(1, TOGETHER // (world.num_concepts * world.emission.size))
    return [rows[first : first + size] for first in range(0, len(rows), size)]
