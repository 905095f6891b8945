"""An encoder whose input includes the set of observations seen so far: for families of rooms, trained in base.

A target in base is a rank among the observations seen. So before a model can learn a map, it must learn which
observations the room has and how they rank; a recurrent state alone takes most of the training for that. Here the set
is part of the state, exactly, and a small network embeds the present observation together with the set. The network
must still learn what the set means from pairs of colours that share a room, so it needs many rooms.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.recurrent import RecurrentEncoder
from cogmap.models.transformer import TransformerEncoder


class SeenSetEncoder(nn.Module):
    """Embeds the present observation with the set of those seen, for a recurrent network or a transformer.

    Its state is the reader's state, followed by the observations seen so far, (1, B, O) booleans.
    """

    def __init__(self, config: ModelConfig, reader: RecurrentEncoder | TransformerEncoder) -> None:
        super().__init__()
        self.reader = reader
        self.num_observations = config.num_observations
        self.from_seen = nn.Linear(config.num_observations, config.width)
        self.mix = nn.Sequential(nn.GELU(), nn.Linear(config.width, config.width))
        self.to_present = nn.Linear(config.width, config.num_targets)
        nn.init.normal_(self.from_seen.weight, std=0.5)

    def initial_state(self, walks: int, device: torch.device) -> EncoderState:
        nothing = torch.zeros(1, walks, self.num_observations, dtype=torch.bool, device=device)
        return EncoderState((*self.reader.initial_state(walks, device).tensors, nothing))

    def forward(
        self,
        observations: Tensor,
        actions: Tensor,
        state: EncoderState | None = None,
        return_state: bool = True,
    ) -> tuple[Tensor, EncoderState | None]:
        tokens, seen = self._tokens(observations, state)
        reader_state = None if state is None else EncoderState(state.tensors[:-1])
        tokens = tokens + self.reader.action_embedding(actions)
        outputs, reader_state = self.reader.encode_tokens(tokens, reader_state, return_state)
        if reader_state is None:
            return outputs, None
        return outputs, EncoderState((*reader_state.tensors, seen[None, :, -1]))

    def present_logits(self, observations: Tensor, state: EncoderState | None) -> Tensor:
        """(B, N, targets): the present observation's own target from the tokens alone, for an auxiliary loss."""
        logits: Tensor = self.to_present(self._tokens(observations, state)[0])
        return logits

    def _tokens(self, observations: Tensor, state: EncoderState | None) -> tuple[Tensor, Tensor]:
        """Tokens (B, N, D) without actions, and the observations seen by each step (B, N, O)."""
        now = nn.functional.one_hot(observations, self.num_observations)
        seen = now.cumsum(dim=1) > 0
        if state is not None:
            seen = seen | state.tensors[-1][0, :, None]
        mixed: Tensor = self.mix(
            self.reader.observation_embedding(observations)
            + self.from_seen(seen.to(self.from_seen.weight.dtype))
        )
        return mixed, seen
