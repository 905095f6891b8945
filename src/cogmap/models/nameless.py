"""An encoder to which observations have no names: for families of rooms that differ in their colours alone.

Each observation that a walk shows gets a slot, in the order in which they are met. All slots are updated by the same
weights, and a slot is told nothing but whether its observation is the present one, was met before, or not yet. So
what is learned in one room holds in every room that is the same but for its colours: there is nothing to learn about
colours, and few rooms will do where a network that knows them by name needs thousands.

Slots tell each other what they know through their mean and through the slot that is seen at present. To foretell
ranks, an output lists the slots in the order of their observations' numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.slot_scan import SlotScan

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
