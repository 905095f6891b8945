"""Text as walks: words, or characters, with one action, `next`."""

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
from cogmap.walks.vocabulary import check_labels, index_words

Unit = Literal["words", "characters"]
ACTION = "next"
PIECE = 1024  # units of a walk, as many as the longest prompt of GINC has tokens
LEAST_COUNT = 5  # times a unit must occur in a text of one's own to have a place in the vocabulary
RARE = "<rare>"  # stands for every unit that is too seldom to be learned
_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")  # a mark of punctuation is a word of its own


@dataclass(frozen=True)
class TextReading:
    """How a text is read."""

    unit: Unit = "words"
    least_count: int = LEAST_COUNT  # of a unit, below which it is a rare one
    splice: float = 0.0  # chance of a cut before a unit


def load_text(
    path: str | Path,
    unit: Unit = "words",
    length: int | None = None,
    like: Walks | None = None,
    least_count: int = 1,
) -> Walks:
    """A text file as one walk, or as walks of `length` units; in the vocabulary of `like` where that is given."""
    text = read_text(path, BadWalks)
    try:
        return text_walks(text, unit, length, None if like is None else like.observation_labels, least_count)
    except BadWalks as error:
        raise BadWalks(f"{path}: {error}") from error


def text_walks(
    text: str,
    unit: Unit = "words",
    length: int | None = None,
    labels: Labels | None = None,
    least_count: int = 1,
) -> Walks:
    """Text as one walk, or as walks of `length` units, the last one shorter; a single unit left over is dropped.

    Without `labels` the vocabulary is what occurs at least `least_count` times, sorted; the rest, if any, is
    `RARE`, and so is what labels that hold `RARE` do not hold. Upper and lower case differ; a run of white space
    is one blank among characters and nothing among words.
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
    rows = _rows(tokens.astype(np.int32), length or len(units))
    lengths = np.full(len(rows), rows.shape[1])
    lengths[-1] = len(units) - rows.shape[1] * (len(rows) - 1)
    kept = lengths >= 2
    return token_walks(rows[kept], labels, lengths[kept])


def _vocabulary(units: Sequence[str], unit: Unit, least_count: int) -> Labels:
    """What occurs often enough, sorted, and `RARE` for what does not, if anything."""
    if least_count < 1:
        raise BadConfig(f"`least_count` (={least_count}) must be at least 1")
    counted = Counter(units)
    often = sorted(one for one, count in counted.items() if count >= least_count)
    if not often:
        rule = f"some {unit} of a text must occur at least `least_count` (={least_count}) times"
        raise BadWalks(f"{rule}, the most frequent occurs {max(counted.values())} times")
    rare = [RARE] if len(often) < len(counted) and RARE not in often else []
    return (*often, *rare)


def document_walks(path: str | Path, length: int, labels: Labels | None = None) -> Walks:
    """A GINC text file, where each document of `length` words is followed by a delimiter, a walk a document."""
    words = read_text(path, BadWalks).split()
    if len(words) % (length + 1):
        rule = f"{path} must hold documents of {length} words and a delimiter each"
        raise BadWalks(f"{rule}, got {len(words)} words, no multiple of {length + 1}")
    tokens, known = index_words(words, "text", labels)
    return token_walks(tokens.reshape(-1, length + 1)[:, :-1].astype(np.int32), known)


def token_walks(tokens: Integers, labels: Labels, lengths: Integers | None = None) -> Walks:
    """Tokens (B, N), places among `labels`, as walks that do nothing but go on; whole rows without `lengths`."""
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
    """Text in pieces of at most `length` units, single ones left over dropped; and the walk (B,) each piece is of."""
    _check_length(length)
    starts = [
        (walk, first)
        for walk, units in enumerate(walks.lengths.tolist())
        for first in range(0, units - 1, length)
    ]
    walk, first = np.array(starts, dtype=np.int32).T
    lengths = np.minimum(walks.lengths[walk] - first, length)
    step = np.arange(lengths.max())
    last = walks.num_steps - 1
    tokens = walks.observations[walk[:, None], np.minimum(first[:, None] + step, last)]
    tokens = np.where(step < lengths[:, None], tokens, 0)
    return replace(walks, observations=tokens, actions=np.zeros_like(tokens[:, 1:]), lengths=lengths), walk


def _split(text: str, unit: Unit) -> list[str]:
    match unit:
        case "words":
            return _WORD.findall(text)
        case "characters":
            return list(" ".join(text.split()))
    raise BadConfig(f"`unit` must be 'words' or 'characters', got {unit!r}")


def _rows(tokens: Integers, length: int) -> Integers:
    """(B, length): the tokens cut into rows, the last filled up with 0."""
    _check_length(length)
    length = min(length, tokens.size)
    rows = np.zeros((-(-tokens.size // length), length), dtype=np.int32)
    rows.reshape(-1)[: tokens.size] = tokens
    return rows


def _check_length(length: int) -> None:
    if length < 2:
        raise BadConfig(f"`length` (={length}) must be at least 2")
