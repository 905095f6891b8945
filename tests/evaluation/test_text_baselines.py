"""What counting predicts of a text, against a count by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from cogmap.errors import BadRun
from cogmap.evaluation.text_baselines import TextBaselines, load_baselines, text_baselines
from cogmap.models.ngram import longest_match
from cogmap.records import Walks


def text(words: str) -> Walks:
    numbers = np.array([[ord(letter) - ord("a") for letter in words]], dtype=np.int32)
    return Walks(numbers, np.zeros((1, len(words) - 1), dtype=np.int32), np.array([len(words)]), 5, 1)


def by_hand(train: str, test: str, order: int) -> list[set[str]]:
    """For each letter after the first: those that followed most often after the longest context that was met.

    The beginning of a text is a part of contexts, ^.
    """
    train, test = "^" * order + train, "^" * order + test
    followed: dict[str, Counter[str]] = defaultdict(Counter)
    for end in range(order + 1, len(train)):
        for length in range(order + 1):
            followed[train[end - length : end]][train[end]] += 1
    answers = []
    for end in range(order + 1, len(test)):
        contexts = (test[end - length : end] for length in range(order, -1, -1))
        counts = next(followed[context] for context in contexts if context in followed)
        answers.append({letter for letter, times in counts.items() if times == max(counts.values())})
    return answers


@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_the_longest_context_that_was_met_predicts(order: int) -> None:
    rng = np.random.default_rng(order)
    train, test = ("".join(rng.choice(list("abcd"), size=size)) for size in (60, 30))
    predicted = longest_match(text(train), text(test), order)[0]
    for number, allowed in zip(predicted.tolist(), by_hand(train, test, order), strict=True):
        assert "abcde"[number] in allowed


def test_shares_by_context_and_their_file(tmp_path: Path) -> None:
    found = text_baselines(text("abcabcabc"), text("abcabd"))
    assert found.one_before == 4 / 5
    assert found.longest == 4 / 5
    assert found.most_frequent < found.one_before
    found.save(tmp_path / "baselines.json")
    assert load_baselines(tmp_path / "baselines.json") == found
    (tmp_path / "baselines.json").write_text('{"one_before": "x"}')
    with pytest.raises(BadRun, match="must hold what counting predicts"):
        load_baselines(tmp_path / "baselines.json")
    assert isinstance(found, TextBaselines)
