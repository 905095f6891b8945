"""The device, and training with several processes (`torchrun`).

All processes draw the same batches from the same seed and train on their own lanes. Every loss is divided by the counts
of the whole batch, so that the sum over processes is the loss of a single process.
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


def choose_device(name: str) -> torch.device:
    """`auto` is CUDA if available, then MPS, then the CPU; anything else is torch's name of a device."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as problem:
        reason = str(problem).splitlines()[0]
        raise BadConfig(
            f"`device` must be auto or a device that torch has here, got {name!r}: {reason}"
        ) from problem
    return device


def device_names() -> list[str]:
    """What networks can be trained on here, for people to read."""
    names = [f"cpu ({torch.get_num_threads()} threads)"]
    names += [
        f"cuda:{index} ({torch.cuda.get_device_name(index)})" for index in range(torch.cuda.device_count())
    ]
    return names + (["mps"] if torch.backends.mps.is_available() else [])


@dataclass(frozen=True)
class Processes:
    """This process's rank among those that train together."""

    rank: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        """Only the main process writes files and prints."""
        return self.rank == 0

    def lanes(self, batch_size: int) -> slice:
        if batch_size % self.count:
            raise BadConfig(
                f"`batch_size` (={batch_size}) must be divisible by the processes (={self.count})"
            )
        share = batch_size // self.count
        return slice(self.rank * share, (self.rank + 1) * share)

    def all_reduce_gradients(self, model: nn.Module) -> None:
        if self.count == 1:
            return
        for parameter in model.parameters():
            if parameter.grad is not None:
                distributed.all_reduce(parameter.grad)


@contextmanager
def joined_processes(device: torch.device) -> Iterator[Processes]:
    """Join the process group if torchrun started one."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Processes()
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
