"""Sparse counts: how often each code occurs with each observation, and which codes follow it under each action.

All counts come from sorting integers: no J x A x J array is allocated, and time grows with the number of steps only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cogmap.errors import BadRun
from cogmap.records import Booleans, Codes, Floats, Walks

Whole = NDArray[np.integer[Any]]  # integers of any width; records keep 32 bits
Keys = NDArray[np.int64]
UNKNOWN = -1  # no node, no code
_KEY_BITS = 63
_BLOCK = 1 << 15  # rows


@dataclass(frozen=True, eq=False)
class Counts:
    """`action[e]` led from code `source[e]` to code `target[e]` `count[e]` times; sorted, without duplicates."""

    source: Whole  # (E,) in [0, J)
    action: Whole  # (E,) in [0, A)
    target: Whole  # (E,) in [0, J)
    count: Whole  # (E,) at least 1
    num_codes: int  # J
    num_actions: int  # A

    @property
    def total(self) -> int:
        """The number of transitions."""
        return int(self.count.sum())

    def select(self, entries: NDArray[Any]) -> Counts:
        """The same codes and actions with these entries only."""
        return replace(
            self,
            source=self.source[entries],
            action=self.action[entries],
            target=self.target[entries],
            count=self.count[entries],
        )


@dataclass(frozen=True, eq=False)
class Sightings:
    """`observation[i]` was seen at `code[i]` `count[i]` times; sorted, without duplicates."""

    code: Whole  # (I,) in [0, J)
    observation: Whole  # (I,) in [0, O)
    count: Whole  # (I,) at least 1
    num_codes: int  # J
    num_observations: int  # O


def unique_codes(codes: Codes) -> tuple[Whole, Whole]:
    """All distinct tuples (J, M), in lexicographic order, and the row of each step's tuple (B, N); padding is -1."""
    real = np.arange(codes.codes.shape[1]) < codes.lengths[:, None]  # (B, N)
    steps = codes.codes.reshape(-1, codes.bottlenecks) if real.all() else codes.codes[real]  # (steps, M)
    place, rank = rank_rows(steps, codes.num_codes)
    if real.all():
        return steps[place], rank.reshape(real.shape)
    index = np.full(real.shape, -1, dtype=np.int32)
    index[real] = rank
    return steps[place], index


def rank_rows(rows: Whole, bound: int | None = None) -> tuple[Keys, Whole]:
    """The index of one copy of each distinct row of (R, C), in lexicographic order, and the rank of each row (R,).

    Entries must not be negative, and must be below `bound`.
    """
    width = (int(rows.max(initial=0)) if bound is None else bound - 1).bit_length()
    bits = width * rows.shape[1]
    if bits + len(rows).bit_length() <= _KEY_BITS or rows.shape[1] == 1:
        return _rank(_pack(rows, width), bits)
    place, rank = rank_rows(rows[:, :-1], bound)
    key = (rank.astype(np.int64) << width) | rows[:, -1]
    return _rank(key, len(place).bit_length() + width)


def _pack(rows: Whole, width: int) -> Keys:
    """(R,) the entries of each row packed into one integer, `width` bits each."""
    key = np.zeros(len(rows), dtype=np.int64)
    for start in range(0, len(rows), _BLOCK):  # a block's columns should fit the cache
        block = key[start : start + _BLOCK]
        for column in rows[start : start + _BLOCK].T:
            block <<= width
            block |= column
    return key


def count_transitions(index: Whole, actions: Whole, num_codes: int, num_actions: int) -> Counts:
    """Counts of (code, action, next code); `index` is (B, N), `actions` (B, N - 1).

    Steps at code -1 are left out.
    """
    narrow = num_codes * num_actions * num_codes < 2**31  # half the bits sort twice as fast
    source = index[:, :-1].astype(np.int32) if narrow else index[:, :-1].astype(np.int64)
    key: Whole = (source * num_actions + actions) * num_codes + index[:, 1:]
    if index.min(initial=0) < 0:
        key = key[(source >= 0) & (index[:, 1:] >= 0)]
    key, count = _run_lengths(key.ravel())
    row, last = np.divmod(key, num_codes)
    first, action = np.divmod(row, num_actions)
    return Counts(small(first), small(action), small(last), count, num_codes, num_actions)


def next_codes(counts: Counts) -> csr_array:
    """p(l | code, a) as a sparse (J, A * J) table."""
    row = counts.source.astype(np.int64) * counts.num_actions + counts.action
    total = np.bincount(row, weights=counts.count)
    column = counts.action.astype(np.int64) * counts.num_codes + counts.target
    shape = (counts.num_codes, counts.num_actions * counts.num_codes)
    return csr_array((counts.count / total[row], (counts.source, column)), shape=shape)


def count_sightings(index: Whole, observations: Whole, num_codes: int, num_observations: int) -> Sightings:
    """Counts of (code, observation); both arrays are (B, N), steps at code -1 are left out."""
    key: Whole = index * np.int64(num_observations) + observations
    key, count = _run_lengths(key.ravel() if index.min(initial=0) >= 0 else key[index >= 0])
    code, observation = np.divmod(key, num_observations)
    return Sightings(small(code), small(observation), count, num_codes, num_observations)


def spread(values: Whole, at: Whole) -> Whole:
    """`values[at]`, and UNKNOWN wherever `at` is."""
    padded = np.concatenate((values.astype(np.int32), np.array([UNKNOWN], dtype=np.int32)))
    return padded[at]


def majority(index: Whole, steps: Whole, num_codes: int) -> Whole:
    """(J,) the node of more than half of a code's steps, else UNKNOWN; `index` and `steps` are (B, N)."""
    nodes = int(steps.max(initial=0)) + 1
    at = count_sightings(np.where(steps >= 0, index, UNKNOWN), np.maximum(steps, 0), num_codes, nodes)
    active = np.bincount(index[index >= 0], minlength=num_codes)
    most = 2 * at.count.astype(np.int64) > active[at.code]
    node = np.full(num_codes, UNKNOWN, dtype=np.int32)
    node[at.code[most]] = at.observation[most]
    return node


def check_codes(codes: Codes, walks: Walks) -> None:
    """Raise `BadRun` unless codes and walks have the same steps."""
    if codes.codes.shape[:2] != walks.observations.shape:
        rule = f"codes must be of the walks' steps, shape {walks.observations.shape}"
        raise BadRun(f"{rule}, got {codes.codes.shape[:2]}")
    if not np.array_equal(codes.lengths, walks.lengths):
        walk = int(np.flatnonzero(codes.lengths != walks.lengths)[0])
        rule = f"codes must have the walks' lengths, {walks.lengths[walk]} for walk {walk}"
        raise BadRun(f"{rule}, got {codes.lengths[walk]}")


def _rank(keys: Keys, bits: int) -> tuple[Keys, Whole]:
    """The index of one copy of each distinct key, in rising order of keys, and the rank of every key.

    A key of `bits` bits and its index share one integer, so that one plain sort, several times faster than an
    argsort, does both. Where there are fewer possible keys than indices, a table does it without a sort.
    """
    if 1 << bits <= len(keys):
        return _rank_by_table(keys, 1 << bits)
    place_bits = len(keys).bit_length()
    if bits + place_bits > _KEY_BITS:
        raise BadRun(f"codes must fit {_KEY_BITS - place_bits} bits to be distinguished, got {bits}")
    packed = np.arange(len(keys), dtype=np.int64)
    packed |= keys << place_bits
    packed.sort()
    place = packed & ((1 << place_bits) - 1)
    packed >>= place_bits
    starts = _starts(packed)
    rank = np.empty(len(keys), dtype=np.int32)
    rank[place] = np.cumsum(starts, dtype=np.int32)
    rank -= 1
    return place[starts], rank


def _rank_by_table(keys: Keys, bound: int) -> tuple[Keys, Whole]:
    place = np.full(bound, -1, dtype=np.int32)
    place[keys] = np.arange(len(keys), dtype=np.int32)
    used = place >= 0
    return place[used].astype(np.int64), (np.cumsum(used, dtype=np.int32) - 1)[keys]


def _run_lengths(keys: Whole) -> tuple[Whole, Whole]:
    """Distinct keys in rising order, and how often each occurs."""
    keys = np.sort(keys)
    starts = np.flatnonzero(_starts(keys))
    return keys[starts], small(np.diff(starts, append=len(keys)))


def _starts(ordered: Whole) -> Booleans:
    """True where a run of equal keys begins."""
    starts = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    return starts


def small(values: Whole | Floats) -> Any:
    """As 32-bit integers, and as 64-bit ones where they do not fit."""
    fits = not values.size or (values.min() >= -(2**31) and values.max() < 2**31)
    return values.astype(np.int32 if fits else np.int64)
