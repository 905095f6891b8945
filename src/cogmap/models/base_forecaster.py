"""A vanilla model trained in base as a planner sees it: ranks it foretells become the room's own observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.models.forecaster import Forecaster, History
from cogmap.models.tdb import VanillaModel
from cogmap.records import Booleans, Floats, Integers

NEVER = -1e9  # the logit of what the room has not shown yet: a rank cannot say which of them it would be


@dataclass(frozen=True)
class RoomHistory:
    """What was read of R walks, and what each has shown."""

    history: History
    met: Booleans  # (R, O)

    def rows(self, index: NDArray[np.integer[Any]]) -> RoomHistory:
        return RoomHistory(self.history.rows(index), self.met[index])


class BaseForecaster:
    """As `Forecaster`, with logits of observations (R, O)."""

    def __init__(self, model: VanillaModel) -> None:
        self._inner = Forecaster(model)
        self._observations = model.config.num_observations

    def begin(self, observations: Integers, actions: Integers) -> RoomHistory:
        met = (observations[:, :, None] == np.arange(self._observations)).any(axis=1)
        return RoomHistory(self._inner.begin(observations, actions), met)

    def predict(self, history: RoomHistory, actions: Integers) -> tuple[Floats, RoomHistory]:
        logits, inner = self._inner.predict(history.history, actions)
        return _of_observations(logits, history.met), RoomHistory(inner, history.met)

    def advance(self, history: RoomHistory, observations: Integers) -> RoomHistory:
        met = history.met | (observations[:, None] == np.arange(self._observations))
        return RoomHistory(self._inner.advance(history.history, observations), met)

    def read(
        self, history: RoomHistory, actions: Integers, observations: Integers
    ) -> tuple[Floats, RoomHistory]:
        logits, inner = self._inner.read(history.history, actions, observations)  # (R, T, targets)
        shown = np.maximum.accumulate(observations[:, :, None] == np.arange(self._observations), axis=1)
        after = shown | history.met[:, None]  # (R, T, O)
        before = np.concatenate([history.met[:, None], after[:, :-1]], axis=1)
        found = _of_observations(logits.reshape(-1, logits.shape[2]), before.reshape(-1, self._observations))
        return found.reshape(*logits.shape[:2], -1), RoomHistory(inner, after[:, -1])


def _of_observations(logits: Floats, met: Booleans) -> Floats:
    """Logits (R, O) of observations from those of ranks (R, targets) among the ones met (R, O)."""
    rank = np.minimum(np.cumsum(met, axis=1) - 1, logits.shape[1] - 1)
    return np.where(met, np.take_along_axis(logits, np.maximum(rank, 0), axis=1), NEVER)
