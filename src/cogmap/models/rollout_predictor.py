"""A vanilla model as a planner uses it: histories as states that can be continued, branched and kept.

A model trained in base predicts ranks; its rollout predictor turns them into the room's own observations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.tdb import VanillaModel
from cogmap.records import Booleans, Floats, Integers


@dataclass(frozen=True)
class History:
    """What was read of R walks. The last observation is not: the model reads it with the action to come."""

    state: EncoderState
    waiting: Tensor  # (R,) the last observation
    arrival: Tensor  # (R,) the action that led to it, counted from 1; 0 for none

    def rows(self, index: NDArray[np.integer[Any]]) -> History:
        chosen = torch.as_tensor(np.asarray(index), dtype=torch.long, device=self.waiting.device)
        return History(self.state.rows(chosen), self.waiting[chosen], self.arrival[chosen])


class Forecaster:
    """The predictor that `planning.rollouts` asks; each step costs one token, whatever lies behind it."""

    def __init__(self, model: VanillaModel) -> None:
        self.model = model.eval()
        self._device = next(model.parameters()).device

    def begin(self, observations: Integers, actions: Integers) -> History:
        first = self._tensor(observations[:, 0])
        state = self.model.encoder.begin(len(first), self._device)
        nothing = History(state, first, torch.zeros_like(first))
        return self.read(nothing, actions, observations[:, 1:])[1] if actions.shape[1] else nothing

    def predict(self, history: History, actions: Integers) -> tuple[Floats, History]:
        done = self._tensor(actions)
        logits, state = self._logits(history, history.waiting[:, None], done[:, None])
        return logits[:, 0], History(state, history.waiting, done + 1)

    def advance(self, history: History, observations: Integers) -> History:
        return replace(history, waiting=self._tensor(observations))

    def read(self, history: History, actions: Integers, observations: Integers) -> tuple[Floats, History]:
        done, seen = self._tensor(actions), self._tensor(observations)
        tokens = torch.cat([history.waiting[:, None], seen[:, :-1]], dim=1)
        logits, state = self._logits(history, tokens, done)
        return logits, History(state, seen[:, -1], done[:, -1] + 1)

    @torch.inference_mode()
    def _logits(self, history: History, tokens: Tensor, done: Tensor) -> tuple[Floats, EncoderState]:
        """(R, T, targets) after each of the tokens (R, T) and the actions done on them (R, T)."""
        result = self.model(tokens, done, history.arrival, history.state)
        return result.logits[0].numpy(force=True), result.state

    def _tensor(self, values: Integers) -> Tensor:
        return torch.from_numpy(np.array(values, dtype=np.int64)).to(self._device)


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


def rows_at_once(config: ModelConfig) -> int:
    """Rollouts held together. A transformer keeps keys and values of all it has read for each of them."""
    return 200 if config.encoder == "transformer" else 4000
