"""Prompts: n complete examples of k tokens, and one whose last token is to be predicted.

A table of jumps gives the start of each example in the stream of words, with one look-up per example. All other draws
are made for all examples at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cogmap.environments.ginc.config import SEED_OFFSET, GincConfig
from cogmap.environments.ginc.draws import (
    BoundedDraw,
    CumulativeTable,
    Places,
    Words,
    WordStream,
    bounded_draw,
    uniform_draw,
)
from cogmap.environments.ginc.world import GincWorld, next_word
from cogmap.records import Integers


@dataclass(frozen=True, eq=False)
class Prompts:
    """B prompts of one kind, N = (n + 1)(k + 1) - 2 tokens each, and the answers."""

    length: int  # k, tokens of an example
    examples: int  # n, complete examples before the last one
    in_distribution: bool
    concept: Integers  # (B,) index within its half of the concepts
    tokens: Integers  # (B, N)
    label: Integers  # (B,) the most likely last token, given the last example, concept and shared slot
    last_slots: Integers  # (B, k + 1) slots of the last example and its delimiter
    last_value: Integers  # (B,) value at the token to be predicted

    @property
    def count(self) -> int:
        return self.tokens.shape[0]

    def last_example(self) -> Integers:
        """(B, k - 1): the tokens after the last delimiter."""
        return self.tokens[:, self.tokens.shape[1] - self.length + 1 :]


def sample_prompts(world: GincWorld, config: GincConfig) -> Iterator[Prompts]:
    """For each length: prompts in distribution, by number of examples, then prompts out of distribution."""
    stream = WordStream(config.seed + SEED_OFFSET)
    table = _transition_table(world)
    for length in config.prompt_lengths:
        for in_distribution in (True, False):
            for examples in config.examples_of(length):
                shape = (config.prompts, examples + 1, length)
                if in_distribution:
                    concept, hidden = _sample_inside(stream, world, shape, table)
                else:
                    concept, hidden = _sample_outside(stream, world, shape)
                yield _with_answers(world, in_distribution, concept, hidden)


def _transition_table(world: GincWorld) -> CumulativeTable:
    """Rows `concept * H + state`, each divided by its last entry, as `choice` does."""
    cumulative = np.cumsum(world.transitions()[: world.num_concepts], axis=2)
    cumulative /= cumulative[:, :, -1:]
    return CumulativeTable(cumulative.reshape(-1, cumulative.shape[2]))


Shape = tuple[int, int, int]  # prompts, examples including the last, tokens in an example
Drawn = tuple[Integers, Integers]  # concept (B,), hidden (B, n + 1, k)


def _sample_inside(stream: WordStream, world: GincWorld, shape: Shape, table: CumulativeTable) -> Drawn:
    """Every example starts in the prompt's slot, with a random value, and follows the prompt's concept."""
    length = shape[2]

    def jumps(draws: _Draws) -> tuple[Places, Places]:
        after_head = draws.slot.after[draws.concept.after]
        after_example = draws.value.after + 2 * (length - 1)  # two words for every later token
        return after_head, np.minimum(after_example, draws.words.size, dtype=np.int32)

    draws, prompt, example = _read(stream, world, shape, jumps)
    concept = draws.concept.value[prompt]  # (B,)
    slot = draws.slot.value[draws.concept.after[prompt]] + 1  # (B,)
    state = draws.value.value[example] * world.num_slots + slot[:, None]  # (B, n + 1)
    place = draws.value.after[example]  # (B, n + 1)
    hidden = np.empty(shape, dtype=np.int32)
    hidden[:, :, 0] = state
    for step in range(1, length):
        row = concept[:, None] * world.emission.size + state
        state = table.first_above(row, uniform_draw(draws.words, place))
        hidden[:, :, step] = state
        place = place + 2
    return concept, hidden


def _sample_outside(stream: WordStream, world: GincWorld, shape: Shape) -> Drawn:
    """Every example has random slots and one random value; the concept's transitions are not used."""
    length = shape[2]

    def jumps(draws: _Draws) -> tuple[Places, Places]:
        place = np.arange(draws.words.size + 1, dtype=np.int32)
        for _ in range(length):
            place = draws.slot.after[place]
        return draws.concept.after, draws.value.after[place]

    draws, prompt, example = _read(stream, world, shape, jumps)
    slots = np.empty(shape, dtype=np.int32)
    place = example  # (B, n + 1)
    for step in range(length):
        slots[:, :, step] = draws.slot.value[place] + 1
        place = draws.slot.after[place]
    values = draws.value.value[place]  # (B, n + 1)
    return draws.concept.value[prompt], values[:, :, None] * world.num_slots + slots


@dataclass(frozen=True, eq=False)
class _Draws:
    """Some words, and the result of the three bounded draws from each place in them."""

    words: Words  # (W,)
    concept: BoundedDraw
    slot: BoundedDraw  # 0 means slot 1, because slot 0 is the delimiter's
    value: BoundedDraw


def _read(
    stream: WordStream,
    world: GincWorld,
    shape: Shape,
    jumps: Callable[[_Draws], tuple[Places, Places]],
) -> tuple[_Draws, Places, Places]:
    """Consume the words of one cell. Returns its draws and the start of each prompt (B,) and example (B, n + 1).

    jumps: for every place, the start of the first example of a prompt that starts there, and the end of an
        example that starts there.
    """
    prompts, examples, length = shape
    # A bounded draw reads at most two words on average. If these are too few, try again with twice as many.
    count = prompts * (4 + examples * 2 * (length + 1)) + 1000
    while True:
        words = stream.peek(count)
        draws = _Draws(
            words,
            concept=bounded_draw(words, world.num_concepts),
            slot=bounded_draw(words, world.num_slots - 1),
            value=bounded_draw(words, world.num_values),
        )
        prompt, example, end = _follow(*jumps(draws), prompts, examples)
        if end < count:
            stream.consume(end)
            return draws, prompt, example
        count *= 2


def _follow(
    after_head: Places, after_example: Places, prompts: int, examples: int
) -> tuple[Places, Places, int]:
    """Follow the jumps: the start of each prompt (B,) and example (B, n + 1), and the end of the last."""
    heads, bodies = after_head.data, after_example.data  # memory views, which yield plain integers
    prompt_places, example_places = [], []
    place = 0
    for _ in range(prompts):
        prompt_places.append(place)
        place = heads[place]
        for _ in range(examples):
            example_places.append(place)
            place = bodies[place]
    starts = np.array(example_places, dtype=np.int32).reshape(prompts, examples)
    return np.array(prompt_places, dtype=np.int32), starts, place


def _with_answers(world: GincWorld, in_distribution: bool, concept: Integers, hidden: Integers) -> Prompts:
    """Join the examples (B, n + 1, k) with delimiters, drop the last token and compute the most likely one."""
    prompts, examples, length = hidden.shape
    delimiter = hidden[:, :, -1:] // world.num_slots * world.num_slots  # slot 0, the last value
    joined = np.concatenate([hidden, delimiter], axis=2)  # (B, n + 1, k + 1)
    tokens = world.emission[joined.reshape(prompts, -1)[:, :-2]]
    last = hidden[:, -1]  # (B, k)
    slot = last[:, 0] % world.num_slots if in_distribution else None
    source = concept if in_distribution else concept + world.num_concepts
    return Prompts(
        length=length,
        examples=examples - 1,
        in_distribution=in_distribution,
        concept=concept,
        tokens=tokens,
        label=next_word(world, source, slot, world.emission[last[:, :-1]]),
        last_slots=joined[:, -1] % world.num_slots,
        last_value=last[:, -1] // world.num_slots,
    )
