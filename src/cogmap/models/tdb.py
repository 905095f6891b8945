"""The transformer with discrete bottleneck(s), and its rival without."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from cogmap.models.bottleneck import Quantized, make_bottlenecks
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.heads import CodeLogits, Head, following_actions
from cogmap.models.recurrent import RecurrentEncoder
from cogmap.models.seen_set_encoder import SeenEncoder
from cogmap.models.slot_encoder import NamelessEncoder
from cogmap.models.transformer import TransformerEncoder


@dataclass(frozen=True)
class Forward:
    """All that a pass over a window gives the losses."""

    logits: tuple[Tensor, ...]  # S times (B, N, targets): of the observation s + 1 steps ahead
    quantized: Quantized | None  # None while the bottleneck is off, and for a vanilla model
    next_encoding: Tensor | None  # (B, N, M * W): g's guess of the next step's vectors
    state: EncoderState | None  # None unless it was to be remembered


class TDB(nn.Module):
    """Encoder, bottleneck(s), heads. The code at step n has seen x_0, a_0, ..., x_n; a_n enters at the heads."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = make_encoder(config)
        self.bottlenecks = make_bottlenecks(config)
        code_width = config.bottlenecks * config.entry_width
        self.heads = nn.ModuleList(
            Head(config, code_width, sequence, config.num_targets)
            for sequence in range(1, config.prediction_steps + 1)
        )
        self.code_logits = CodeLogits(config) if config.code_logits else None
        self.to_next_encoding = Head(config, code_width, 1, code_width) if config.next_encoding else None

    def forward(
        self,
        observations: Tensor,
        actions: Tensor,
        first_action: Tensor,
        state: EncoderState | None = None,
        strength: float = 1.0,
        remember: bool = True,
    ) -> Forward:
        """Observations (B, N) with the actions after them (B, N + S - 1); `first_action` (B,) led to the first.

        `strength` is how far the bottleneck is closed: at 0 it is off, and there are no codes.
        """
        steps = observations.shape[1]
        arrivals = previous_actions(actions, first_action, steps)
        outputs, state = self.encoder(observations, arrivals, state, remember)
        quantized = self.bottlenecks(outputs, observations, strength) if strength else None
        vectors = self.bottlenecks.project(outputs).flatten(2) if quantized is None else quantized.vectors
        logits = tuple(
            head(vectors, following_actions(actions, sequence, steps))
            for sequence, head in enumerate(self.heads, 1)
        )
        if self.code_logits is not None and quantized is not None:
            logits = tuple(map(torch.add, logits, self.code_logits(quantized.codes)))
        guess = None
        if self.to_next_encoding is not None and quantized is not None:
            guess = self.to_next_encoding(vectors, following_actions(actions, 1, steps))
        return Forward(logits, quantized, guess, state)

    def encode(
        self, observations: Tensor, arrivals: Tensor, state: EncoderState | None = None
    ) -> tuple[Tensor, EncoderState | None]:
        """Codes (B, N, M) of observations (B, N) and the actions that led to each (B, N), 0 for none."""
        outputs, state = self.encoder(observations, arrivals, state)
        return self.bottlenecks.nearest_code(self.bottlenecks.project(outputs), observations), state

    def next_logits(self, vectors: Tensor, actions: Tensor, codes: Tensor | None = None) -> Tensor:
        """(B, N, targets): what f^(0) expects after each step's vectors (B, N, M * W) and action (B, N).

        codes: (B, N, M), where the bottleneck is closed.
        """
        logits: Tensor = self.heads[0](vectors, actions.unsqueeze(2))
        if self.code_logits is not None and codes is not None:
            logits = logits + self.code_logits(codes)[0]
        return logits


class VanillaModel(nn.Module):
    """Predicts the next observation from all that was seen and done so far, without a bottleneck.

    The paper's reads pairs (x, a) and has a linear layer on the encoder's output. With `action_at_head` the encoder
    says where the agent is, as a TDB's does, and the head what a_n will show there, which takes fewer steps to learn.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = make_encoder(config)
        if config.action_at_head:
            self.head: Head | None = Head(config, config.width, 1, config.num_targets)
        else:
            self.head, self.to_logits = None, nn.Linear(config.width, config.num_targets)

    def forward(
        self,
        observations: Tensor,
        actions: Tensor,
        first_action: Tensor,
        state: EncoderState | None = None,
        strength: float = 1.0,
        remember: bool = True,
    ) -> Forward:
        """As a TDB's; `strength` does not matter here, and `first_action` only with `action_at_head`."""
        steps = observations.shape[1]
        if self.head is None:
            outputs, state = self.encoder(observations, actions[:, :steps] + 1, state, remember)
            return Forward((self.to_logits(outputs),), None, None, state)
        arrivals = previous_actions(actions, first_action, steps)
        outputs, state = self.encoder(observations, arrivals, state, remember)
        logits = self.head(outputs, following_actions(actions, 1, steps))
        return Forward((logits,), None, None, state)


Model = TDB | VanillaModel


def make_model(config: ModelConfig) -> Model:
    return VanillaModel(config) if config.vanilla else TDB(config)


Encoder = TransformerEncoder | RecurrentEncoder | SeenEncoder | NamelessEncoder


def make_encoder(config: ModelConfig) -> Encoder:
    if config.nameless:
        return NamelessEncoder(config)
    reader = TransformerEncoder(config) if config.encoder == "transformer" else RecurrentEncoder(config)
    return SeenEncoder(config, reader) if config.seen_so_far else reader


def previous_actions(actions: Tensor, first_action: Tensor, steps: int) -> Tensor:
    """(B, steps): the action before each observation, counted from 1; `first_action` (B,) is counted so already."""
    return torch.cat([first_action[:, None], actions[:, : steps - 1] + 1], dim=1)
