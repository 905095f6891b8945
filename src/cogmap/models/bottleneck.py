"""Discrete bottlenecks: M dictionaries in parallel, each mapping an output to its nearest entry (equation 2).

Two kinds. The paper's dictionary starts from random vectors and is trained by gradients. The fast one starts from data
and follows exponential moving averages (EMA), and dead entries are revived. What is quantized is the output itself, as
in the paper, or a narrow projection of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.distributed
from torch import Tensor, nn

from cogmap.models.config import ModelConfig


@dataclass(frozen=True)
class Quantized:
    """The result of quantizing outputs."""

    codes: Tensor  # (B, N, M)
    vectors: Tensor  # (B, N, M * W): the entries, concatenated; straight-through gradients to the output
    outputs: Tensor  # (B, N, M, W): the projected outputs that were quantized
    entries: Tensor  # (B, N, M, W): the nearest entries; with a gradient if that trains the dictionary


class Bottlenecks(nn.Module):
    """A dictionary trained by gradients: the nearest entry, with a straight-through gradient to the output."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.count, self.num_codes = config.bottlenecks, config.num_codes
        shape = (config.bottlenecks, config.num_codes, config.entry_width)
        self.dictionary = self._initial_dictionary(shape, config)
        width = config.bottlenecks * config.entry_width
        self.to_projection = nn.Linear(config.width, width) if config.has_projection else None
        owners = _owners(config) if config.clone_structured else None
        self.register_buffer("owners", owners, persistent=False)  # (K,) the observation that owns each code
        self.owners: Tensor | None

    def _initial_dictionary(self, shape: tuple[int, int, int], config: ModelConfig) -> nn.Parameter:
        if config.dictionary_start == "normal":
            return nn.Parameter(torch.randn(shape))
        bound = math.sqrt(3 / config.entry_width)  # entries of about unit length, by Haiku's variance scaling
        return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))

    @property
    def ready(self) -> bool:
        """Whether the dictionary is initialised."""
        return True

    def project(self, outputs: Tensor) -> Tensor:
        """(B, N, D) -> (B, N, M, W). Without a projection all bottlenecks get the same output."""
        if self.to_projection is None:
            return outputs.unsqueeze(2).expand(-1, -1, self.count, -1)
        with torch.autocast(outputs.device.type, enabled=False):  # codes are of exact vectors
            projected: Tensor = self.to_projection(outputs.to(self.to_projection.weight.dtype))
        return projected.unflatten(2, (self.count, -1))

    def forward(self, outputs: Tensor, observations: Tensor, strength: float = 1.0) -> Quantized:
        """Quantize outputs (B, N, D).

        strength: how far the bottleneck is annealed. The vectors are (1 - strength) outputs + strength entries.
        """
        projected = self.project(outputs)
        codes = self.nearest_code(projected, observations)
        entries = self.entries(codes)
        vectors = projected + strength * (entries - projected).detach()
        return Quantized(codes, vectors.flatten(2), projected, entries)

    def entries(self, codes: Tensor) -> Tensor:
        """The dictionary entries (..., M, W) of codes (..., M)."""
        picked = [
            nn.functional.embedding(codes[..., index], self.dictionary[index]) for index in range(self.count)
        ]
        return torch.stack(picked, dim=-2)

    @torch.no_grad()
    def nearest_code(self, projected: Tensor, observations: Tensor) -> Tensor:
        """(B, N, M) codes. The clone-structured form uses only the observation's own codes (appendix B)."""
        walks, steps, count, width = projected.shape
        flat = projected.permute(2, 0, 1, 3).reshape(count, walks * steps, width)
        # |y - d|^2 - |y|^2 as one matrix product: (y, 1) times (-2 d, |d|^2). The term |y|^2 is the same for all codes.
        norms = self.dictionary.square().sum(2, keepdim=True)  # (M, K, 1)
        against = torch.cat([-2 * self.dictionary, norms], dim=2).transpose(1, 2)
        with torch.autocast(flat.device.type, enabled=False):
            distances = torch.cat([flat, torch.ones_like(flat[..., :1])], dim=2) @ against  # (M, B * N, K)
        if self.owners is not None:
            foreign = observations.reshape(-1, 1) != self.owners  # (B * N, K)
            distances = distances.masked_fill(foreign, torch.inf)
        return distances.argmin(2).view(count, walks, steps).permute(1, 2, 0)


class EMABottlenecks(Bottlenecks):
    """A dictionary that follows the outputs by moving averages."""

    DECAY = 0.97  # of the moving averages, per step
    DEAD_BELOW = 0.05  # average hits per step below which an entry is dead and gets a new vector
    REVIVED_WEIGHT = 0.3  # average hits of a revived entry at first; without a hit it is dead after 60 steps

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.revival = config.revival
        self.register_buffer("hits", torch.zeros(self.dictionary.shape[:2]))
        self.register_buffer("sums", torch.zeros(self.dictionary.shape))
        self.register_buffer("filled", torch.zeros((), dtype=torch.bool))
        self.hits: Tensor  # (M, K) moving average per step
        self.sums: Tensor  # (M, K, W) moving average of the sum of outputs assigned to each entry
        self.filled: Tensor
        self._known_to_be_ready = False

    def _initial_dictionary(self, shape: tuple[int, int, int], config: ModelConfig) -> nn.Parameter:
        return nn.Parameter(torch.zeros(shape), requires_grad=False)  # updated by moving averages

    @property
    def ready(self) -> bool:
        if not self._known_to_be_ready:  # the device is asked only until it is
            self._known_to_be_ready = bool(self.filled)
        return self._known_to_be_ready

    @torch.no_grad()
    def initialise(
        self, outputs: Tensor, observations: Tensor, known: Tensor, generator: torch.Generator
    ) -> None:
        """Start every dictionary from outputs (B, N, D) drawn at random among the known steps (B, N)."""
        flat, seen = self.project(outputs)[known], observations[known]
        every = torch.ones(self.num_codes, dtype=torch.bool, device=flat.device)
        for index in range(self.count):
            self._reset_entries(index, every, flat[:, index], seen, generator, weight=1.0)
        self.filled.fill_(True)

    @torch.no_grad()
    def update_dictionary(
        self, quantized: Quantized, observations: Tensor, known: Tensor, generator: torch.Generator
    ) -> None:
        """Update the moving averages with this batch, and revive dead entries unless told otherwise.

        All bottlenecks at once, without asking the device for a number, and in one message between processes.
        """
        rows, width = self.count * self.num_codes, self.sums.shape[2]
        row = (quantized.codes + torch.arange(self.count, device=known.device) * self.num_codes).flatten()
        weight = known[:, :, None].expand_as(quantized.codes).flatten().to(self.sums.dtype)
        outputs = quantized.outputs.detach()
        hits = self.hits.new_zeros(rows).index_add_(0, row, weight)
        sums = self.sums.new_zeros(rows, width).index_add_(
            0, row, outputs.reshape(-1, width) * weight[:, None]
        )
        new = self._candidates(outputs, observations, known, generator)
        hits, sums, new = _summed(hits, sums, new)
        self.hits.lerp_(hits.view_as(self.hits), 1 - self.DECAY)
        self.sums.lerp_(sums.view_as(self.sums), 1 - self.DECAY)
        if self.revival:
            dead = self.hits < self.DEAD_BELOW  # (M, K)
            self.hits.masked_fill_(dead, self.REVIVED_WEIGHT)
            self.sums.copy_(torch.where(dead[..., None], new * self.REVIVED_WEIGHT, self.sums))
        self.dictionary.copy_(self.sums / self.hits.clamp_min(1e-6)[..., None])

    def _candidates(
        self, outputs: Tensor, observations: Tensor, known: Tensor, generator: torch.Generator
    ) -> Tensor:
        """(M, K, W): for every entry a random known output, of its own observation where there are clones.

        Of several processes the first one draws. The others have zeros, so that a sum is what it drew.
        """
        drawn = torch.rand(self.count, self.num_codes, generator=generator, dtype=torch.float64)
        if not _is_first():
            return torch.zeros_like(self.sums)
        drawn = drawn.to(outputs.device, non_blocking=True)
        flat, counted = outputs.flatten(0, 1), known.flatten()
        if self.owners is None:
            order = (~counted).to(torch.uint8).argsort(stable=True)  # known steps come first
            place = (drawn * counted.sum()).long().clamp_max(counted.sum().clamp_min(1) - 1)
            chosen = order[place]
        else:
            seen = torch.where(counted, observations.flatten(), torch.iinfo(torch.int64).max)
            chosen = _draw_own(self.owners, seen, drawn)
        return flat[chosen, torch.arange(self.count, device=flat.device)[:, None]]

    def _reset_entries(
        self, index: int, which: Tensor, flat: Tensor, seen: Tensor, generator: torch.Generator, weight: float
    ) -> None:
        """Set the entries where `which` (K,) is true to random outputs (n, W); clones to those of their observation."""
        entries = which.nonzero().squeeze(1)
        drawn = torch.rand(entries.shape, generator=generator, dtype=torch.float64).to(flat.device)
        anywhere = (drawn * len(flat)).long()
        own = self.owners
        new = flat[anywhere if own is None else _draw_own(own[entries], seen, drawn)]
        _broadcast(new)
        self.dictionary[index, entries] = new
        self.sums[index, entries] = new * weight
        self.hits[index, entries] = weight


def make_bottlenecks(config: ModelConfig) -> Bottlenecks:
    return Bottlenecks(config) if config.dictionary_kind == "gradient" else EMABottlenecks(config)


def _owners(config: ModelConfig) -> Tensor:
    """(K,): the observation of each code; all observations have the same number of codes, up to one."""
    return torch.arange(config.num_codes) * config.num_observations // config.num_codes


def _draw_own(owners: Tensor, seen: Tensor, drawn: Tensor) -> Tensor:
    """For each entry (..., K) an output with its own observation, by `drawn` in [0, 1); any, if there is none."""
    order = seen.argsort(stable=True)
    # (2, K) start and end of the outputs with that observation, in `order`
    starts = torch.searchsorted(seen[order], torch.stack([owners, owners + 1]))
    run = (starts[1] - starts[0]).clamp_min(1)
    place = (starts[0] + (drawn * run).long()).clamp_max(len(seen) - 1)
    return order[place]


def _together() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _is_first() -> bool:
    return not _together() or torch.distributed.get_rank() == 0


def _summed(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The sums of all tensors over the processes, in one message."""
    if not _together():
        return tensors
    message = torch.cat([tensor.flatten() for tensor in tensors])
    torch.distributed.all_reduce(message)
    parts = message.split([tensor.numel() for tensor in tensors])
    return tuple(part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True))


def _broadcast(tensor: Tensor) -> None:
    if _together():
        torch.distributed.broadcast(tensor, src=0)
