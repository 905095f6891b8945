"""Adam for everything (the paper's), or Muon for the transformer's matrices and Adam for the rest.

In first trials on small rooms Muon took about half of Adam's steps with the transformer, and no fewer with the GRU.
"""

from __future__ import annotations

import torch
from torch import nn

from cogmap.training.config import TrainingConfig
from cogmap.training.muon import Muon


class Optimizers:
    """One or two optimizers behind one learning-rate scale."""

    def __init__(self, model: nn.Module, config: TrainingConfig) -> None:
        muon_rate = config.muon_rate
        by_muon = _matrices(model) if muon_rate is not None else []
        chosen = {id(parameter) for parameter in by_muon}
        rest = [
            parameter
            for parameter in model.parameters()
            if parameter.requires_grad and id(parameter) not in chosen
        ]
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.Adam(rest, lr=config.learning_rate, betas=(0.9, config.second_moment))
        ]
        if muon_rate is not None and by_muon:
            self.parts.append(Muon(by_muon, muon_rate))
        self._rates = [part.param_groups[0]["lr"] for part in self.parts]

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad()

    def step(self, scale: float) -> None:
        """One update at `scale` of the full learning rates."""
        for part, rate in zip(self.parts, self._rates, strict=True):
            part.param_groups[0]["lr"] = rate * scale
            part.step()

    def tensors(self) -> dict[str, torch.Tensor]:
        """The optimizers' whole memory, flat, for a checkpoint."""
        return {
            f"{part_index}.{parameter_index}.{name}": value
            for part_index, part in enumerate(self.parts)
            for parameter_index, memory in part.state_dict()["state"].items()
            for name, value in memory.items()
        }

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        for part_index, part in enumerate(self.parts):
            memory: dict[int, dict[str, torch.Tensor]] = {}
            for key, value in tensors.items():
                owner, parameter_index, name = key.split(".", 2)
                if int(owner) == part_index:
                    memory.setdefault(int(parameter_index), {})[name] = value
            part.load_state_dict({**part.state_dict(), "state": memory})


def _matrices(model: nn.Module) -> list[nn.Parameter]:
    """The matrices inside the encoder's blocks. Embeddings are tables; angle increments have a scale of their own."""
    return [
        parameter
        for name, parameter in model.named_parameters()
        if name.startswith(("encoder.blocks.", "encoder.reader.blocks."))
        and parameter.dim() == 2
        and "to_increments" not in name
    ]
