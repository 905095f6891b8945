"""A vanilla model as a planner sees it: histories as states that can be continued, branched and kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cogmap.models.encoder import EncoderState
from cogmap.models.tdb import VanillaModel
from cogmap.records import Floats, Integers


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
