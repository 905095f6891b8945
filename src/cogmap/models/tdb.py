"""The transformer with discrete bottleneck(s), TDB, and the vanilla baseline without."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from cogmap.models.bottleneck import Quantized, make_bottlenecks
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.heads import CodeLogits, Head, following_actions
from cogmap.models.recurrent import RecurrentEncoder
from cogmap.models.seen_set_encoder import SeenSetEncoder
from cogmap.models.slot_encoder import SlotEncoder
from cogmap.models.transformer import TransformerEncoder


@dataclass(frozen=True)
class Forward:
    """The results of a forward pass over a window."""

    logits: tuple[Tensor, ...]  # S tensors (B, N, targets), for the observation s + 1 steps ahead
    quantized: Quantized | None  # None while the bottleneck is off, and for a vanilla model
    next_encoding: Tensor | None  # (B, N, M * W): g's prediction of the next step's vectors
    state: EncoderState | None  # None without `return_state`


class TDB(nn.Module):
    """Encoder, bottleneck(s), heads. The code at step n depends on x_0, a_0, ..., x_n; a_n enters at the heads."""

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
        previous_action: Tensor,
        state: EncoderState | None = None,
        strength: float = 1.0,
        return_state: bool = True,
    ) -> Forward:
        """Predict from observations (B, N) and the actions after them (B, N + S - 1).

        previous_action: (B,), the action before the first observation, counted from 1; 0 is none.
        strength: how far the bottleneck is annealed; at 0 it is off, and there are no codes.
        """
        steps = observations.shape[1]
        before = previous_actions(actions, previous_action, steps)
        outputs, state = self.encoder(observations, before, state, return_state)
        quantized = self.bottlenecks(outputs, observations, strength) if strength else None
        vectors = self.bottlenecks.project(outputs).flatten(2) if quantized is None else quantized.vectors
        logits = tuple(
            head(vectors, following_actions(actions, sequence, steps))
            for sequence, head in enumerate(self.heads, 1)
        )
        if self.code_logits is not None and quantized is not None:
            logits = tuple(map(torch.add, logits, self.code_logits(quantized.codes)))
        next_encoding = None
        if self.to_next_encoding is not None and quantized is not None:
            next_encoding = self.to_next_encoding(vectors, following_actions(actions, 1, steps))
        return Forward(logits, quantized, next_encoding, state)

    def encode(
        self, observations: Tensor, actions_before: Tensor, state: EncoderState | None = None
    ) -> tuple[Tensor, EncoderState | None]:
        """Codes (B, N, M) of observations (B, N) and the actions before them (B, N), counted from 1; 0 is none."""
        outputs, state = self.encoder(observations, actions_before, state)
        return self.bottlenecks.nearest_code(self.bottlenecks.project(outputs), observations), state

    def next_logits(self, vectors: Tensor, actions: Tensor, codes: Tensor | None = None) -> Tensor:
        """(B, N, targets): the logits of f^(0) for each step's vectors (B, N, M * W) and action (B, N).

        codes: (B, N, M), if the bottleneck is on.
        """
        logits: Tensor = self.heads[0](vectors, actions.unsqueeze(2))
        if self.code_logits is not None and codes is not None:
            logits = logits + self.code_logits(codes)[0]
        return logits


class VanillaModel(nn.Module):
    """The baseline: predicts the next observation from the whole history, without a bottleneck.

    The paper's model encodes pairs (x_n, a_n) and has a linear layer on the encoder's output. With `action_at_head` the
    encoder gets a_{n-1} with x_n, as in a TDB, and a_n enters at the head. This needs fewer training steps.
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
        previous_action: Tensor,
        state: EncoderState | None = None,
        strength: float = 1.0,
        return_state: bool = True,
    ) -> Forward:
        """As in `TDB`. `strength` is ignored, and `previous_action` is used only with `action_at_head`."""
        steps = observations.shape[1]
        if self.head is None:
            outputs, state = self.encoder(observations, actions[:, :steps] + 1, state, return_state)
            return Forward((self.to_logits(outputs),), None, None, state)
        before = previous_actions(actions, previous_action, steps)
        outputs, state = self.encoder(observations, before, state, return_state)
        logits = self.head(outputs, following_actions(actions, 1, steps))
        return Forward((logits,), None, None, state)


Model = TDB | VanillaModel
Encoder = TransformerEncoder | RecurrentEncoder | SeenSetEncoder | SlotEncoder


def make_model(config: ModelConfig) -> Model:
    return VanillaModel(config) if config.vanilla else TDB(config)


def make_encoder(config: ModelConfig) -> Encoder:
    if config.slot_encoder:
        return SlotEncoder(config)
    reader = TransformerEncoder(config) if config.encoder == "transformer" else RecurrentEncoder(config)
    return SeenSetEncoder(config, reader) if config.seen_so_far else reader


def previous_actions(actions: Tensor, previous_action: Tensor, steps: int) -> Tensor:
    """(B, steps): the action before each observation, counted from 1, as `previous_action` (B,) already is."""
    return torch.cat([previous_action[:, None], actions[:, : steps - 1] + 1], dim=1)
