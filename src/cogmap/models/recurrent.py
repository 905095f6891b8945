"""Recurrent encoders. On CPUs the GRU has its own forward and backward pass.

Why: torch's GRU on a CPU accumulates the weight gradient at every time step. Here one matrix product over all steps
computes it. `python -m benchmarks.training` prints how many times faster that is.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState


class RecurrentEncoder(nn.Module):
    """A GRU or LSTM. The input of a step is the sum of two embeddings."""

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
        self.drop = nn.Dropout(config.dropout)  # of the inputs and the outputs

    def initial_state(self, walks: int, device: torch.device) -> EncoderState:
        zeros = torch.zeros(self.layers, walks, self.width, device=device)
        return EncoderState((zeros,) if self.is_gru else (zeros, zeros.clone()))

    def forward(
        self,
        observations: Tensor,
        actions: Tensor,
        state: EncoderState | None = None,
        return_state: bool = True,
    ) -> tuple[Tensor, EncoderState | None]:
        """`return_state` saves work in other encoders; here the state is returned in any case."""
        if state is None:
            state = self.initial_state(observations.shape[0], observations.device)
        dropping = self.training and self.drop.p > 0
        if self.is_gru and observations.device.type == "cpu" and not dropping:
            # The first layer's input gates come from a table instead of a matrix product.
            return self._scan(self._first_gates(observations.t(), actions.t()), state)
        embedded = self.observation_embedding(observations) + self.action_embedding(actions)  # (B, N, D)
        return self.encode_tokens(embedded, state)

    def encode_tokens(
        self, tokens: Tensor, state: EncoderState | None, return_state: bool = True
    ) -> tuple[Tensor, EncoderState]:
        """As `forward`, for embedded tokens (B, N, D)."""
        if state is None:
            state = self.initial_state(tokens.shape[0], tokens.device)
        tokens = self.drop(tokens)
        if self.is_gru and tokens.device.type == "cpu":
            outputs, after = self._scan(self._input_gates(tokens.transpose(0, 1), layer=0), state)
        else:
            memory = state.tensors[0] if self.is_gru else state.tensors
            outputs, memory = self.cell(tokens, memory)
            after = EncoderState((memory,) if self.is_gru else tuple(memory))
        return self.drop(outputs), after

    def _scan(self, gates: Tensor, state: EncoderState) -> tuple[Tensor, EncoderState]:
        """All layers of the GRU, given the first layer's input gates (N, B, 3D)."""
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
        """(..., 3D) from inputs (..., D), with all biases that are not multiplied by the reset gate."""
        weight, bias = (self.cell.get_parameter(f"{name}_ih_l{layer}") for name in ("weight", "bias"))
        hidden_bias: Tensor = self.cell.get_parameter(f"bias_hh_l{layer}")
        reset_update_bias = nn.functional.pad(hidden_bias[: 2 * self.width], (0, self.width))
        return nn.functional.linear(inputs, weight, bias + reset_update_bias)

    def _first_gates(self, observations: Tensor, actions: Tensor) -> Tensor:
        """(N, B, 3D) from observations and actions (N, B), by look-up; in a table of all pairs if there are few."""
        from_action = self._input_gates(self.action_embedding.weight, layer=0)  # (A + 1, 3D)
        from_observation = self.observation_embedding.weight @ self.cell.get_parameter("weight_ih_l0").t()
        pairs = len(from_observation) * len(from_action)
        if pairs > observations.numel():
            seen = nn.functional.embedding(observations, from_observation)
            return seen + nn.functional.embedding(actions, from_action)
        table = (from_observation[:, None] + from_action).flatten(0, 1)
        return nn.functional.embedding(observations * len(from_action) + actions, table)


def gate_derivatives(
    reset: Tensor, update: Tensor, candidate: Tensor, hidden_candidate: Tensor, before: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The factors of the gradients at reset, update and candidate that need no later step, for all steps at once.

    All are (N, ..., D): the gates' values, the hidden state's input to the candidate, and the hidden state before.
    """
    of_reset = hidden_candidate * reset * (1 - reset)
    of_update = (before - candidate) * update * (1 - update)
    of_candidate = (1 - update) * (1 - candidate.square())
    return of_reset, of_update, of_candidate


def write_gate_gradients(
    grad_hidden: Tensor,
    derivatives: tuple[Tensor, Tensor, Tensor],
    reset: Tensor,
    step: int,
    grad_gates: Tensor,
    grad_candidate: Tensor,
) -> None:
    """Fill in the gradients of one step: at the hidden state's part of the gates, and at the candidate.

    grad_hidden: (..., D), at the hidden state after the step. derivatives: from `gate_derivatives`.
    reset, grad_candidate: (N, ..., D). grad_gates: (N, ..., 3D).
    """
    of_reset, of_update, of_candidate = derivatives
    torch.mul(grad_hidden, of_candidate[step], out=grad_candidate[step])
    grad_reset, grad_update, grad_hidden_candidate = grad_gates[step].chunk(3, dim=-1)
    torch.mul(grad_candidate[step], of_reset[step], out=grad_reset)
    torch.mul(grad_hidden, of_update[step], out=grad_update)
    torch.mul(grad_candidate[step], reset[step], out=grad_hidden_candidate)


class _GruScan(torch.autograd.Function):
    """A GRU layer over all steps, given its input gates, in the order reset, update, candidate as in torch.nn.GRU."""

    @staticmethod
    def forward(
        context: Any, input_gates: Tensor, first: Tensor, weight: Tensor, candidate_bias: Tensor
    ) -> tuple[Tensor, Tensor]:
        steps, walks, _ = input_gates.shape
        width = first.shape[1]
        reset_update = input_gates[..., : 2 * width].clone()  # (N, B, 2D)
        candidate = input_gates[..., 2 * width :].clone()  # (N, B, D)
        # The hidden state's input to the candidate.
        hidden_candidate = input_gates.new_empty(steps, walks, width)
        hidden = input_gates.new_empty(steps + 1, walks, width)
        hidden[0] = first
        to_reset_update, to_candidate = weight[:, : 2 * width], weight[:, 2 * width :]
        for step in range(steps):
            before = hidden[step]
            reset, update = reset_update[step].addmm_(before, to_reset_update).sigmoid_().chunk(2, dim=1)
            torch.addmm(candidate_bias, before, to_candidate, out=hidden_candidate[step])
            candidate[step].addcmul_(reset, hidden_candidate[step]).tanh_()
            torch.lerp(candidate[step], before, update, out=hidden[step + 1])
        context.save_for_backward(reset_update, candidate, hidden_candidate, hidden, weight)
        return hidden[1:], hidden[-1].clone()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        grad_outputs, grad_hidden = gradients
        reset_update, candidate, hidden_candidate, hidden, weight = context.saved_tensors
        steps, walks, width = candidate.shape
        reset, update = reset_update.chunk(2, dim=2)
        derivatives = gate_derivatives(reset, update, candidate, hidden_candidate, hidden[:-1])
        grad_gates = candidate.new_empty(steps, walks, 3 * width)  # at the hidden state's part of the gates
        grad_candidate = torch.empty_like(candidate)
        weight_back = weight.t().contiguous()
        for step in range(steps - 1, -1, -1):
            grad_hidden = grad_hidden + grad_outputs[step]
            write_gate_gradients(grad_hidden, derivatives, reset, step, grad_gates, grad_candidate)
            grad_hidden = torch.addmm(grad_hidden * update[step], grad_gates[step], weight_back)
        flat = grad_gates.view(steps * walks, 3 * width)
        grad_weight = hidden[:-1].reshape(steps * walks, width).t() @ flat
        grad_input_gates = torch.cat([grad_gates[..., : 2 * width], grad_candidate], dim=2)
        return grad_input_gates, grad_hidden, grad_weight, flat[:, 2 * width :].sum(0)
