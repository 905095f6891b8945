"""An encoder that is given the set of observations seen so far: for families of rooms, trained in base.

A target in base is a rank among what was seen, so before any map can be learned the model has to learn which
observations this room has, and how they rank. Left to a recurrent state alone this takes most of the training. Here the
set of observations seen is kept beside the state, exactly, and a token is a small network of the present observation
and that set. What the set *means* is still learned, from every pair of colours that share a room, and so from many
rooms or not at all.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.recurrent import RecurrentEncoder
from cogmap.models.transformer import TransformerEncoder


class SeenEncoder(nn.Module):
    """Tokens of what is seen and what was seen, read by a recurrent network or a transformer.

    Its state is the reader's, and last the observations met so far, (1, B, O) of booleans.
    """

    def __init__(self, config: ModelConfig, reader: RecurrentEncoder | TransformerEncoder) -> None:
        super().__init__()
        self.reader = reader
        self.num_observations = config.num_observations
        self.from_seen = nn.Linear(config.num_observations, config.width)
        self.mix = nn.Sequential(nn.GELU(), nn.Linear(config.width, config.width))
        self.to_present = nn.Linear(config.width, config.num_targets)
        nn.init.normal_(self.from_seen.weight, std=0.5)

    def begin(self, walks: int, device: torch.device) -> EncoderState:
        nothing = torch.zeros(1, walks, self.num_observations, dtype=torch.bool, device=device)
        return EncoderState((*self.reader.begin(walks, device).tensors, nothing))

    def forward(
        self, observations: Tensor, actions: Tensor, state: EncoderState | None = None, remember: bool = True
    ) -> tuple[Tensor, EncoderState | None]:
        tokens, seen = self._tokens(observations, state)
        within = None if state is None else EncoderState(state.tensors[:-1])
        tokens = tokens + self.reader.action_embedding(actions)
        outputs, kept = self.reader.read(tokens, within, remember)
        if kept is None:
            return outputs, None
        return outputs, EncoderState((*kept.tensors, seen[None, :, -1]))

    def present_logits(self, observations: Tensor, state: EncoderState | None) -> Tensor:
        """(B, N, targets): the present observation's own target, read off the tokens (B, N, D) alone."""
        logits: Tensor = self.to_present(self._tokens(observations, state)[0])
        return logits

    def _tokens(self, observations: Tensor, state: EncoderState | None) -> tuple[Tensor, Tensor]:
        """Tokens (B, N, D) without their actions, and what was met by each step (B, N, O)."""
        now = nn.functional.one_hot(observations, self.num_observations)
        seen = now.cumsum(dim=1) > 0
        if state is not None:
            seen = seen | state.tensors[-1][0, :, None]
        mixed: Tensor = self.mix(
            self.reader.observation_embedding(observations) + self.from_seen(seen.float())
        )
        return mixed, seen
