"""Discrete bottlenecks: M dictionaries in parallel, each mapping an output to its nearest entry (equation 2).

Two forms. The paper's dictionary is learned by gradients from random vectors and lies in the encoder's own space. The
fast form looks codes up in a narrow projection, starts its dictionary from data, moves it by running averages of
what each entry attracted, and revives entries that attract nothing: started at random and moved by gradients alone,
dictionaries collapsed to a handful of codes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed
from torch import Tensor, nn

from cogmap.models.config import ModelConfig


@dataclass(frozen=True)
class Quantized:
    """What a set of bottlenecks makes of an output."""

    codes: Tensor  # (B, N, M)
    vectors: Tensor  # (B, N, M * W): the entries side by side; gradients pass straight through to the output
    outputs: Tensor  # (B, N, M, W): what was looked up, as seen by each bottleneck
    entries: Tensor  # (B, N, M, W): the nearest entries, with gradient into the dictionary where it has one


class Bottlenecks(nn.Module):
    """The paper's form: nearest entry, straight through."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.count, self.num_codes = config.bottlenecks, config.num_codes
        shape = (config.bottlenecks, config.num_codes, config.entry_width)
        self.dictionary = self._first_dictionary(shape)
        owners = _owners(config) if config.clone_structured else None
        self.register_buffer("owners", owners, persistent=False)  # (K,) the observation each code belongs to
        self.owners: Tensor | None

    def _first_dictionary(self, shape: tuple[int, int, int]) -> nn.Parameter:
        return nn.Parameter(torch.randn(shape))

    @property
    def ready(self) -> bool:
        """Whether there are codes to speak of."""
        return True

    def project(self, outputs: Tensor) -> Tensor:
        """(B, N, D) -> (B, N, M, W): the paper's bottlenecks all see the same output."""
        return outputs.unsqueeze(2).expand(-1, -1, self.count, -1)

    def forward(self, outputs: Tensor, observations: Tensor, strength: float = 1.0) -> Quantized:
        """`strength` below 1 lets a share of the continuous output through, while the bottleneck is being closed."""
        projected = self.project(outputs)
        codes = self.nearest_code(projected, observations)
        entries = self.entries(codes)
        straight = projected + strength * (entries - projected).detach()
        return Quantized(codes, straight.flatten(2), projected, entries)

    def entries(self, codes: Tensor) -> Tensor:
        """Dictionary entries (..., M, W) of codes (..., M)."""
        picked = [
            nn.functional.embedding(codes[..., index], self.dictionary[index]) for index in range(self.count)
        ]
        return torch.stack(picked, dim=-2)

    @torch.no_grad()
    def nearest_code(self, projected: Tensor, observations: Tensor) -> Tensor:
        """(B, N, M) codes; in the clone-structured form only among the observation's own (appendix B)."""
        walks, steps, count, width = projected.shape
        flat = projected.permute(2, 0, 1, 3).reshape(count, walks * steps, width)
        # |y - d|^2 up to |y|^2, which all k share, as one product: (y, 1) with (-2 d, |d|^2).
        norms = self.dictionary.square().sum(2, keepdim=True)  # (M, K, 1)
        against = torch.cat([-2 * self.dictionary, norms], dim=2).transpose(1, 2)
        distances = torch.cat([flat, torch.ones_like(flat[..., :1])], dim=2) @ against  # (M, B * N, K)
        if self.owners is not None:
            foreign = observations.reshape(-1, 1) != self.owners  # (B * N, K)
            distances = distances.masked_fill(foreign, torch.inf)
        return distances.argmin(2).view(count, walks, steps).permute(1, 2, 0)


class MovingBottlenecks(Bottlenecks):
    """The fast form: a projected look-up in a dictionary that follows the data."""

    DECAY = 0.97  # of the running averages, a step
    DEAD_BELOW = 0.05  # hits a step (running average) under which an entry is given a new place
    REVIVED_WEIGHT = 0.3  # hits a revived entry starts with: enough to live some 60 steps without any

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.to_projection = nn.Linear(config.width, config.bottlenecks * config.entry_width)
        self.register_buffer("hits", torch.zeros(self.dictionary.shape[:2]))
        self.register_buffer("sums", torch.zeros(self.dictionary.shape))
        self.register_buffer("filled", torch.zeros((), dtype=torch.bool))
        self.hits: Tensor  # (M, K) running average a step
        self.sums: Tensor  # (M, K, W) of what each entry attracted
        self.filled: Tensor

    def _first_dictionary(self, shape: tuple[int, int, int]) -> nn.Parameter:
        return nn.Parameter(torch.zeros(shape), requires_grad=False)  # moved by averages, not by gradients

    @property
    def ready(self) -> bool:
        return bool(self.filled)

    def project(self, outputs: Tensor) -> Tensor:
        projected: Tensor = self.to_projection(outputs)
        return projected.unflatten(2, (self.count, -1))

    @torch.no_grad()
    def fill(self, outputs: Tensor, observations: Tensor, known: Tensor, generator: torch.Generator) -> None:
        """Start every dictionary from outputs (B, N, D) drawn at random among the known steps (B, N)."""
        flat, seen = self.project(outputs)[known], observations[known]
        everything = torch.ones(self.num_codes, dtype=torch.bool, device=flat.device)
        for index in range(self.count):
            self._place(index, everything, flat[:, index], seen, generator, weight=1.0)
        self.filled.fill_(True)

    @torch.no_grad()
    def follow(
        self, quantized: Quantized, observations: Tensor, known: Tensor, generator: torch.Generator
    ) -> None:
        """Move each entry towards what it attracted in this batch; give dead entries a new place."""
        flat, seen = quantized.outputs.detach()[known], observations[known]
        codes = quantized.codes[known]
        for index in range(self.count):
            hits = torch.bincount(codes[:, index], minlength=self.num_codes).to(flat.dtype)
            sums = torch.zeros_like(self.sums[index]).index_add_(0, codes[:, index], flat[:, index])
            _sum_over_processes(hits, sums)
            self.hits[index].lerp_(hits, 1 - self.DECAY)
            self.sums[index].lerp_(sums, 1 - self.DECAY)
            self.dictionary[index] = self.sums[index] / self.hits[index].clamp_min(1e-6)[:, None]
            dead = self.hits[index] < self.DEAD_BELOW
            if dead.any():
                self._place(index, dead, flat[:, index], seen, generator, self.REVIVED_WEIGHT)

    def _place(
        self, index: int, which: Tensor, flat: Tensor, seen: Tensor, generator: torch.Generator, weight: float
    ) -> None:
        """Put the entries where `which` (K,) is true onto outputs (n, W) drawn at random, of their own observation."""
        entries = which.nonzero().squeeze(1)
        drawn = torch.randint(flat.shape[0], entries.shape, generator=generator).to(flat.device)
        if self.owners is not None:
            drawn = _draw_own(self.owners[entries], seen, drawn)
        fresh = flat[drawn]
        _same_in_all_processes(fresh)
        self.dictionary[index, entries] = fresh
        self.sums[index, entries] = fresh * weight
        self.hits[index, entries] = weight


def make_bottlenecks(config: ModelConfig) -> Bottlenecks:
    return Bottlenecks(config) if config.form == "paper" else MovingBottlenecks(config)


def _owners(config: ModelConfig) -> Tensor:
    """(K,): the codes dealt out to the observations as evenly as they go."""
    return torch.arange(config.num_codes) * config.num_observations // config.num_codes


def _draw_own(owners: Tensor, seen: Tensor, drawn: Tensor) -> Tensor:
    """For each entry the first output at or after its draw that shows its own observation, if the batch has one."""
    order = seen.argsort(stable=True)
    # (2, R) where the run of that observation begins and ends
    starts = torch.searchsorted(seen[order], torch.stack([owners, owners + 1]))
    run = (starts[1] - starts[0]).clamp_min(1)
    place = (starts[0] + drawn % run).clamp_max(len(seen) - 1)
    return order[place]


def _sum_over_processes(*tensors: Tensor) -> None:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        for tensor in tensors:
            torch.distributed.all_reduce(tensor)


def _same_in_all_processes(tensor: Tensor) -> None:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.broadcast(tensor, src=0)
