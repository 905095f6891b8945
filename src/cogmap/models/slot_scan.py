"""A GRU over slots that share their weights and hear of each other: the inner loop of `models/nameless.py`.

Written out as `models/recurrent.py` writes out a GRU, for the same reason: one product over all steps makes a weight's
gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cogmap.models.recurrent import gate_slopes, write_gate_gradients


class SlotScan(torch.autograd.Function):
    """Slots (C, B, W) over N steps, given their input gates; gate order reset, update, candidate as in torch.nn.GRU."""

    @staticmethod
    def forward(
        context: Any,
        input_gates: Tensor,  # (N, C, B, 3W)
        first: Tensor,  # (C, B, W)
        present: Tensor,  # (N, B) the slot that is seen
        weight: Tensor,  # (W, 3W) from a slot to its own gates
        candidate_bias: Tensor,  # (W,)
        others_weight: Tensor,  # (2W, 3W) from the slots' mean and the present slot to the gates of all
    ) -> tuple[Tensor, Tensor]:
        steps, slots, walks, _ = input_gates.shape
        width = first.shape[2]
        lanes = torch.arange(walks, device=first.device)
        reset_update = input_gates[..., : 2 * width].clone()
        candidate = input_gates[..., 2 * width :].clone()
        recalled = torch.empty_like(candidate)  # what the candidate gate takes from the hidden state
        others = first.new_empty(steps, walks, 2 * width)  # the slots' mean, and the present one
        hidden = first.new_empty(steps + 1, slots, walks, width)
        hidden[0] = first
        to_reset_update, to_candidate = weight[:, : 2 * width], weight[:, 2 * width :]
        for step in range(steps):
            before = hidden[step]
            flat = before.view(slots * walks, width)
            others[step, :, :width] = before.mean(dim=0)
            others[step, :, width:] = before[present[step], lanes]
            shared = others[step] @ others_weight  # (B, 3W)
            gates = reset_update[step].add_(shared[:, : 2 * width]).view(slots * walks, 2 * width)
            gates.addmm_(flat, to_reset_update).sigmoid_()
            reset, update = reset_update[step].chunk(2, dim=2)
            torch.addmm(candidate_bias, flat, to_candidate, out=recalled[step].view(slots * walks, width))
            candidate[step].add_(shared[:, 2 * width :]).addcmul_(reset, recalled[step]).tanh_()
            torch.lerp(candidate[step], before, update, out=hidden[step + 1])
        context.save_for_backward(
            reset_update, candidate, recalled, hidden, others, present, weight, others_weight
        )
        return hidden[1:], hidden[-1].clone()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        from_outputs, onward = gradients
        reset_update, candidate, recalled, hidden, others, present, weight, others_weight = (
            context.saved_tensors
        )
        steps, slots, walks, width = candidate.shape
        lanes = torch.arange(walks, device=candidate.device)
        reset, update = reset_update.chunk(2, dim=3)
        slopes = gate_slopes(reset, update, candidate, recalled, hidden[:-1])
        gates = candidate.new_empty(steps, slots, walks, 3 * width)  # gradients at their hidden side
        at_candidate = torch.empty_like(candidate)
        shared = candidate.new_empty(steps, walks, 3 * width)  # at what all slots of a walk are told
        weight_back, others_back = weight.t().contiguous(), others_weight.t().contiguous()
        for step in range(steps - 1, -1, -1):
            onward = onward + from_outputs[step]
            write_gate_gradients(onward, slopes, reset, step, gates, at_candidate)
            shared[step, :, : 2 * width] = gates[step, :, :, : 2 * width].sum(dim=0)
            shared[step, :, 2 * width :] = at_candidate[step].sum(dim=0)
            at_mean, at_present = (shared[step] @ others_back).chunk(2, dim=1)  # (B, W) each
            onward = (onward * update[step]).add_(at_mean / slots)
            onward.view(slots * walks, width).addmm_(gates[step].view(slots * walks, 3 * width), weight_back)
            onward[present[step], lanes] += at_present
        flat = gates.view(-1, 3 * width)
        weight_gradient = hidden[:-1].reshape(-1, width).t() @ flat
        others_gradient = others.view(-1, 2 * width).t() @ shared.view(-1, 3 * width)
        input_gates = torch.cat([gates[..., : 2 * width], at_candidate], dim=3)
        return input_gates, onward, None, weight_gradient, flat[:, 2 * width :].sum(0), others_gradient
