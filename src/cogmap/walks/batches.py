"""Seeded batches of windows, cut from walks of any length.

A lane is one row of the batch. It either continues where its last window ended, so that an encoder can carry its state,
or starts afresh at a random step of a random walk. A fresh start trains the model to localise itself; whole walks would
contain only one start each.

Where walks start at a known state, a share of the fresh lanes starts with the walk. "No action before" then means
that start, and lanes that start elsewhere are told the action before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.records import Booleans, Integers, Walks
from cogmap.walks.log import WalkLog


@dataclass(frozen=True)
class Window:
    """A batch: T steps to encode, and S more steps that the heads predict."""

    observations: Integers  # (B, T)
    actions: Integers  # (B, T + S - 1) actions[b, n] is taken after observations[b, n]
    targets: Integers  # (B, T + S - 1) targets[b, n] is one step after observations[b, n]
    known: Booleans  # (B, T + S - 1) false after the end of the walk
    previous_action: Integers  # (B,) the action before the first observation, counted from 1; 0 is none
    fresh: Booleans  # (B,) lanes that do not continue the last window


class WindowSampler:
    """Draws windows without end. Its state is a few numbers that can be saved and restored."""

    def __init__(
        self,
        walks: Walks,
        targets: Integers | None,
        batch_size: int,
        steps: int,
        ahead: int,
        fresh_share: float,
        seed: int,
        start_share: float = 0.0,
    ) -> None:
        if ahead >= walks.lengths.max():
            rule = f"`prediction_steps` (={ahead}) must be below the longest walk's length (={walks.lengths.max()})"
            raise BadConfig(rule)
        # targets (B, N): what to predict at each step; None is the observations themselves
        self.walks, self.targets = walks, targets
        self.steps, self.ahead = steps, ahead
        self.fresh_share, self.start_share = fresh_share, start_share
        self._rng = np.random.default_rng(seed)
        moves = walks.lengths.astype(np.float64) - 1
        chances = np.cumsum(moves / moves.sum())
        self._up_to = (
            chances / chances[-1]
        )  # (B,) the probability of a walk, or one before it, in proportion to moves
        self._walk = np.zeros(batch_size, dtype=np.int64)  # (B,) the walk of each lane
        self._start = np.full(batch_size, walks.num_steps)  # (B,) start of its next window; here past the end

    def next(self) -> Window:
        fits = self._start + self.steps + self.ahead <= self.walks.lengths[self._walk]
        fresh = ~fits | (self._rng.random(len(self._walk)) < self.fresh_share)
        self._jump(fresh)
        window = self._cut(fresh)
        self._start = self._start + self.steps
        return window

    def state(self) -> dict[str, Any]:
        """The state for `restore`, as JSON values."""
        rng = self._rng.bit_generator.state
        return {"rng": rng, "walk": self._walk.tolist(), "start": self._start.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken; a ValueError if that was of other walks."""
        self._rng.bit_generator.state = state["rng"]
        lanes = len(self._walk)
        # An earlier version held out fewer walks, so some lanes may be at one that is not trained on now.
        self._walk = lane_numbers("walk", state["walk"], lanes, 4 * self.walks.num_walks)
        self._start = lane_numbers("start", state["start"], lanes, 2**31)
        gone = self._walk >= self.walks.num_walks
        self._walk[gone], self._start[gone] = 0, self.walks.num_steps

    def _jump(self, fresh: Booleans) -> None:
        """Fresh lanes draw a walk in proportion to its length, then a start that leaves a whole window if possible."""
        count = int(fresh.sum())
        walk = self._up_to.searchsorted(self._rng.random(count), side="right")
        room = np.maximum(self.walks.lengths[walk] - self.steps - self.ahead + 1, 1)
        self._walk[fresh] = walk
        self._start[fresh] = self._rng.integers(0, room)
        if self.start_share:
            self._start[np.flatnonzero(fresh)[self._rng.random(count) < self.start_share]] = 0

    def _cut(self, fresh: Booleans) -> Window:
        walk, start = self._walk[:, None], self._start[:, None]
        last = self.walks.num_steps - 1
        seen = start + np.arange(self.steps)
        done = start + np.arange(self.steps + self.ahead - 1)
        unknown = self._start == 0 if self.start_share else fresh
        before = self._done(walk[:, 0], np.clip(start[:, 0] - 1, 0, last - 1)) + 1
        goal = np.minimum(done + 1, last)
        return Window(
            observations=self._observed(walk, np.minimum(seen, last)),
            actions=self._done(walk, np.minimum(done, last - 1)),
            targets=self._observed(walk, goal) if self.targets is None else self.targets[walk, goal],
            known=done + 1 < self.walks.lengths[walk],
            previous_action=np.where(unknown, 0, before).astype(np.int32),
            fresh=fresh,
        )

    def _observed(self, walk: NDArray[np.int64], step: NDArray[np.int64]) -> Integers:
        """`observations[walk, step]`, also of a log that is not padded."""
        log = self.walks
        return log.observed(walk, step) if isinstance(log, WalkLog) else log.observations[walk, step]

    def _done(self, walk: NDArray[np.int64], step: NDArray[np.int64]) -> Integers:
        log = self.walks
        return log.done(walk, step) if isinstance(log, WalkLog) else log.actions[walk, step]


def lane_numbers(name: str, stored: Any, count: int | None, bound: int) -> NDArray[np.int64]:
    """(count,) stored integers in [0, bound), or a ValueError; any number of them where `count` is None."""
    if not isinstance(stored, list) or not all(type(one) is int and 0 <= one < bound for one in stored):
        raise ValueError(f"`{name}` must be a list of integers from 0 to {bound - 1}")
    if count is not None and len(stored) != count:
        raise ValueError(f"`{name}` must have {count} entries, one a lane, got {len(stored)}")
    return np.array(stored, dtype=np.int64)
