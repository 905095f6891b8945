"""Walks cut in time: the first part of each, and the rest. For logs of so few walks that none can be held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cogmap.records import Integers, Walks

FEW_WALKS = 10  # with fewer, a tenth of every walk is held out in place of a tenth of the walks
SHORTEST = 4  # steps of the rest


@dataclass(frozen=True, eq=False)
class Cut:
    """The first parts of walks, and what follows them."""

    first: Walks
    rest: Walks
    at: Integers  # (B,) the step at which each rest begins

    def of_first(self, values: Any, padding: Any = 0) -> Any:
        """Values (B, N or N - 1) of the walks, for the first parts."""
        return _masked(values[:, : self.first.num_steps - (values.shape[1] < self._steps)], self.at, padding)

    def of_rest(self, values: Any, padding: Any = 0) -> Any:
        """Values (B, N or N - 1) of the walks, for the rests."""
        width = self.rest.num_steps - (values.shape[1] < self._steps)
        column = np.minimum(self.at[:, None] + np.arange(width), values.shape[1] - 1)
        return _masked(np.take_along_axis(values, column, axis=1), self.rest.lengths, padding)

    @property
    def _steps(self) -> int:
        return int((self.at + self.rest.lengths).max())


def cut_walks(walks: Walks, share: float = 0.9) -> Cut | None:
    """Each walk cut after so much of it; None where the rest of one would be too short to say anything."""
    at = (share * walks.lengths).astype(np.int32)
    rest = (walks.lengths - at).astype(np.int32)
    if rest.min() < SHORTEST:
        return None
    longest = int(at.max())
    first = replace(
        walks,
        observations=_masked(walks.observations[:, :longest], at, 0),
        actions=_masked(walks.actions[:, : longest - 1], at - 1, 0),
        lengths=at,
        rewards=None,
    )
    columns = at[:, None] + np.arange(int(rest.max()))
    seen = np.take_along_axis(walks.observations, np.minimum(columns, walks.num_steps - 1), axis=1)
    taken = np.take_along_axis(walks.actions, np.minimum(columns[:, :-1], walks.num_steps - 2), axis=1)
    later = replace(
        walks,
        observations=_masked(seen, rest, 0),
        actions=_masked(taken, rest - 1, 0),
        lengths=rest,
        rewards=None,
    )
    return Cut(first, later, at)


def _masked(values: Any, lengths: Integers, padding: Any) -> Any:
    return np.where(np.arange(values.shape[1]) < lengths[:, None], values, padding)
