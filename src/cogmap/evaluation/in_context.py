"""In-context accuracy: how often a model names the most likely last word of a prompt, by kind of prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from cogmap.environments.ginc import Prompts
from cogmap.records import Integers

Complete = Callable[[Integers], Integers]  # tokens (B, N) to the next one (B,)


@dataclass(frozen=True)
class InContextRow:
    """One (length, examples) pair; accuracy is a fraction."""

    length: int  # k
    examples: int  # n
    prompts: int  # B
    tokens: int  # N, of each prompt
    accuracy: float

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(self.accuracy * (1 - self.accuracy) / self.prompts))


def in_context_rows(
    complete: Complete, cells: Iterable[Prompts], most: int | None = None
) -> Iterator[InContextRow]:
    """A row for each cell of prompts, all of one length and so read together; of the first `most` prompts if told."""
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
