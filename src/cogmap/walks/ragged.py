"""Walks of any lengths laid end to end, as text formats hold them, into the padded arrays of the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Labels, Walks
from cogmap.walks.vocabulary import check_labels, index_words, vocabulary_size


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
