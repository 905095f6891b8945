"""A permutation-equivariant encoder over slots: for families of rooms that differ only in their colours.

Each observation of a walk gets a slot, in the order of first visits. All slots share their weights, and the only input
of a slot is whether its observation is the present one, was seen before, or is not seen yet. So whatever the encoder
learns in one room holds in every room with the same layout. It never has to learn about colours, and needs few rooms
where a network that embeds colours needs thousands.

Slots exchange information through their mean and through the slot of the present observation. The output lists the
slots in the order of their observations' numbers, because targets are ranks.

Why the scan over steps has its own backward pass: as in `models/recurrent.py`, one matrix product over all steps
computes a weight's gradient. `python -m benchmarks.training` prints how many times faster that is than autograd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.recurrent import write_gate_gradients

UNSEEN, SEEN, PRESENT = range(3)  # the input of a slot


class SlotEncoder(nn.Module):
    """A GRU with C slots of half the width each.

    Its state: the slots (C, B, W), and the observation of each slot (C, B, O), one-hot or all false.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.slots, self.slot_width = config.num_targets, config.width // 2
        self.num_observations = config.num_observations
        gates = 3 * self.slot_width
        self.action_gates = nn.Embedding(config.num_actions + 1, gates)
        self.kind_gates = nn.Embedding(3, gates)
        for embedding in (self.action_gates, self.kind_gates):
            nn.init.normal_(embedding.weight, std=0.3)
        self.from_slot = nn.Linear(self.slot_width, gates)
        self.from_others = nn.Linear(2 * self.slot_width, gates, bias=False)
        self.to_output = nn.Linear(self.slots * self.slot_width, config.width)

    def initial_state(self, walks: int, device: torch.device) -> EncoderState:
        hidden = torch.zeros(self.slots, walks, self.slot_width, device=device)
        assigned = torch.zeros(self.slots, walks, self.num_observations, dtype=torch.bool, device=device)
        return EncoderState((hidden, assigned))

    def forward(
        self,
        observations: Tensor,
        actions: Tensor,
        state: EncoderState | None = None,
        return_state: bool = True,
    ) -> tuple[Tensor, EncoderState | None]:
        if state is None:
            state = self.initial_state(observations.shape[0], observations.device)
        slots = assign_slots(observations, state.tensors[1])
        gates = self.action_gates(actions.t())[:, None] + self.kind_gates(slots.inputs())  # (N, C, B, 3W)
        reset_update_bias, candidate_bias = self.from_slot.bias.split([2 * self.slot_width, self.slot_width])
        hidden, last = SlotScan.apply(
            gates + nn.functional.pad(reset_update_bias, (0, self.slot_width)),
            state.tensors[0],
            slots.present.t(),
            self.from_slot.weight.t(),
            candidate_bias,
            self.from_others.weight.t(),
        )
        outputs: Tensor = self.to_output(slots.in_rank_order(hidden.permute(2, 0, 1, 3)).flatten(2))
        return outputs, EncoderState((last, slots.assigned))


@dataclass(frozen=True)
class Slots:
    """The slots of walks (B, N), with C slots for O observations."""

    present: Tensor  # (B, N) the slot of the present observation
    used: Tensor  # (B, N) the number of slots in use at each step
    assigned: Tensor  # (C, B, O) the observation of each slot after the last step

    def inputs(self) -> Tensor:
        """(N, C, B): the input of each slot at each step."""
        index = torch.arange(self.assigned.shape[0], device=self.present.device)[None, :, None]
        used, present = self.used.t()[:, None], self.present.t()[:, None]
        inputs = torch.where(index < used, SEEN, UNSEEN)
        return torch.where(index == present, PRESENT, inputs)

    def in_rank_order(self, hidden: Tensor) -> Tensor:
        """The slots (B, N, C, W) sorted by their observations' numbers; unused slots come last."""
        count, _, observations = self.assigned.shape
        index = torch.arange(count, device=hidden.device)
        observation = self.assigned.int().argmax(dim=2).t()[:, None]  # (B, 1, C)
        number = torch.where(index < self.used[:, :, None], observation, observations + index)  # (B, N, C)
        order = number.argsort(dim=2)
        return hidden.gather(2, order[..., None].expand_as(hidden))


def assign_slots(observations: Tensor, assigned: Tensor) -> Slots:
    """The slots of observations (B, N), in the order of first visits, after those `assigned` (C, B, O) before.

    If a walk shows more observations than there are slots, the last slot stands for all the others.
    """
    count, _, num_observations = assigned.shape
    index = torch.arange(count, device=assigned.device)[:, None, None]
    seen_earlier = assigned.any(dim=0)  # (B, O)
    now = nn.functional.one_hot(observations, num_observations).bool()
    seen = (now.cumsum(dim=1) > 0) | seen_earlier[:, None]  # (B, N, O)
    seen_before = torch.cat([seen_earlier[:, None], seen[:, :-1]], dim=1)
    first_visit = now & ~seen_before
    new_slot = (first_visit * seen_before.sum(dim=2, keepdim=True)).sum(dim=1)  # (B, O)
    slot = (assigned * index).sum(dim=0) + new_slot
    slot = slot.clamp(max=count - 1)
    return Slots(
        present=slot.gather(1, observations),
        used=seen.sum(dim=2),
        assigned=(slot == index) & seen[:, -1],
    )


class SlotScan(torch.autograd.Function):
    """Slots (C, B, W) over N steps, given their input gates (reset, update, candidate, as in torch.nn.GRU)."""

    @staticmethod
    def forward(
        context: Any,
        input_gates: Tensor,  # (N, C, B, 3W)
        first: Tensor,  # (C, B, W)
        present: Tensor,  # (N, B) the slot of the present observation
        weight: Tensor,  # (W, 3W) from a slot to its own gates
        candidate_bias: Tensor,  # (W,)
        others_weight: Tensor,  # (2W, 3W) from the slots' mean and the present slot to the gates of all
    ) -> tuple[Tensor, Tensor]:
        steps, slots, walks, _ = input_gates.shape
        width = first.shape[2]
        lanes = torch.arange(walks, device=first.device)
        reset_update = input_gates[..., : 2 * width].clone()
        candidate = input_gates[..., 2 * width :].clone()
        hidden_candidate = torch.empty_like(candidate)  # the hidden state's input to the candidate
        others = first.new_empty(steps, walks, 2 * width)  # the slots' mean, and the present slot
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
            torch.addmm(
                candidate_bias, flat, to_candidate, out=hidden_candidate[step].view(slots * walks, width)
            )
            candidate[step].add_(shared[:, 2 * width :]).addcmul_(reset, hidden_candidate[step]).tanh_()
            torch.lerp(candidate[step], before, update, out=hidden[step + 1])
        context.save_for_backward(
            reset_update, candidate, hidden_candidate, hidden, others, present, weight, others_weight
        )
        return hidden[1:], hidden[-1].clone()

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        grad_outputs, grad_hidden = gradients
        reset_update, candidate, hidden_candidate, hidden, others, present, weight, others_weight = (
            context.saved_tensors
        )
        steps, slots, walks, width = candidate.shape
        lanes = torch.arange(walks, device=candidate.device)
        reset, update = reset_update.chunk(2, dim=3)
        # At the hidden state's part of the gates.
        grad_gates = candidate.new_empty(steps, slots, walks, 3 * width)
        grad_inputs = torch.empty_like(grad_gates)
        grad_shared = candidate.new_empty(steps, walks, 3 * width)  # at what all slots of a walk get
        weight_back, others_back = weight.t().contiguous(), others_weight.t().contiguous()
        for step in range(steps - 1, -1, -1):
            grad_hidden = grad_hidden + grad_outputs[step]
            gates = reset[step], update[step], candidate[step], hidden_candidate[step]
            grad_own_candidate = write_gate_gradients(grad_hidden, gates, hidden[step], grad_inputs[step])
            grad_gates[step, ..., : 2 * width] = grad_inputs[step, ..., : 2 * width]
            grad_gates[step, ..., 2 * width :] = grad_own_candidate
            grad_shared[step] = grad_inputs[step].sum(dim=0)
            grad_mean, grad_present = (grad_shared[step] @ others_back).chunk(2, dim=1)  # (B, W) each
            grad_hidden = (grad_hidden * update[step]).add_(grad_mean / slots)
            flat_gates = grad_gates[step].view(slots * walks, 3 * width)
            grad_hidden.view(slots * walks, width).addmm_(flat_gates, weight_back)
            grad_hidden[present[step], lanes] += grad_present
        flat = grad_gates.view(-1, 3 * width)
        grad_weight = hidden[:-1].reshape(-1, width).t() @ flat
        grad_others = others.view(-1, 2 * width).t() @ grad_shared.view(-1, 3 * width)
        return grad_inputs, grad_hidden, None, grad_weight, flat[:, 2 * width :].sum(0), grad_others
