"""Causal self-attention that looks back over a span of tokens and can carry its memory on.

Two ways of telling tokens apart:
- `PathAttention`, the fast form's: rotary angles, half of which turn with time and half with the *path*: each
  token adds an increment read off itself, so that two tokens of the same place can come to the same angle.
- `RelativeAttention`, the paper's: Transformer-XL's learned bias on the distance in tokens.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

# A layer's memory: keys and values (B, H, W, d), what else it needs to place them (B, H, angles), and which
# of the W are real (B, W).
Memory = tuple[Tensor, Tensor, Tensor, Tensor]
PARTS = 4  # of a memory


class _Attention(nn.Module):
    """Projections, the span's mask and the memory; how positions enter is left to the children."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__()
        self.heads, self.span, self.head_width = heads, span, width // heads
        self.to_query_key_value = nn.Linear(width, 3 * width)
        self.to_output = nn.Linear(width, width)

    @property
    def angles(self) -> int:
        """How many numbers a head keeps to place the next token."""
        return self.head_width // 2

    def begin(self, walks: int, device: torch.device) -> Memory:
        kept = torch.zeros(walks, self.heads, self.span, self.head_width, device=device)
        placed = torch.zeros(walks, self.heads, self.angles, device=device)
        return kept, kept.clone(), placed, torch.zeros(walks, self.span, dtype=torch.bool, device=device)

    def _split(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        walks, tokens, _ = inputs.shape
        parts = self.to_query_key_value(inputs).view(walks, tokens, 3, self.heads, self.head_width)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (B, H, T, d)
        return query, key, value

    def _join(self, mixed: Tensor) -> Tensor:
        walks, heads, tokens, head_width = mixed.shape
        joined: Tensor = self.to_output(mixed.transpose(1, 2).reshape(walks, tokens, heads * head_width))
        return joined

    def _recall(self, key: Tensor, value: Tensor, memory: Memory | None) -> tuple[Tensor, Tensor]:
        """Keys and values with the remembered ones in front: (B, H, W + T, d), or (B, H, T, d) without memory."""
        if memory is None:
            return key, value
        return torch.cat([memory[0], key], dim=2), torch.cat([memory[1], value], dim=2)

    def _mask(self, tokens: int, memory: Memory | None, device: torch.device) -> Tensor:
        """True where a query may look: (T, T), or (B, 1, T, W + T) with memory. The span counts the token itself."""
        remembered = 0 if memory is None else self.span
        index = torch.arange(remembered + tokens, device=device)
        distance = index[remembered:, None] - index[None]
        allowed = (distance >= 0) & (distance < self.span)
        if memory is None:
            return allowed
        real = torch.cat([memory[3], memory[3].new_ones(memory[3].shape[0], tokens)], dim=1)
        return allowed & real[:, None, None]

    def _remember(
        self, keys: Tensor, values: Tensor, placed: Tensor, memory: Memory | None, tokens: int
    ) -> Memory:
        """The last `span` keys and values, padded in front where there were fewer."""
        walks = keys.shape[0]
        real = keys.new_ones(walks, tokens, dtype=torch.bool)
        if memory is not None:
            real = torch.cat([memory[3], real], dim=1)
        missing = self.span - keys.shape[2]
        if missing <= 0:  # as in every later step: what lies in memory already is not copied
            return keys[:, :, -self.span :], values[:, :, -self.span :], placed, real[:, -self.span :]
        keys, values = (nn.functional.pad(part, (0, 0, missing, 0)) for part in (keys, values))
        return keys, values, placed, nn.functional.pad(real, (missing, 0))


class PathAttention(_Attention):
    """Rotary attention whose angles turn partly with time and partly with the path taken."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__(width, heads, span)
        self.by_time = self.angles - self.angles // 2
        rates = 100.0 ** (-torch.arange(self.by_time) / self.by_time)
        self.register_buffer("time_rates", rates, persistent=False)
        self.to_increments = nn.Linear(width, heads * (self.angles // 2))
        nn.init.normal_(self.to_increments.weight, std=1 / math.sqrt(width))  # about one radian a step
        nn.init.zeros_(self.to_increments.bias)
        self.time_rates: Tensor

    def forward(self, inputs: Tensor, memory: Memory | None, remember: bool) -> tuple[Tensor, Memory | None]:
        query, key, value = self._split(inputs)
        angles, placed = self._turn(inputs, memory)
        cosine, sine = angles.cos(), angles.sin()
        query, key = _rotate(query, cosine, sine), _rotate(key, cosine, sine)
        keys, values = self._recall(key, value, memory)
        mask = self._mask(inputs.shape[1], memory, inputs.device)
        mixed = scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        kept = self._remember(keys, values, placed, memory, inputs.shape[1]) if remember else None
        return self._join(mixed), kept

    def _turn(self, inputs: Tensor, memory: Memory | None) -> tuple[Tensor, Tensor]:
        """Each token's angles (B, H, T, d/2), and the last ones, kept small so that long walks lose no precision."""
        walks, tokens, _ = inputs.shape
        path = self.to_increments(inputs).view(walks, tokens, self.heads, -1)
        time = self.time_rates.expand(walks, tokens, self.heads, -1)
        angles = torch.cat([time, path], dim=3).transpose(1, 2).cumsum(dim=2)
        if memory is not None:
            angles = angles + memory[2][:, :, None]
        return angles, angles[:, :, -1].remainder(2 * math.pi)


class RelativeAttention(_Attention):
    """Transformer-XL's attention: content and distance each have their own keys and their own global query."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__(width, heads, span)
        self.to_distance_key = nn.Linear(width, width, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(heads, 1, self.head_width))
        self.distance_bias = nn.Parameter(torch.zeros(heads, 1, self.head_width))
        rates = 10000.0 ** (-torch.arange(0, width, 2) / width)
        self.register_buffer("rates", rates, persistent=False)
        self.rates: Tensor

    def forward(self, inputs: Tensor, memory: Memory | None, remember: bool) -> tuple[Tensor, Memory | None]:
        query, key, value = self._split(inputs)
        keys, values = self._recall(key, value, memory)
        by_content = (query + self.content_bias) @ keys.transpose(2, 3)  # (B, H, T, W + T)
        by_distance = (query + self.distance_bias) @ self._distance_keys(keys.shape[2])
        logits = (by_content + _shift(by_distance, keys.shape[2])) / math.sqrt(self.head_width)
        allowed = self._mask(inputs.shape[1], memory, inputs.device)
        mixed = logits.masked_fill(~allowed, -torch.inf).softmax(dim=3) @ values
        placed = inputs.new_zeros(inputs.shape[0], self.heads, self.angles)
        kept = self._remember(keys, values, placed, memory, inputs.shape[1]) if remember else None
        return self._join(mixed), kept

    def _distance_keys(self, length: int) -> Tensor:
        """(H, d, length): keys of the distances length - 1, ..., 1, 0."""
        distances = torch.arange(length - 1, -1, -1, device=self.rates.device)
        angles = distances[:, None] * self.rates
        waves = torch.cat([angles.sin(), angles.cos()], dim=1)  # (length, D)
        return self.to_distance_key(waves).view(length, self.heads, self.head_width).permute(1, 2, 0)


def _rotate(vectors: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn the pairs (i, i + d/2) of each vector by its token's angles."""
    first, second = vectors.chunk(2, dim=3)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=3)


def _shift(by_distance: Tensor, length: int) -> Tensor:
    """From a column per distance to a column per key: row t moves left by what lies ahead of it.

    Row t of T sits at index length - T + t, so key j is at distance (length - T + t) - j. Padding one column and
    reading the memory with rows one shorter shifts each row by one more than the last (Transformer-XL's trick).
    Entries in the future hold another row's numbers; the mask hides them.
    """
    walks, heads, tokens, _ = by_distance.shape
    padded = nn.functional.pad(by_distance, (1, 0)).view(walks, heads, length + 1, tokens)
    return padded[:, :, 1:].reshape(walks, heads, tokens, length)
