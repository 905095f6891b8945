"""The most frequent column of each row of counts, and whether its lead is significant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from cogmap.maps.counts import Whole
from cogmap.records import Booleans

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Leaders:
    """The most frequent column of each row of a sparse table of counts."""

    column: Whole  # (R,) UNKNOWN where a row is empty; ties go to the lowest column
    count: NDArray[np.int64]  # (R,) its count
    runner_up: NDArray[np.int64]  # (R,) the second highest count
    total: NDArray[np.int64]  # (R,) the sum of the row

    def clear(self) -> Booleans:
        """(R,) whether the lead over the second is larger than chance explains, and the leader has two thirds.

        It takes at least three steps without a contrary one, or six against one.
        """
        ahead = self.count - self.runner_up
        return (
            (ahead * ahead >= 3 * (self.count + self.runner_up))
            & (3 * self.count >= 2 * self.total)
            & (ahead > 0)
        )

    def clear_column(self) -> Whole:
        """(R,) the leader where it is clear, else UNKNOWN."""
        return np.where(self.clear(), self.column, UNKNOWN)


def leaders(row: Whole, column: Whole, count: Whole, shape: tuple[int, int]) -> Leaders:
    """Leaders of the table with `count[i]` added at (`row[i]`, `column[i]`)."""
    rows = shape[0]
    table = coo_array((count.astype(np.int64), (row, column)), shape=shape).tocsr()
    table.sort_indices()
    filled = np.flatnonzero(np.diff(table.indptr))
    starts = table.indptr[filled]
    best, second, total = (np.zeros(rows, dtype=np.int64) for _ in range(3))
    leader = np.full(rows, UNKNOWN, dtype=np.int32)
    if not len(filled):
        return Leaders(leader, best, second, total)
    best[filled] = np.maximum.reduceat(table.data, starts)
    total[filled] = np.add.reduceat(table.data, starts)
    of_row = np.repeat(filled, np.diff(table.indptr)[filled])  # (entries,)
    leading = np.flatnonzero(table.data == best[of_row])
    leading = leading[np.concatenate(([True], of_row[leading][1:] != of_row[leading][:-1]))]
    leader[filled] = table.indices[leading]
    rest = table.data.copy()
    rest[leading] = 0
    second[filled] = np.maximum.reduceat(rest, starts)
    return Leaders(leader, best, second, total)
