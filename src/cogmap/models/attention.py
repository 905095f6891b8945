"""Causal self-attention over a limited span of tokens, with a memory that carries over to the next tokens.

Two kinds of position encoding:
- `PathAttention`, of the fast form: rotary angles. Half of them turn with time, half with the *path*: each token adds
  an increment that it computes itself, so that two tokens at the same place can reach the same angle.
- `RelativeAttention`, of the paper's form: Transformer-XL's learned bias on the distance in tokens.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Memory(NamedTuple):
    """A layer's memory of the last W tokens, where W is its span."""

    keys: Tensor  # (B, H, W, d)
    values: Tensor  # (B, H, W, d)
    angles: Tensor  # (B, H, d/2) of the last token
    valid: Tensor  # (B, W) false for padding


class _Attention(nn.Module):
    """Projections, mask and memory. Subclasses add the position encoding."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__()
        self.heads, self.span, self.head_width = heads, span, width // heads
        self.to_query_key_value = nn.Linear(width, 3 * width)
        self.to_output = nn.Linear(width, width)

    @property
    def num_angles(self) -> int:
        """Rotary angles of a head."""
        return self.head_width // 2

    def initial_memory(self, walks: int, device: torch.device) -> Memory:
        keys = torch.zeros(walks, self.heads, self.span, self.head_width, device=device)
        angles = torch.zeros(walks, self.heads, self.num_angles, device=device)
        valid = torch.zeros(walks, self.span, dtype=torch.bool, device=device)
        return Memory(keys, keys.clone(), angles, valid)

    def _project(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        walks, tokens, _ = inputs.shape
        parts = self.to_query_key_value(inputs).view(walks, tokens, 3, self.heads, self.head_width)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each (B, H, T, d)
        return query, key, value

    def _merge_heads(self, mixed: Tensor) -> Tensor:
        walks, heads, tokens, head_width = mixed.shape
        merged: Tensor = self.to_output(mixed.transpose(1, 2).reshape(walks, tokens, heads * head_width))
        return merged

    def _prepend(self, memory: Memory | None, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values after those in memory: (B, H, W + T, d), or (B, H, T, d) without memory."""
        if memory is None:
            return key, value
        return torch.cat([memory.keys, key], dim=2), torch.cat([memory.values, value], dim=2)

    def _mask(self, tokens: int, memory: Memory | None, device: torch.device) -> Tensor:
        """True where a query may attend: (T, T), or (B, 1, T, W + T) with memory. The span includes the query."""
        earlier = 0 if memory is None else self.span
        index = torch.arange(earlier + tokens, device=device)
        distance = index[earlier:, None] - index[None]
        allowed = (distance >= 0) & (distance < self.span)
        if memory is None:
            return allowed
        return allowed & self._valid(memory, tokens, memory.valid)[:, None, None]

    def _new_memory(
        self, keys: Tensor, values: Tensor, angles: Tensor, memory: Memory | None, tokens: int
    ) -> Memory:
        """The last `span` keys and values, padded in front if there are fewer."""
        valid = self._valid(memory, tokens, keys)
        missing = self.span - keys.shape[2]
        if missing <= 0:  # views only: nothing is copied
            return Memory(
                keys[:, :, -self.span :], values[:, :, -self.span :], angles, valid[:, -self.span :]
            )
        keys, values = (nn.functional.pad(part, (0, 0, missing, 0)) for part in (keys, values))
        return Memory(keys, values, angles, nn.functional.pad(valid, (missing, 0)))

    def _valid(self, memory: Memory | None, tokens: int, like: Tensor) -> Tensor:
        """(B, W + T), or (B, T) without memory: true for all new tokens and the valid ones in memory."""
        new = like.new_ones(like.shape[0], tokens, dtype=torch.bool)
        return new if memory is None else torch.cat([memory.valid, new], dim=1)


class PathAttention(_Attention):
    """Rotary attention. Some angles turn with time, the others with the path."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__(width, heads, span)
        self.by_time = self.num_angles - self.num_angles // 2
        rates = 100.0 ** (-torch.arange(self.by_time) / self.by_time)
        self.register_buffer("time_rates", rates, persistent=False)
        self.to_increments = nn.Linear(width, heads * (self.num_angles // 2))
        nn.init.normal_(self.to_increments.weight, std=1 / math.sqrt(width))  # about one radian per step
        nn.init.zeros_(self.to_increments.bias)
        self.time_rates: Tensor

    def forward(
        self, inputs: Tensor, memory: Memory | None, return_memory: bool
    ) -> tuple[Tensor, Memory | None]:
        query, key, value = (part.to(inputs.dtype) for part in self._project(inputs))
        # Attention in bfloat16 is slow on CPUs, and sums of angles need 32 bits.
        with torch.autocast(inputs.device.type, enabled=False):
            angles, last_angles = self._angles(inputs, memory)
            query, key = Rotation.apply(query, key, angles)
            keys, values = self._prepend(memory, key, value)
            mask = self._mask(inputs.shape[1], memory, inputs.device)
            mixed = scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        new = self._new_memory(keys, values, last_angles, memory, inputs.shape[1]) if return_memory else None
        return self._merge_heads(mixed), new

    def _angles(self, inputs: Tensor, memory: Memory | None) -> tuple[Tensor, Tensor]:
        """The angles of each token (B, H, T, d/2), and those of the last token modulo 2 pi, to keep their precision."""
        walks, tokens, _ = inputs.shape
        path = self.to_increments(inputs).view(walks, tokens, self.heads, -1)
        time = self.time_rates.expand(walks, tokens, self.heads, -1)
        angles = torch.cat([time, path], dim=3).transpose(1, 2).cumsum(dim=2)
        if memory is not None:
            angles = angles + memory.angles[:, :, None]
        return angles, angles[:, :, -1].remainder(2 * math.pi)


class RelativeAttention(_Attention):
    """Transformer-XL's attention: content and distance each have their own keys and a global query bias."""

    def __init__(self, width: int, heads: int, span: int) -> None:
        super().__init__(width, heads, span)
        self.to_distance_key = nn.Linear(width, width, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(heads, 1, self.head_width))
        self.distance_bias = nn.Parameter(torch.zeros(heads, 1, self.head_width))
        rates = 10000.0 ** (-torch.arange(0, width, 2) / width)
        self.register_buffer("rates", rates, persistent=False)
        self.rates: Tensor

    def forward(
        self, inputs: Tensor, memory: Memory | None, return_memory: bool
    ) -> tuple[Tensor, Memory | None]:
        query, key, value = self._project(inputs)
        keys, values = self._prepend(memory, key, value)
        by_content = (query + self.content_bias) @ keys.transpose(2, 3)  # (B, H, T, W + T)
        by_distance = (query + self.distance_bias) @ self._distance_keys(keys.shape[2])
        logits = (by_content + _shift(by_distance, keys.shape[2])) / math.sqrt(self.head_width)
        allowed = self._mask(inputs.shape[1], memory, inputs.device)
        mixed = logits.masked_fill(~allowed, -torch.inf).softmax(dim=3) @ values
        angles = inputs.new_zeros(inputs.shape[0], self.heads, self.num_angles)  # not used in this form
        new = self._new_memory(keys, values, angles, memory, inputs.shape[1]) if return_memory else None
        return self._merge_heads(mixed), new

    def _distance_keys(self, length: int) -> Tensor:
        """(H, d, length): the keys of the distances length - 1, ..., 1, 0."""
        distances = torch.arange(length - 1, -1, -1, device=self.rates.device)
        angles = distances[:, None] * self.rates
        waves = torch.cat([angles.sin(), angles.cos()], dim=1)  # (length, D)
        return self.to_distance_key(waves).view(length, self.heads, self.head_width).permute(1, 2, 0)


class Rotation(torch.autograd.Function):
    """Rotates the pairs (i, i + d/2) of queries and keys (B, H, T, d) by their token's angles (B, H, T, d/2).

    Its own backward pass, because autograd would go over the numbers three times as often.
    """

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
        cosine, sine = angles.cos(), angles.sin()
        rotated = _rotated(query, cosine, sine), _rotated(key, cosine, sine)
        context.save_for_backward(cosine, sine, *rotated)
        return rotated

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        cosine, sine, *rotated = context.saved_tensors
        back = -sine
        grad_query, grad_key = (_rotated(gradient, cosine, back) for gradient in gradients)
        # An angle moves a rotated pair (x, y) by (-y, x).
        grad_angles = torch.zeros_like(cosine)
        for gradient, vectors in zip(gradients, rotated, strict=True):
            (grad_first, grad_second), (first, second) = gradient.chunk(2, dim=3), vectors.chunk(2, dim=3)
            grad_angles.addcmul_(grad_second, first).addcmul_(grad_first, second, value=-1)
        return grad_query, grad_key, grad_angles


def _rotated(vectors: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """The pairs (i, i + d/2) of each vector, rotated by the angles with this cosine and sine."""
    rotated = torch.empty(vectors.shape, dtype=vectors.dtype, device=vectors.device)
    (first, second), (new_first, new_second) = vectors.chunk(2, dim=3), rotated.chunk(2, dim=3)
    torch.mul(first, cosine, out=new_first).addcmul_(second, sine, value=-1)
    torch.mul(first, sine, out=new_second).addcmul_(second, cosine)
    return rotated


def _shift(by_distance: Tensor, length: int) -> Tensor:
    """From one column per distance to one column per key, by shifting row t left by T - 1 - t columns.

    Row t of T is the query at index length - T + t, so key j is at distance (length - T + t) - j. Padding one column
    and viewing the data with rows that are one shorter shifts each row by one more than the last (Transformer-XL's
    trick). Entries in the future hold values of another row; the mask hides them.
    """
    walks, heads, tokens, _ = by_distance.shape
    padded = nn.functional.pad(by_distance, (1, 0)).view(walks, heads, length + 1, tokens)
    return padded[:, :, 1:].reshape(walks, heads, tokens, length)
