"""Recurrent encoders. On CPUs the GRU has its own forward and backward pass.

Why: torch's GRU on a CPU accumulates the weight gradient at every time step. Here one matrix product over all steps
computes it, and products may be in lower precision while the state is not. `python -m benchmarks.training` prints how
many times faster that is.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState

_tanh_backward, _sigmoid_backward = (
    torch.ops.aten.tanh_backward.grad_input,
    torch.ops.aten.sigmoid_backward.grad_input,
)


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
            with torch.autocast("cpu", enabled=False):
                gates = self._first_gates(observations.t(), actions.t())
            return self._scan(gates, state)
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
            with torch.autocast("cpu", enabled=False):  # torch's cells do not mix types there
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
        return nn.functional.linear(inputs, weight, bias + reset_update_bias).to(weight.dtype)

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


def write_gate_gradients(
    grad_hidden: Tensor, gates: tuple[Tensor, Tensor, Tensor, Tensor], before: Tensor, grad_inputs: Tensor
) -> Tensor:
    """Fill in the gradients of one step at the input gates (..., 3D). Returns that at the hidden state's part of the
    candidate (..., D); its parts of the other gates are added to the inputs, and have the same gradient.

    One step at a time: what a step needs fits in the processor's cache, what all steps need does not.

    grad_hidden: (..., D), at the hidden state after the step. before: (..., D), the hidden state before it.
    gates: reset, update, candidate, and the hidden state's input to the candidate, each (..., D).
    """
    reset, update, candidate, hidden_candidate = gates
    grad_reset, grad_update, grad_candidate = grad_inputs.chunk(3, dim=-1)
    through = torch.addcmul(grad_hidden, grad_hidden, update, value=-1)
    _tanh_backward(through, candidate, grad_input=grad_candidate)
    _sigmoid_backward(torch.mul(grad_candidate, hidden_candidate, out=through), reset, grad_input=grad_reset)
    torch.sub(before, candidate, out=through)
    _sigmoid_backward(through.mul_(grad_hidden), update, grad_input=grad_update)
    return torch.mul(grad_candidate, reset, out=through)


class _GruScan(torch.autograd.Function):
    """A GRU layer over all steps, given its input gates, in the order reset, update, candidate as in torch.nn.GRU.

    Under autocast the products with the weights are in its lower precision, all else is as exact as the inputs.
    """

    @staticmethod
    def forward(
        context: Any, input_gates: Tensor, first: Tensor, weight: Tensor, candidate_bias: Tensor
    ) -> tuple[Tensor, Tensor]:
        steps, walks, _ = input_gates.shape
        width = first.shape[1]
        widths = (2 * width, width)
        weight = weight.to(product_type(weight))
        reset_update = input_gates.new_empty(steps, walks, 2 * width)
        candidate = input_gates.new_empty(steps, walks, width)
        # The hidden state's input to the candidate.
        hidden_candidate = input_gates.new_empty(steps, walks, width)
        hidden = input_gates.new_empty(steps + 1, walks, width)
        hidden[0] = first
        inputs = input_gates.split(widths, dim=2)
        parts = zip(*inputs, reset_update, candidate, hidden_candidate, hidden, hidden[1:], strict=False)
        for gates_in, candidate_in, gates, new, own, before, after in parts:
            from_gates, from_candidate = (before.to(weight.dtype) @ weight).split(widths, dim=1)
            torch.add(gates_in, from_gates, out=gates)
            torch.add(candidate_bias, from_candidate, out=own)
            reset, update = gates.sigmoid_().chunk(2, dim=1)
            _tanh(torch.addcmul(candidate_in, reset, own, out=new))
            torch.lerp(new, before, update, out=after)
        context.save_for_backward(reset_update, candidate, hidden_candidate, hidden, weight)
        return hidden[1:], hidden[-1].clone()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        grad_outputs, grad_hidden = gradients
        reset_update, candidate, hidden_candidate, hidden, weight = context.saved_tensors
        steps, walks, width = candidate.shape
        # At the hidden state's part of the gates, in the precision of products.
        grad_gates = weight.new_empty(steps, walks, 3 * width)
        grad_inputs = candidate.new_empty(steps, walks, 3 * width)
        weight_back = weight.t().contiguous()
        saved = zip(*reset_update.chunk(2, dim=2), candidate, hidden_candidate, strict=True)
        parts = zip(saved, hidden[:-1], grad_outputs, grad_gates, grad_inputs, strict=True)
        for gates, before, grad_output, grad_own, grad_input in reversed(list(parts)):
            grad_hidden = grad_hidden + grad_output
            through_candidate = write_gate_gradients(grad_hidden, gates, before, grad_input)
            grad_own[:, : 2 * width] = grad_input[:, : 2 * width]
            grad_own[:, 2 * width :] = through_candidate
            grad_hidden = grad_hidden.mul_(gates[1]).add_(grad_own @ weight_back)
        flat = grad_gates.view(steps * walks, 3 * width)
        grad_weight = hidden[:-1].view(steps * walks, width).to(weight.dtype).t() @ flat
        return (
            grad_inputs,
            grad_hidden,
            grad_weight.to(hidden.dtype),
            flat[:, 2 * width :].sum(0).to(hidden.dtype),
        )


def product_type(weight: Tensor) -> torch.dtype:
    """The type of a product with a weight: that of autocast where it is on, else the weight's."""
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype


def _tanh(values: Tensor) -> Tensor:
    """In place. torch's own takes six times as long as its sigmoid on a CPU."""
    return values.mul_(2).sigmoid_().mul_(2).sub_(1)
