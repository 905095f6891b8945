"""The draws of numpy's legacy generator, computed for many places in its stream at once.

Why not call the generator: the published prompts take one call per token, 39 million calls from Python, and must be
matched byte for byte. This file computes the same draws with array operations; `python -m benchmarks.ginc` prints how
many times faster that is.

The generator is a stream of 32-bit words. `rand()` reads two of them. `randint(low, low + bound)` masks words to the
bits that `bound` needs, until one is below `bound`; it reads none if `bound` is 1. So the end of a draw depends only on
its start, and a table over all starts replaces the calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Floats, Integers

Words = NDArray[np.uint32]
Places = NDArray[np.int32]


class WordStream:
    """The next words of a legacy generator, which can be read before they are consumed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.RandomState(seed)
        self._words: Words = np.empty(0, dtype=np.uint32)

    def peek(self, count: int) -> Words:
        """(count,): the next words, without consuming them."""
        missing = count - self._words.size
        if missing > 0:
            fresh = self._random.randint(0, 2**32, size=missing, dtype=np.uint32)
            self._words = np.concatenate([self._words, fresh])
        return self._words[:count]

    def consume(self, count: int) -> None:
        self._words = self._words[count:]


@dataclass(frozen=True, eq=False)
class BoundedDraw:
    """`randint(0, bound)` from every place in W words. Place W means "past the end"."""

    value: Places  # (W + 1,) the number drawn if reading starts at this place
    after: Places  # (W + 1,) the place after the last word read; W if there are too few words


def bounded_draw(words: Words, bound: int) -> BoundedDraw:
    places = np.arange(words.size + 1, dtype=np.int32)
    if bound == 1:
        return BoundedDraw(np.zeros_like(places), places)
    masked = np.zeros_like(places)
    masked[:-1] = words & np.uint32((1 << (bound - 1).bit_length()) - 1)
    accepted = places.copy()
    accepted[masked >= bound] = words.size
    accepted = np.minimum.accumulate(accepted[::-1])[::-1]  # (W + 1,) first accepted word from each place
    return BoundedDraw(masked[accepted], np.minimum(accepted + 1, words.size, dtype=np.int32))


def uniform_draw(words: Words, place: Places) -> Floats:
    """`rand()` from each given place: 53 bits from two words."""
    high = (words[place] >> np.uint32(5)).astype(np.float64)
    low = (words[place + 1] >> np.uint32(6)).astype(np.float64)
    return (high * 2.0**26 + low) / 2.0**53


class CumulativeTable:
    """Rows of cumulative probabilities, padded for a binary search in many rows at once."""

    def __init__(self, cumulative: Floats) -> None:
        rows, columns = cumulative.shape
        self._width = 1 << columns.bit_length()  # above `columns`: a search may end past the last
        padded = np.full((rows, self._width), np.inf)
        padded[:, :columns] = cumulative
        self._entries = padded.reshape(-1)

    def first_above(self, row: Integers, uniform: Floats) -> Integers:
        """The first column of each row that is above its uniform number; the number of columns if none is."""
        base = row * self._width - 1
        found = np.zeros_like(row)
        step = self._width // 2
        while step:
            found += step * (self._entries[base + found + step] <= uniform)
            step //= 2
        return found
