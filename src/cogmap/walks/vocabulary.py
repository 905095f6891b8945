"""Labels and the integers that stand for them, within one file and between two; and ragged walks made rectangular.

Text formats hold walks of any lengths end to end; `Ragged` turns them into the padded arrays of the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Booleans, Integers, Labels, Walks


def index_words(words: Sequence[str], name: str, labels: Labels | None) -> tuple[NDArray[np.int64], Labels]:
    """The place of each word among `labels`, or among the sorted words where the file states no labels.

    Sorted, since the order of first appearance would differ between two files of one place.
    """
    known = tuple(sorted(set(words))) if labels is None else labels
    place = {label: index for index, label in enumerate(known)}
    try:
        return np.array([place[word] for word in words], dtype=np.int64), known
    except KeyError as error:
        raise BadWalks(f"label {error.args[0]!r} in `{name}` is not known, {_listed(known)}") from None


def check_labels(name: str, labels: Labels) -> None:
    """Labels must come back from every format and go out on every terminal."""
    for label in labels:
        if not label or "\0" in label:
            raise BadWalks(f"`{name}` must be non-empty words without NUL, got {label!r}")
        if not label.isascii() and any("\ud800" <= character <= "\udfff" for character in label):
            raise BadWalks(f"`{name}` must be valid Unicode, got {label!r}")


def vocabulary_size(stated: int | None, labels: Labels | None, values: NDArray[np.integer]) -> int:
    """What the file states, else the number of its labels, else its largest value plus one."""
    if stated is not None:
        return stated
    if labels is not None:
        return len(labels)
    return max(1, int(values.max()) + 1) if values.size else 1


def translate(walks: Walks, like: Walks) -> Walks:
    """The same walks in the vocabulary of `like`: labels go by their name, bare integers stay as they are."""
    seen = walks.step_mask()  # (B, N)
    pairs = [
        ("observation", walks.observations, seen, walks.observation_labels, like.observation_labels),
        ("action", walks.actions, seen[:, 1:], walks.action_labels, like.action_labels),
    ]
    observations, actions = (_translate(*pair) for pair in pairs)
    return replace(
        walks,
        observations=observations,
        actions=actions,
        num_observations=like.num_observations,
        num_actions=like.num_actions,
        observation_labels=like.observation_labels,
        action_labels=like.action_labels,
    )


def _translate(
    name: str, values: Integers, mask: Booleans, own: Labels | None, known: Labels | None
) -> Integers:
    if own is None or own == known:
        return values
    if known is None:
        raise BadWalks(
            f"every {name} must be an integer, as in the walks to match, got the labels {own[0]!r}, ..."
        )
    place = {label: index for index, label in enumerate(known)}
    new = np.array([place.get(label, -1) for label in own], dtype=np.int32)
    translated = np.where(mask, new[values], 0)
    unknown = np.argwhere(translated < 0)
    if unknown.size:
        walk, step = unknown[0]
        where = f"label {own[values[walk, step]]!r} (the {name} of walk {walk}, step {step})"
        raise BadWalks(f"{where} is not known, {_listed(known)}")
    return translated


def _listed(labels: Labels, most: int = 8) -> str:
    shown = ", ".join(repr(label) for label in labels[:most])
    return f"the labels are {shown}{', ...' if len(labels) > most else ''}"


@dataclass(frozen=True)
class Column:
    """All observations or all actions of a file, walk after walk, and what it says of their vocabulary."""

    name: str
    values: Sequence[Any]  # all integers or all words
    size: int | None = None
    labels: Labels | None = None


def pad_walks(observations: Column, actions: Column, lengths: Sequence[int]) -> Walks:
    """The record of walks with `lengths[b]` observations and one action less each."""
    if not lengths:
        raise BadWalks("there must be at least one walk, got none")
    counts = np.array(lengths, dtype=np.int32)  # (B,)
    short = int(counts.argmin())
    if counts[short] < 2:
        raise BadWalks(f"a walk must have at least 2 steps, walk {short} has {counts[short]}")
    seen, num_observations, observation_labels = _indices(observations)
    taken, num_actions, action_labels = _indices(actions)
    return Walks(
        observations=_pad(seen, counts),
        actions=_pad(taken, counts - 1),
        lengths=counts,
        num_observations=num_observations,
        num_actions=num_actions,
        observation_labels=observation_labels,
        action_labels=action_labels,
    )


def _indices(column: Column) -> tuple[NDArray[np.int64], int, Labels | None]:
    """Integers, vocabulary size and labels of a column."""
    labels = column.labels
    if column.values and isinstance(column.values[0], str):
        values, labels = index_words(column.values, column.name, labels)
    else:
        values = _integers(column.name, column.values)
    if labels is not None:
        check_labels(column.name, labels)
    return values, vocabulary_size(column.size, labels, values), labels


def _integers(name: str, values: Sequence[int]) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        largest = max(values, key=abs)
        raise BadWalks(
            f"`{name}` must fit 32-bit integers, got one of {len(str(abs(largest)))} digits"
        ) from None


def _pad(values: NDArray[np.int64], counts: NDArray[np.integer]) -> NDArray[Any]:
    """(B, max(counts)): the walks' own values, then 0."""
    padded = np.zeros((len(counts), int(counts.max())), dtype=np.int64)
    padded[np.arange(padded.shape[1]) < counts[:, None]] = values
    return padded
