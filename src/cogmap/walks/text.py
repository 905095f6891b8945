"""Text as walks: words or characters, with one action, `next`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from cogmap.errors import BadConfig, BadWalks
from cogmap.files import read_text
from cogmap.records import Integers, Labels, Walks
from cogmap.walks.ragged import pad
from cogmap.walks.store import prefix_errors
from cogmap.walks.vocabulary import check_labels, index_words

Unit = Literal["words", "characters"]
ACTION = "next"
PIECE = 1024  # units in a walk, as many as the longest GINC prompt has tokens
LEAST_COUNT = 5  # occurrences that a unit needs to be in the vocabulary of a user's own text
RARE = "<rare>"  # replaces every unit that is too rare to be learned
_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")  # a punctuation mark is a word


@dataclass(frozen=True)
class TextReading:
    """How a text is read."""

    unit: Unit = "words"
    least_count: int = LEAST_COUNT  # occurrences below which a unit is rare
    splice: float = 0.0  # probability of a cut before a unit

    def __post_init__(self) -> None:
        if self.least_count < 1:
            raise BadConfig(f"`least_count` (={self.least_count}) must be at least 1")
        if not 0 <= self.splice <= 1:
            raise BadConfig(f"`splice` (={self.splice}) must be from 0 to 1")


def load_text(
    path: str | Path,
    unit: Unit = "words",
    length: int | None = None,
    like: Walks | None = None,
    least_count: int = 1,
) -> Walks:
    """A text file as one walk, or as walks of `length` units, in the vocabulary of `like` if given."""
    text = read_text(path, BadWalks)
    labels = None if like is None else like.observation_labels
    with prefix_errors(path):
        return text_walks(text, unit, length, labels, least_count)


def text_walks(
    text: str,
    unit: Unit = "words",
    length: int | None = None,
    labels: Labels | None = None,
    least_count: int = 1,
) -> Walks:
    """Text as one walk, or as walks of `length` units. The last walk may be shorter; a single last unit is dropped.

    Without `labels`, the vocabulary is the sorted units that occur at least `least_count` times, and `RARE` for the
    others if there are any. With `labels` that contain `RARE`, unknown units become `RARE`. Case matters. A run of
    white space is one blank among characters and is ignored among words.
    """
    units = _split(text, unit)
    if len(units) < 2:
        raise BadWalks(f"a text must hold at least 2 {unit}, got {len(units)}")
    labels = _vocabulary(units, unit, least_count) if labels is None else labels
    check_labels("text", labels)
    if RARE in labels:
        known = set(labels)
        units = [one if one in known else RARE for one in units]
    tokens, _ = index_words(units, "text", labels)
    whole = token_walks(tokens.astype(np.int32)[None], labels)
    return cut(whole, length)[0] if length else whole


def document_walks(path: str | Path, length: int, labels: Labels | None = None) -> Walks:
    """A GINC text file as one walk per document. Each document of `length` words is followed by a delimiter."""
    words = read_text(path, BadWalks).split()
    if len(words) % (length + 1):
        rule = f"{path} must hold documents of {length} words and a delimiter each"
        raise BadWalks(f"{rule}, got {len(words)} words, which is no multiple of {length + 1}")
    tokens, known = index_words(words, "text", labels)
    return token_walks(tokens.reshape(-1, length + 1)[:, :-1].astype(np.int32), known)


def token_walks(tokens: Integers, labels: Labels, lengths: Integers | None = None) -> Walks:
    """Walks from tokens (B, N), which are indices into `labels`. By default all rows have length N."""
    walks, steps = tokens.shape
    return Walks(
        observations=tokens,
        actions=np.zeros((walks, max(steps - 1, 0)), dtype=np.int32),
        lengths=np.full(walks, steps) if lengths is None else lengths,
        num_observations=len(labels),
        num_actions=1,
        observation_labels=labels,
        action_labels=(ACTION,),
    )


def cut(walks: Walks, length: int) -> tuple[Walks, Integers]:
    """Text in pieces of at most `length` units, and the walk (B,) that each piece comes from.

    A single unit at the end of a walk is dropped.
    """
    if length < 2:
        raise BadConfig(f"`length` (={length}) must be at least 2")
    starts = [
        (walk, first)
        for walk, units in enumerate(walks.lengths.tolist())
        for first in range(0, units - 1, length)
    ]
    walk, first = np.array(starts, dtype=np.int32).T
    lengths = np.minimum(walks.lengths[walk] - first, length)
    pieces = [
        walks.observations[row, start : start + units]
        for (row, start), units in zip(starts, lengths, strict=True)
    ]
    tokens = pad(np.concatenate(pieces), lengths)
    return replace(walks, observations=tokens, actions=np.zeros_like(tokens[:, 1:]), lengths=lengths), walk


def _split(text: str, unit: Unit) -> list[str]:
    match unit:
        case "words":
            return _WORD.findall(text)
        case "characters":
            return list(" ".join(text.split()))
    raise BadConfig(f"`unit` must be 'words' or 'characters', got {unit!r}")


def _vocabulary(units: Sequence[str], unit: Unit, least_count: int) -> Labels:
    """The sorted units that occur often enough, and `RARE` if there are others."""
    if least_count < 1:
        raise BadConfig(f"`least_count` (={least_count}) must be at least 1")
    counted = Counter(units)
    often = sorted(one for one, count in counted.items() if count >= least_count)
    if not often:
        rule = f"some {unit} of a text must occur at least `least_count` (={least_count}) times"
        raise BadWalks(f"{rule}, the most frequent occurs {max(counted.values())} times")
    rare = [RARE] if len(often) < len(counted) and RARE not in often else []
    return (*often, *rare)
