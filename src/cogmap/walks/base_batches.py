"""Windows of walks in a family of rooms, with their targets in base.

A lane that starts afresh in the middle of a walk has seen nothing yet, so that its targets rank what it has seen
itself and not what the walk had shown before. They are made here and not looked up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cogmap.records import Booleans, Integers
from cogmap.walks.base_targets import ranks_so_far
from cogmap.walks.batches import Window, WindowSampler


class BaseSampler(WindowSampler):
    """A `WindowSampler` whose lanes remember which observations they have met since they last started afresh."""

    _seen: Booleans | None = None  # (B, O)

    def state(self) -> dict[str, Any]:
        seen = [] if self._seen is None else [np.flatnonzero(row).tolist() for row in self._seen]
        return super().state() | {"seen": seen}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._seen = None
        if state["seen"]:
            self._seen = np.zeros((len(state["seen"]), self.walks.num_observations), dtype=bool)
            for lane, met in enumerate(state["seen"]):
                self._seen[lane, met] = True

    def _cut(self, fresh: Booleans) -> Window:
        window = super()._cut(fresh)
        before = np.zeros((len(fresh), self.walks.num_observations), dtype=bool)
        if self._seen is not None:
            before[~fresh] = self._seen[~fresh]
        ranks, seen_by = ranks_so_far(self._observed(), before)
        self._seen = seen_by[:, self.steps - 1]
        return replace(window, targets=np.where(window.known, ranks[:, 1:], 0).astype(np.int32))

    def _observed(self) -> Integers:
        """(B, T + S): the window's observations and those that its heads look ahead to."""
        steps = self._start[:, None] + np.arange(self.steps + self.ahead)
        return self.walks.observations[self._walk[:, None], np.minimum(steps, self.walks.num_steps - 1)]
