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
from torch import Tensor, nn

from cogmap.errors import BadConfig

MESSAGES = 4  # in which gradients are summed
SMALLEST_MESSAGE = 1 << 14  # numbers: a smaller one costs as much as this


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


def has_bfloat16(device_type: str) -> bool:
    """Whether a device has units for products in bfloat16. Where it has none they would be slower, not faster."""
    if device_type != "cpu":
        return device_type == "cuda"
    has = torch.cpu.get_capabilities()
    return bool(has.get("avx512_bf16") or has.get("amx_bf16"))


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


class GradientSums:
    """Sums gradients over processes in a few messages, each sent as soon as its gradients are there.

    Gradients are ready from the last layer to the first, so the sums of the last layers travel while the first ones
    are computed. Why not `DistributedDataParallel`: it takes the mean, wraps the model, and must be told which
    parameters have no gradient, which changes when the bottleneck is switched on.
    """

    def __init__(self, model: nn.Module, processes: Processes) -> None:
        self._buckets: list[_Bucket] = []
        if processes.count > 1:
            trained = [each for each in reversed(list(model.parameters())) if each.requires_grad]
            size = max(SMALLEST_MESSAGE, -(-sum(each.numel() for each in trained) // MESSAGES))
            self._buckets = [_Bucket(some) for some in _buckets(trained, size)]

    def finish(self) -> None:
        """Wait until every gradient is the sum over all processes."""
        for bucket in self._buckets:
            bucket.send()
        for bucket in self._buckets:
            bucket.receive()


class _Bucket:
    """The gradients of some parameters in one row of numbers."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self._parameters = parameters
        self._row = torch.zeros(sum(each.numel() for each in parameters), device=parameters[0].device)
        self._row = self._row.to(parameters[0].dtype)
        views = self._row.split([each.numel() for each in parameters])
        self._views = {id(each): view.view_as(each) for each, view in zip(parameters, views, strict=True)}
        self._ready: list[nn.Parameter] = []
        self._sent: distributed.Work | None = None
        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self._arrived)

    def _arrived(self, parameter: Tensor) -> None:
        self._ready.append(parameter)  # type: ignore[arg-type]
        if len(self._ready) == len(self._parameters):
            self.send()

    def send(self) -> None:
        """Parameters without a gradient, which are the same in all processes, count as zero."""
        if self._sent is not None or not self._ready:
            return
        if len(self._ready) < len(self._parameters):
            self._row.zero_()
        for parameter in self._ready:
            assert parameter.grad is not None
            self._views[id(parameter)].copy_(parameter.grad)
        self._sent = distributed.all_reduce(self._row, async_op=True)

    def receive(self) -> None:
        if self._sent is not None:
            self._sent.wait()
            for parameter in self._ready:
                assert parameter.grad is not None
                parameter.grad.copy_(self._views[id(parameter)])
        self._ready, self._sent = [], None


def _buckets(parameters: list[nn.Parameter], size: int) -> Iterator[list[nn.Parameter]]:
    """Parameters in order, some `size` numbers of one type at a time."""
    bucket: list[nn.Parameter] = []
    for parameter in parameters:
        if bucket and (sum(each.numel() for each in bucket) >= size or parameter.dtype != bucket[0].dtype):
            yield bucket
            bucket = []
        bucket.append(parameter)
    if bucket:
        yield bucket


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
