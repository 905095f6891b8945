"""A permutation-equivariant encoder over slots: for families of rooms that differ only in their colours.

Each observation that a walk shows gets a slot, in the order of first visits. All slots are updated by the same weights,
and a slot's only input is whether its observation is the present one, was seen before, or not yet. So what is learned
in one room holds in every room that is the same but for its colours: there is nothing to learn about colours, and few
rooms suffice where a network that embeds them needs thousands.

Slots exchange what they know through their mean and through the slot that is seen at present. To predict ranks, an
output lists the slots in the order of their observations' numbers.

The scan over steps is written out, as `models/recurrent.py` writes out a GRU, for the same reason: one product over all
steps makes a weight's gradient (`python -m benchmarks.training` measures it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
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


NOT_MET, MET, PRESENT = range(3)


class NamelessEncoder(nn.Module):
    """A GRU with C slots of half the width each. Its state: the slots (C, B, W), and whose they are (C, B, O)."""

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

    def begin(self, walks: int, device: torch.device) -> EncoderState:
        empty = torch.zeros(self.slots, walks, self.slot_width, device=device)
        nobody = torch.zeros(self.slots, walks, self.num_observations, dtype=torch.bool, device=device)
        return EncoderState((empty, nobody))

    def forward(
        self, observations: Tensor, actions: Tensor, state: EncoderState | None = None, remember: bool = True
    ) -> tuple[Tensor, EncoderState | None]:
        if state is None:
            state = self.begin(observations.shape[0], observations.device)
        slots = assign_slots(observations, state.tensors[1])
        gates = self.action_gates(actions.t())[:, None] + self.kind_gates(slots.kinds())  # (N, C, B, 3W)
        reset_update_bias, candidate_bias = self.from_slot.bias.split([2 * self.slot_width, self.slot_width])
        hidden, last = SlotScan.apply(
            gates + nn.functional.pad(reset_update_bias, (0, self.slot_width)),
            state.tensors[0],
            slots.present.t(),
            self.from_slot.weight.t(),
            candidate_bias,
            self.from_others.weight.t(),
        )
        outputs: Tensor = self.to_output(slots.ranked(hidden.permute(2, 0, 1, 3)).flatten(2))
        return outputs, EncoderState((last, slots.owned))


@dataclass(frozen=True)
class Slots:
    """Who has which slot along walks (B, N), with C slots for O observations."""

    present: Tensor  # (B, N) the slot of what is seen
    taken: Tensor  # (B, N) how many are taken by each step
    owned: Tensor  # (C, B, O) whose they are after the last

    def kinds(self) -> Tensor:
        """(N, C, B): what each slot is told at each step."""
        index = torch.arange(self.owned.shape[0], device=self.present.device)[None, :, None]
        taken, present = self.taken.t()[:, None], self.present.t()[:, None]
        kinds = torch.where(index < taken, MET, NOT_MET)
        return torch.where(index == present, PRESENT, kinds)

    def ranked(self, hidden: Tensor) -> Tensor:
        """The slots (B, N, C, W) in the order of their observations' numbers, those not taken yet at the end."""
        count, _, names = self.owned.shape
        index = torch.arange(count, device=hidden.device)
        owner = self.owned.int().argmax(dim=2).t()[:, None]  # (B, 1, C)
        number = torch.where(index < self.taken[:, :, None], owner, names + index)  # (B, N, C)
        order = number.argsort(dim=2)
        return hidden.gather(2, order[..., None].expand_as(hidden))


def assign_slots(observations: Tensor, owned: Tensor) -> Slots:
    """The slots of observations (B, N), first come first served, where some (C, B, O) were owned before.

    Should a walk show more observations than there are slots, the last slot serves all the others.
    """
    count, _, names = owned.shape
    index = torch.arange(count, device=owned.device)[:, None, None]
    had = owned.any(dim=0)  # (B, O)
    now = nn.functional.one_hot(observations, names).bool()
    met = (now.cumsum(dim=1) > 0) | had[:, None]  # (B, N, O)
    met_before = torch.cat([had[:, None], met[:, :-1]], dim=1)
    comes_new = now & ~met_before
    slot = (owned * index).sum(dim=0) + (comes_new * met_before.sum(dim=2, keepdim=True)).sum(dim=1)  # (B, O)
    slot = slot.clamp(max=count - 1)
    return Slots(
        present=slot.gather(1, observations),
        taken=met.sum(dim=2),
        owned=(slot == index) & met[:, -1],
    )
