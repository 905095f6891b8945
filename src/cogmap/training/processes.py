"""Training over several processes (`torchrun`): each takes its share of every batch, gradients are added up.

All processes draw the same batches from the same seed and cut out their own lanes, and every loss is divided by the
counts of the whole batch: the sum over processes is the loss of one process on all of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as distributed
from torch import nn

from cogmap.errors import BadConfig


@dataclass(frozen=True)
class Processes:
    """This process's place among those that train together."""

    rank: int = 0
    count: int = 1

    @property
    def leads(self) -> bool:
        """Only the first process writes files and prints."""
        return self.rank == 0

    def lanes(self, batch_size: int) -> slice:
        if batch_size % self.count:
            raise BadConfig(
                f"`batch_size` (={batch_size}) must be divisible by the processes (={self.count})"
            )
        share = batch_size // self.count
        return slice(self.rank * share, (self.rank + 1) * share)

    def add_up(self, tensor: torch.Tensor) -> torch.Tensor:
        if self.count > 1:
            distributed.all_reduce(tensor)
        return tensor

    def add_up_gradients(self, model: nn.Module) -> None:
        if self.count == 1:
            return
        for parameter in model.parameters():
            if parameter.grad is not None:
                distributed.all_reduce(parameter.grad)


@contextmanager
def joined_processes(device: torch.device) -> Iterator[Processes]:
    """Join the processes that torchrun started, if it did."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
