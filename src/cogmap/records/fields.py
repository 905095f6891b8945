"""How a record takes its fields: checked against the rule, converted, and made read-only."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun, BadWorld, CogmapError

Integers = NDArray[np.int32]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Labels = tuple[str, ...]

_INT32 = np.iinfo(np.int32)
_MOST_SUPPORT = 1 << 53
_MOST_REWARD = 1e100  # in absolute value, so that sums over a log and values of policies stay finite
SUM_TOLERANCE = 1e-6  # of probabilities that were written with few digits


def label_of(labels: Labels | None, index: int) -> str | int:
    """The user's own word for an index, or the index itself where there are no words."""
    return int(index) if labels is None else labels[index]


def take_integers(
    record: Any, name: str, ndim: int, error: type[CogmapError], *, may_be_wide: bool = False
) -> None:
    """Replace a field by a read-only int32 copy of itself, or raise with the rule it breaks.

    may_be_wide: numbers that do not fit become int64; below 2^53, as JSON and floats hold them exactly.
    """
    array = np.asarray(getattr(record, name))
    frozen = array.dtype == np.int32 and not array.flags.writeable and array.base is None  # needs no copy
    if array.ndim != ndim:
        raise error(f"`{name}` must have {ndim} dimension(s), got shape {array.shape}")
    if array.dtype.kind not in "iu" and array.size:
        raise error(f"`{name}` must hold integers, got dtype {array.dtype}")
    if array.dtype != np.int32 and array.size and (array.min() < _INT32.min or array.max() > _INT32.max):
        if not may_be_wide:
            raise error(f"`{name}` must fit 32-bit integers, got {array.min()} to {array.max()}")
        if array.min() < 0 or array.max() >= _MOST_SUPPORT:
            raise error(f"`{name}` must be from 0 to below 2^53, got {array.min()} to {array.max()}")
        object.__setattr__(record, name, read_only(array.astype(np.int64)))
        return
    object.__setattr__(record, name, array if frozen else read_only(array.astype(np.int32)))


def take_shares(record: Any, name: str, of: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Replace a field by a read-only copy; raise unless it holds probabilities that sum to one for each `of`."""
    array = np.asarray(getattr(record, name))
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise BadRun(f"`{name}` must hold numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all() or (array < 0).any():
        raise BadRun(f"`{name}` must hold probabilities, got {array.min()} to {array.max()}")
    total = np.bincount(of, weights=array)[np.unique(of)]
    if total.size and np.abs(total - 1).max() > SUM_TOLERANCE:
        raise BadRun(f"`{name}` must sum to one, got {total[np.abs(total - 1).argmax()]}")
    object.__setattr__(record, name, read_only(array))


def take_booleans(record: Any, name: str, count: int) -> None:
    """Replace a field by a read-only copy; raise unless it holds `count` truth values."""
    array = np.asarray(getattr(record, name))
    if array.dtype != np.bool_ or array.shape != (count,):
        raise BadRun(f"`{name}` must hold {count} truth values, got {array.dtype} of shape {array.shape}")
    object.__setattr__(record, name, read_only(array.copy()))


def take_rewards(record: Any, name: str, shape: tuple[int, ...], error: type[CogmapError] = BadRun) -> None:
    """Replace a field by a read-only copy; raise unless it holds finite numbers of this shape."""
    array = np.asarray(getattr(record, name))
    if array.dtype.kind not in "fiu" or array.shape != shape:
        raise error(f"`{name}` must hold numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    array = array.astype(np.float64)
    if not (np.abs(array) <= _MOST_REWARD).all():  # false for NaN, too
        wrong = array[~(np.abs(array) <= _MOST_REWARD)][0]
        raise error(f"`{name}` must be finite and at most {_MOST_REWARD:g} in size, got {wrong:g}")
    object.__setattr__(record, name, read_only(array))


def take_probabilities(record: Any, name: str, shape: tuple[int, ...]) -> None:
    """Replace a field by a read-only copy of itself whose last axis sums to one, or raise with the rule it breaks."""
    array = np.array(getattr(record, name), dtype=np.float64)
    if array.shape != shape:
        raise BadWorld(f"`{name}` must have shape {shape}, got {array.shape}")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise BadWorld(f"`{name}` must be 0 or more, got {array.min()}")
    total = array.sum(axis=-1)
    if np.abs(total - 1).max() > SUM_TOLERANCE:
        raise BadWorld(f"`{name}` must sum to one, got {total.flat[np.abs(total - 1).argmax()]}")
    object.__setattr__(record, name, read_only(array))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def check_shape(name: str, array: NDArray[Any], shape: tuple[int, ...], error: type[CogmapError]) -> None:
    if array.shape != shape:
        raise error(f"`{name}` must have shape {shape}, got {array.shape}")


def check_range(name: str, array: Integers, bound: int, error: type[CogmapError]) -> None:
    if array.size and (array.min() < 0 or array.max() >= bound):
        raise error(f"`{name}` must be in [0, {bound}), got {array.min()} to {array.max()}")


def check_labels(name: str, labels: Labels | None, count: int, error: type[CogmapError]) -> None:
    if labels is None:
        return
    if len(labels) != count:
        raise error(f"`{name}` must hold {count} labels, got {len(labels)}")
    if len(set(labels)) != count:
        repeated = Counter(labels).most_common(1)[0][0]
        raise error(f"`{name}` must be distinct, got {repeated!r:.60} more than once")
