"""The exact filters against sums over every path of hidden states, and the ceiling they give."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from cogmap.environments.ginc import GincConfig, GincWorld, Prompts, build_world, sample_prompts
from cogmap.evaluation.prompts import (
    CeilingRow,
    ceiling,
    in_context_accuracy,
    predict_as_documents,
    predict_as_prompts,
)

TINY = GincConfig(
    concepts=2,
    symbols=4,
    values=2,
    slots=3,
    prompts=25,
    prompt_lengths=(2, 3),
    prompt_examples=(0, 1),
    value_stay=0.6,
    transition_temperature=0.3,
)
SEEDS = [1, 2, 3]


def drawn(config: GincConfig) -> tuple[GincWorld, list[Prompts]]:
    world = build_world(config, np.random.RandomState(config.seed))
    return world, [cell for cell in sample_prompts(world, config) if cell.in_distribution]


def sequence_probability(
    start: np.ndarray, steps: np.ndarray, emission: np.ndarray, words: list[int]
) -> float:
    """The probability of `words`, by a sum over every path of hidden states."""
    states = [np.flatnonzero(emission == word) for word in words]
    return sum(
        start[path[0]] * np.prod([steps[a, b] for a, b in itertools.pairwise(path)])
        for path in itertools.product(*states)
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cut", [1e-5, 0.2])
def test_prompts_read_as_documents_against_brute_force(seed: int, cut: float) -> None:
    world, cells = drawn(replace(TINY, seed=seed, prompts=8))
    size = world.emission.size
    steps = (1 - cut) * world.transitions() + cut / size
    for cell in cells:
        predicted = predict_as_documents(world, cell.tokens, cut)
        for prompt in range(cell.count):
            words = cell.tokens[prompt].tolist()
            scores = [
                sum(
                    sequence_probability(world.start[concept], steps[concept], world.emission, [*words, word])
                    for concept in range(world.num_concepts)
                )
                for word in range(len(world.vocabulary))
            ]
            assert scores[predicted[prompt]] == pytest.approx(max(scores))


def example_probability(world: GincWorld, concept: int, slot: int, words: list[int]) -> float:
    start = (np.arange(world.emission.size) % world.num_slots == slot) / world.num_values
    return sequence_probability(start, world.transitions()[concept], world.emission, words)


@pytest.mark.parametrize("seed", SEEDS)
def test_prompts_read_as_prompts_against_brute_force(seed: int) -> None:
    world, cells = drawn(replace(TINY, seed=seed))
    hypotheses = [*itertools.product(range(world.num_concepts), range(1, world.num_slots))]
    for cell in cells:
        predicted = predict_as_prompts(world, cell)
        for prompt in range(cell.count):
            words = cell.tokens[prompt].tolist()
            width = cell.length + 1
            complete = [
                words[first : first + cell.length] for first in range(0, cell.examples * width, width)
            ]
            last = words[cell.examples * width :]
            scores = [
                sum(
                    np.prod(
                        [
                            example_probability(world, *hypothesis, example)
                            for example in (*complete, [*last, word])
                        ]
                    )
                    for hypothesis in hypotheses
                )
                for word in range(len(world.vocabulary))
            ]
            assert scores[predicted[prompt]] == pytest.approx(max(scores))


def test_many_prompts_are_filtered_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fit one chunk of 40, and a chunk that is not full."""
    world, cells = drawn(replace(TINY, prompts=450))
    monkeypatch.setattr("cogmap.evaluation.prompts.TOGETHER", 40 * 2 * 6)
    for cell in cells:
        some = slice(195, 205)
        alone = replace(cell, tokens=cell.tokens[some], label=cell.label[some])
        assert predict_as_prompts(world, cell)[some].tolist() == predict_as_prompts(world, alone).tolist()
        together = predict_as_documents(world, cell.tokens)
        assert together[some].tolist() == predict_as_documents(world, alone.tokens).tolist()


def test_a_prompt_that_no_concept_explains_is_answered_by_the_delimiter() -> None:
    world, cells = drawn(TINY)
    cell, unheard = cells[1], len(world.vocabulary) - 1
    world = replace(world, emission=np.minimum(world.emission, unheard - 1))
    assert (predict_as_prompts(world, replace(cell, tokens=np.full_like(cell.tokens, unheard))) == 0).all()


def test_more_examples_make_the_answer_surer() -> None:
    config = GincConfig(prompts=400, prompt_lengths=(3,), prompt_examples=(0, 1, 4))
    world, cells = drawn(config)
    rows = list(ceiling(world, cells))
    assert [row.examples for row in rows] == [0, 1, 4]
    none, one, four = (row.as_prompts for row in rows)
    assert none < one < four
    assert four > 0.99
    assert all(row.as_documents <= row.as_prompts + 3 * row.standard_error(row.as_documents) for row in rows)


def test_the_rows_of_the_ceiling() -> None:
    row = CeilingRow(length=3, examples=0, prompts=100, as_prompts=0.5, as_documents=1.0)
    assert row.standard_error(row.as_prompts) == pytest.approx(0.05)
    assert row.standard_error(row.as_documents) == 0
    world, cells = drawn(TINY)
    outside = [cell for cell in sample_prompts(world, TINY) if not cell.in_distribution]
    assert list(ceiling(world, outside)) == []
    assert in_context_accuracy(cells[0].label, cells[0]) == 1


@pytest.mark.learning
def test_the_ceiling_of_the_published_prompts() -> None:
    """In %, all 2,500 prompts of each kind; the first reading of it used 200 to 400 prompts."""
    world, cells = drawn(GincConfig())
    chosen = [cell for cell in cells if cell.examples in (0, 64) and cell.length > 2]
    rows = list(ceiling(world, chosen))
    documents = {(row.length, row.examples): round(100 * row.as_documents) for row in rows}
    assert [documents[length, 0] for length in (3, 5, 8, 10)] == [56, 96, 100, 100]
    assert [documents[length, 64] for length in (3, 5, 8, 10)] == [66, 99, 100, 100]
    assert [round(100 * row.as_prompts) for row in rows if row.examples == 64] == [100] * 4
