"""A vanilla model as a planner sees it: histories as states that can be continued, branched and kept."""

from __future__ import annotations

from dataclasses import dataclass
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
    """What was read of R walks. The last observation waits for its action: a token is the pair of both."""

    state: EncoderState
    waiting: Tensor  # (R,) the last observation

    def rows(self, index: NDArray[np.integer[Any]]) -> History:
        chosen = torch.as_tensor(np.asarray(index), dtype=torch.long, device=self.waiting.device)
        return History(self.state.rows(chosen), self.waiting[chosen])


class Forecaster:
    """The predictor that `planning.rollouts` asks; each step costs one token, whatever lies behind it."""

    def __init__(self, model: VanillaModel) -> None:
        self.model = model.eval()
        self._device = next(model.parameters()).device

    @torch.inference_mode()
    def begin(self, observations: Integers, actions: Integers) -> History:
        seen, done = self._tensor(observations), self._tensor(actions)
        state = self.model.encoder.begin(len(seen), self._device)
        if done.shape[1]:
            _, state = self.model.encoder(seen[:, :-1], done + 1, state)
        return History(state, seen[:, -1])

    @torch.inference_mode()
    def predict(self, history: History, actions: Integers) -> tuple[Floats, History]:
        done = self._tensor(actions)
        outputs, state = self.model.encoder(history.waiting[:, None], done[:, None] + 1, history.state)
        return self.model.to_logits(outputs[:, 0]).numpy(force=True), History(state, history.waiting)

    def advance(self, history: History, observations: Integers) -> History:
        return History(history.state, self._tensor(observations))

    @torch.inference_mode()
    def read(self, history: History, actions: Integers, observations: Integers) -> tuple[Floats, History]:
        done, seen = self._tensor(actions), self._tensor(observations)
        tokens = torch.cat([history.waiting[:, None], seen[:, :-1]], dim=1)
        outputs, state = self.model.encoder(tokens, done + 1, history.state)
        return self.model.to_logits(outputs).numpy(force=True), History(state, seen[:, -1])

    def _tensor(self, values: Integers) -> Tensor:
        return torch.from_numpy(np.array(values, dtype=np.int64)).to(self._device)
