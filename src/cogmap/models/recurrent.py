"""Recurrent encoders. The GRU has a training step of its own for CPUs, where torch's spends most of its time
outside of matrix products: it adds a weight gradient at every time step, where one product over all steps will do."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState


class RecurrentEncoder(nn.Module):
    """A GRU or LSTM over one sum of two embeddings a step."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.is_gru = config.encoder == "gru"
        self.width, self.layers = config.width, config.layers
        self.observation_embedding = nn.Embedding(config.num_observations, config.width)
        self.action_embedding = nn.Embedding(config.num_actions + 1, config.width)
        for embedding in (self.observation_embedding, self.action_embedding):
            nn.init.normal_(embedding.weight, std=0.5)
        cell = nn.GRU if self.is_gru else nn.LSTM
        self.cell = cell(config.width, config.width, num_layers=config.layers, batch_first=True)

    def begin(self, walks: int, device: torch.device) -> EncoderState:
        empty = torch.zeros(self.layers, walks, self.width, device=device)
        return EncoderState((empty,) if self.is_gru else (empty, empty.clone()))

    def forward(
        self, observations: Tensor, actions: Tensor, state: EncoderState | None = None, remember: bool = True
    ) -> tuple[Tensor, EncoderState | None]:
        """`remember` is for encoders that save work when the state is not wanted; here it comes for nothing."""
        if state is None:
            state = self.begin(observations.shape[0], observations.device)
        if self.is_gru and observations.device.type == "cpu":
            # The first layer's input gates are looked up instead of multiplied out.
            return self._scan(self._first_gates(observations.t(), actions.t()), state)
        embedded = self.observation_embedding(observations) + self.action_embedding(actions)  # (B, N, D)
        return self.read(embedded, state)

    def read(
        self, tokens: Tensor, state: EncoderState | None, remember: bool = True
    ) -> tuple[Tensor, EncoderState]:
        """As `forward`, of tokens (B, N, D) made elsewhere."""
        if state is None:
            state = self.begin(tokens.shape[0], tokens.device)
        if self.is_gru and tokens.device.type == "cpu":
            return self._scan(self._input_gates(tokens.transpose(0, 1), layer=0), state)
        memory = state.tensors[0] if self.is_gru else state.tensors
        outputs, memory = self.cell(tokens, memory)
        return outputs, EncoderState((memory,) if self.is_gru else tuple(memory))

    def _scan(self, gates: Tensor, state: EncoderState) -> tuple[Tensor, EncoderState]:
        """The GRU by its own training step, from the first layer's input gates (N, B, 3D)."""
        finals: list[Tensor] = []
        outputs = gates
        for layer in range(self.layers):
            if layer:
                gates = self._input_gates(outputs, layer)
            weight, bias = (self.cell.get_parameter(f"{name}_hh_l{layer}") for name in ("weight", "bias"))
            candidate_bias = bias[2 * self.width :]
            outputs, final = _GruScan.apply(gates, state.tensors[0][layer], weight.t(), candidate_bias)
            finals.append(final)
        return outputs.transpose(0, 1), EncoderState((torch.stack(finals),))

    def _input_gates(self, inputs: Tensor, layer: int) -> Tensor:
        """Of inputs (..., D): (..., 3D), biases included where the hidden state does not come between."""
        weight, bias = (self.cell.get_parameter(f"{name}_ih_l{layer}") for name in ("weight", "bias"))
        hidden_bias: Tensor = self.cell.get_parameter(f"bias_hh_l{layer}")
        reset_update_bias = nn.functional.pad(hidden_bias[: 2 * self.width], (0, self.width))
        return nn.functional.linear(inputs, weight, bias + reset_update_bias)

    def _first_gates(self, observations: Tensor, actions: Tensor) -> Tensor:
        """(N, B, 3D) of observations and actions (N, B): a look-up, in a table of all pairs where there are few."""
        from_action = self._input_gates(self.action_embedding.weight, layer=0)  # (A + 1, 3D)
        from_observation = self.observation_embedding.weight @ self.cell.get_parameter("weight_ih_l0").t()
        pairs = len(from_observation) * len(from_action)
        if pairs > observations.numel():
            seen = nn.functional.embedding(observations, from_observation)
            return seen + nn.functional.embedding(actions, from_action)
        table = (from_observation[:, None] + from_action).flatten(0, 1)
        return nn.functional.embedding(observations * len(from_action) + actions, table)


def gate_slopes(
    reset: Tensor, update: Tensor, candidate: Tensor, recalled: Tensor, before: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The factors of the gates' gradients that do not wait for a later step's, for all steps at once, in their order.

    All are (N, ..., D): what the gates were, what the candidate took from the hidden state, and that state.
    """
    to_reset = recalled * reset * (1 - reset)
    to_update = (before - candidate) * update * (1 - update)
    to_candidate = (1 - update) * (1 - candidate.square())
    return to_reset, to_update, to_candidate


def write_gate_gradients(
    onward: Tensor,
    slopes: tuple[Tensor, Tensor, Tensor],
    reset: Tensor,
    step: int,
    gates: Tensor,
    at_candidate: Tensor,
) -> None:
    """Fill in one step's gradients at the hidden side of the gates and at the candidate.

    onward: (..., D) what reaches the hidden state after the step. slopes: from `gate_slopes`. reset, at_candidate:
    (N, ..., D). gates: (N, ..., 3D).
    """
    to_reset, to_update, to_candidate = slopes
    torch.mul(onward, to_candidate[step], out=at_candidate[step])
    at_reset, at_update, at_recalled = gates[step].chunk(3, dim=-1)
    torch.mul(at_candidate[step], to_reset[step], out=at_reset)
    torch.mul(onward, to_update[step], out=at_update)
    torch.mul(at_candidate[step], reset[step], out=at_recalled)


class _GruScan(torch.autograd.Function):
    """A GRU layer over time, given its input gates; gate order reset, update, candidate as in torch.nn.GRU."""

    @staticmethod
    def forward(
        context: Any, input_gates: Tensor, first: Tensor, weight: Tensor, candidate_bias: Tensor
    ) -> tuple[Tensor, Tensor]:
        steps, walks, _ = input_gates.shape
        width = first.shape[1]
        reset_update = input_gates[..., : 2 * width].clone()  # (N, B, 2D)
        candidate = input_gates[..., 2 * width :].clone()  # (N, B, D)
        # What the candidate gate takes from the hidden state.
        recalled = input_gates.new_empty(steps, walks, width)
        hidden = input_gates.new_empty(steps + 1, walks, width)
        hidden[0] = first
        to_reset_update, to_candidate = weight[:, : 2 * width], weight[:, 2 * width :]
        for step in range(steps):
            before = hidden[step]
            reset, update = reset_update[step].addmm_(before, to_reset_update).sigmoid_().chunk(2, dim=1)
            torch.addmm(candidate_bias, before, to_candidate, out=recalled[step])
            torch.lerp(
                candidate[step].addcmul_(reset, recalled[step]).tanh_(), before, update, out=hidden[step + 1]
            )
        context.save_for_backward(reset_update, candidate, recalled, hidden, weight)
        return hidden[1:], hidden[-1].clone()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        from_outputs, onward = gradients
        reset_update, candidate, recalled, hidden, weight = context.saved_tensors
        steps, walks, width = candidate.shape
        reset, update = reset_update.chunk(2, dim=2)
        slopes = gate_slopes(reset, update, candidate, recalled, hidden[:-1])
        gates = candidate.new_empty(steps, walks, 3 * width)  # gradient at the hidden side of the gates
        at_candidate = torch.empty_like(candidate)
        weight_back = weight.t().contiguous()
        for step in range(steps - 1, -1, -1):
            onward = onward + from_outputs[step]
            write_gate_gradients(onward, slopes, reset, step, gates, at_candidate)
            onward = torch.addmm(onward * update[step], gates[step], weight_back)
        flat = gates.view(steps * walks, 3 * width)
        weight_gradient = hidden[:-1].reshape(steps * walks, width).t() @ flat
        input_gates = torch.cat([gates[..., : 2 * width], at_candidate], dim=2)
        return input_gates, onward, weight_gradient, flat[:, 2 * width :].sum(0)
