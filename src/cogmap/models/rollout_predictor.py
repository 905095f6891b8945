"""Vanilla models for planning by rollouts: a history is a state that can be extended and branched.

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

NEVER = -1e9  # the logit of observations not seen yet, which a rank cannot distinguish


@dataclass(frozen=True)
class History:
    """The history of R walks. The last observation is not encoded yet: its token needs the next action."""

    state: EncoderState
    last_observation: Tensor  # (R,)
    previous_action: Tensor  # (R,) the action before it, counted from 1; 0 is none

    def rows(self, index: NDArray[np.integer[Any]]) -> History:
        chosen = torch.as_tensor(np.asarray(index), dtype=torch.long, device=self.last_observation.device)
        return History(self.state.rows(chosen), self.last_observation[chosen], self.previous_action[chosen])


class RolloutPredictor:
    """The predictor for `planning.rollouts`. A step costs one token, however long the history."""

    def __init__(self, model: VanillaModel) -> None:
        self.model = model.eval()
        self._device = next(model.parameters()).device

    def begin(self, observations: Integers, actions: Integers) -> History:
        first = self._tensor(observations[:, 0])
        state = self.model.encoder.initial_state(len(first), self._device)
        history = History(state, first, torch.zeros_like(first))
        return self.read(history, actions, observations[:, 1:])[1] if actions.shape[1] else history

    def predict(self, history: History, actions: Integers) -> tuple[Floats, History]:
        done = self._tensor(actions)
        logits, state = self._logits(history, history.last_observation[:, None], done[:, None])
        return logits[:, 0], History(state, history.last_observation, done + 1)

    def advance(self, history: History, observations: Integers) -> History:
        return replace(history, last_observation=self._tensor(observations))

    def read(self, history: History, actions: Integers, observations: Integers) -> tuple[Floats, History]:
        done, seen = self._tensor(actions), self._tensor(observations)
        tokens = torch.cat([history.last_observation[:, None], seen[:, :-1]], dim=1)
        logits, state = self._logits(history, tokens, done)
        return logits, History(state, seen[:, -1], done[:, -1] + 1)

    @torch.inference_mode()
    def _logits(self, history: History, tokens: Tensor, done: Tensor) -> tuple[Floats, EncoderState]:
        """(R, T, targets) after each of the observations (R, T) and actions (R, T)."""
        result = self.model(tokens, done, history.previous_action, history.state)
        return result.logits[0].numpy(force=True), result.state

    def _tensor(self, values: Integers) -> Tensor:
        return torch.from_numpy(np.array(values, dtype=np.int64)).to(self._device)


@dataclass(frozen=True)
class RoomHistory:
    """The history of R walks, and the observations seen in each."""

    history: History
    seen: Booleans  # (R, O)

    def rows(self, index: NDArray[np.integer[Any]]) -> RoomHistory:
        return RoomHistory(self.history.rows(index), self.seen[index])


class InBaseRolloutPredictor:
    """As `RolloutPredictor`, for a model trained in base. Its logits are of observations (R, O), not of ranks."""

    def __init__(self, model: VanillaModel) -> None:
        self._inner = RolloutPredictor(model)
        self._observations = model.config.num_observations

    def begin(self, observations: Integers, actions: Integers) -> RoomHistory:
        seen = (observations[:, :, None] == np.arange(self._observations)).any(axis=1)
        return RoomHistory(self._inner.begin(observations, actions), seen)

    def predict(self, history: RoomHistory, actions: Integers) -> tuple[Floats, RoomHistory]:
        logits, inner = self._inner.predict(history.history, actions)
        return _observation_logits(logits, history.seen), RoomHistory(inner, history.seen)

    def advance(self, history: RoomHistory, observations: Integers) -> RoomHistory:
        seen = history.seen | (observations[:, None] == np.arange(self._observations))
        return RoomHistory(self._inner.advance(history.history, observations), seen)

    def read(
        self, history: RoomHistory, actions: Integers, observations: Integers
    ) -> tuple[Floats, RoomHistory]:
        logits, inner = self._inner.read(history.history, actions, observations)  # (R, T, targets)
        shown = np.maximum.accumulate(observations[:, :, None] == np.arange(self._observations), axis=1)
        after = shown | history.seen[:, None]  # (R, T, O)
        before = np.concatenate([history.seen[:, None], after[:, :-1]], axis=1)
        flat = _observation_logits(
            logits.reshape(-1, logits.shape[2]), before.reshape(-1, self._observations)
        )
        return flat.reshape(*logits.shape[:2], -1), RoomHistory(inner, after[:, -1])


def _observation_logits(logits: Floats, seen: Booleans) -> Floats:
    """Logits of observations (R, O) from logits of ranks (R, targets) among the observations seen (R, O)."""
    rank = np.minimum(np.cumsum(seen, axis=1) - 1, logits.shape[1] - 1)
    return np.where(seen, np.take_along_axis(logits, np.maximum(rank, 0), axis=1), NEVER)


def rows_at_once(config: ModelConfig) -> int:
    """How many rollouts to hold in memory. A transformer keeps its keys and values for each of them."""
    return 200 if config.encoder == "transformer" else 4000
