"""In-context accuracy with scripted predictors."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.ginc import GincConfig, Prompts, build_world, sample_prompts
from cogmap.evaluation.prompts import in_context_rows

CONFIG = GincConfig(prompts=20, prompt_lengths=(2, 3), prompt_examples=(0, 2), documents=1)


@pytest.fixture(scope="module")
def cells() -> list[Prompts]:
    world = build_world(CONFIG, np.random.RandomState(CONFIG.seed))
    return [prompts for prompts in sample_prompts(world, CONFIG) if prompts.in_distribution]


def test_an_oracle_is_always_right_and_a_wrong_predictor_never(cells: list[Prompts]) -> None:
    answers = {prompts.tokens.tobytes(): prompts.label for prompts in cells}
    right = list(in_context_rows(lambda tokens: answers[tokens.tobytes()], cells))
    wrong = list(in_context_rows(lambda tokens: answers[tokens.tobytes()] + 1, cells))
    assert [(row.length, row.examples, row.tokens) for row in right] == [
        (2, 0, 1),
        (2, 2, 7),
        (3, 0, 2),
        (3, 2, 10),
    ]
    assert all(row.accuracy == 1 and row.prompts == 20 and row.standard_error == 0 for row in right)
    assert all(row.accuracy == 0 for row in wrong)


def test_some_of_the_prompts_can_be_enough(cells: list[Prompts]) -> None:
    label = cells[0].label.copy()
    half = label.copy()
    half[1::2] += 1
    row = next(in_context_rows(lambda tokens: half[: len(tokens)], cells[:1], most=4))
    assert (row.prompts, row.accuracy, row.standard_error) == (4, 0.5, 0.25)
