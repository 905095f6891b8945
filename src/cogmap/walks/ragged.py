"""Walks from columns or rows of different lengths: padded, or end to end where padding would cost far more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Labels, Walks
from cogmap.walks.log import WalkLog, check_padding, may_be_padded, small_type
from cogmap.walks.vocabulary import check_labels, index_words, vocabulary_size


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
    return _walks(
        seen,
        taken,
        counts,
        num_observations=num_observations,
        num_actions=num_actions,
        observation_labels=observation_labels,
        action_labels=action_labels,
    )


def _walks(
    seen: NDArray[Any], taken: NDArray[Any], lengths: NDArray[Any], num_observations: int, **fields: Any
) -> Walks:
    """Walks from all their observations and all their actions, one walk after the other."""
    if may_be_padded(lengths):
        return Walks(pad(seen, lengths), pad(taken, lengths - 1), lengths, num_observations, **fields)
    ends = np.cumsum(lengths, dtype=np.int64)
    _check_column("observations", seen, num_observations)
    _check_column("actions", taken, fields["num_actions"])
    actions = np.zeros(len(seen), dtype=small_type(fields["num_actions"]))
    actions[np.delete(np.arange(len(seen)), ends - 1)] = taken
    kept = seen.astype(small_type(num_observations))
    return WalkLog(kept, actions, ends - lengths, lengths.astype(np.int32), num_observations, **fields)


def _check_column(name: str, values: NDArray[Any], size: int) -> None:
    if values.size and (values.min() < 0 or values.max() >= size):
        raise BadWalks(f"`{name}` must be in [0, {size}), got {values.min()} to {values.max()}")


def with_rewards(walks: Walks, rewards: NDArray[Any]) -> Walks:
    """The walks with the rewards of all their actions, walk after walk."""
    if isinstance(walks, WalkLog):
        raise BadWalks("walks with rewards must be of similar lengths, or of few steps, got far longer ones")
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
    return _walks(np.concatenate(observations), np.concatenate(actions), counts, **fields)


def pad(values: NDArray[Any], lengths: NDArray[np.integer]) -> NDArray[Any]:
    """(B, max(lengths)): the first `lengths[0]` values, the next `lengths[1]`, ..., each row padded with 0."""
    check_padding(lengths)
    padded = np.zeros((len(lengths), int(lengths.max())), dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = values
    return padded


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
        numbers = np.array(values, dtype=np.int64)
    except OverflowError:
        largest = max(values, key=abs)
        digits = len(str(abs(largest)))
        raise BadWalks(f"`{name}` must fit 32-bit integers, got one of {digits} digits") from None
    if numbers.size and numbers.min() < 0:
        raise BadWalks(f"`{name}` must be numbered from 0, got {numbers.min()}: write other numbers as words")
    return numbers
