"""Walks of different lengths, stored end to end, as the padded arrays of the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Labels, Walks
from cogmap.walks.vocabulary import check_labels, index_words, vocabulary_size

MOST_PADDING = 32  # cells of the padded form for each step
MOST_CELLS = 1 << 22  # that any walks may have, however few their steps are


@dataclass(frozen=True)
class Column:
    """All observations or all actions of a file, walk after walk, and the vocabulary that the file states."""

    name: str
    values: Sequence[Any]  # all integers or all words
    size: int | None = None
    labels: Labels | None = None


def walks_from_columns(observations: Column, actions: Column, lengths: Sequence[int]) -> Walks:
    """Walks with `lengths[b]` observations and one action less each, from the columns of a file."""
    counts = checked_lengths(lengths)
    seen, num_observations, observation_labels = _indices(observations)
    taken, num_actions, action_labels = _indices(actions)
    return Walks(
        observations=pad(seen, counts),
        actions=pad(taken, counts - 1),
        lengths=counts,
        num_observations=num_observations,
        num_actions=num_actions,
        observation_labels=observation_labels,
        action_labels=action_labels,
    )


def with_rewards(walks: Walks, rewards: NDArray[Any]) -> Walks:
    """The walks with the rewards of all their actions, walk after walk."""
    padded = np.zeros(walks.actions.shape)
    padded[walks.step_mask()[:, 1:]] = rewards
    return replace(walks, rewards=padded)


def walks_from_rows(
    observations: Sequence[NDArray[Any]], actions: Sequence[NDArray[Any]], **fields: Any
) -> Walks:
    """Walks from one row of indices per walk. fields: the sizes and labels of `Walks`."""
    counts = checked_lengths([len(row) for row in observations])
    for walk, (seen, taken) in enumerate(zip(observations, actions, strict=True)):
        if len(taken) != len(seen) - 1:
            rule = f"a walk of {len(seen)} observations must have {len(seen) - 1} actions"
            raise BadWalks(f"{rule}, walk {walk} has {len(taken)}")
    return Walks(
        observations=pad(np.concatenate(observations), counts),
        actions=pad(np.concatenate(actions), counts - 1),
        lengths=counts,
        **fields,
    )


def pad(values: NDArray[Any], lengths: NDArray[np.integer]) -> NDArray[Any]:
    """(B, max(lengths)): the first `lengths[0]` values, the next `lengths[1]`, ..., each row padded with 0."""
    check_padding(lengths)
    padded = np.zeros((len(lengths), int(lengths.max())), dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = values
    return padded


def check_padding(lengths: NDArray[np.integer]) -> None:
    """Refuse walks whose padded form would be far larger than they are, because a few are far longer than the rest."""
    cells, steps = len(lengths) * int(lengths.max()), int(lengths.sum())
    most = max(MOST_CELLS, MOST_PADDING * steps)
    if cells > most:
        rule = (
            f"walks padded to the longest must have at most {most} cells for their {steps} steps, got {cells}"
        )
        longest = f"walk {int(lengths.argmax())} has {int(lengths.max())} steps"
        raise BadWalks(f"{rule}: cut the longest walks into pieces, {longest}")


def checked_lengths(lengths: Sequence[int] | NDArray[np.integer]) -> NDArray[Any]:
    """(B,): the lengths as an array. Raises `BadWalks` if there is no walk or one with fewer than 2 steps."""
    counts = np.asarray(lengths)
    if not counts.size:
        raise BadWalks("there must be at least one walk, got none")
    short = int(counts.argmin())
    if counts[short] < 2:
        raise BadWalks(f"a walk must have at least 2 steps, walk {short} has {counts[short]}")
    return counts


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
        digits = len(str(abs(largest)))
        raise BadWalks(f"`{name}` must fit 32-bit integers, got one of {digits} digits") from None
