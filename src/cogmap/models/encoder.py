"""The interface of all encoders: a step is one pair (observation, action), and a state carries over between calls.

A TDB pairs an observation with the action *before* it, so that the output at step n does not depend on a_n. The paper's
vanilla model pairs it with the action *after* it. The encoder treats both alike. Action 0 means "none".

Every encoder has `initial_state(walks, device)`, its state before the first step. A call takes observations and
actions, both (B, N), and optionally a state. It returns outputs (B, N, D) and, with `return_state`, the state after the
last step.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EncoderState:
    """An encoder's state for B walks. Every tensor is (L, B, ...)."""

    tensors: tuple[Tensor, ...]

    def rows(self, index: Tensor) -> EncoderState:
        """The state of the walks `index` (R,), which may repeat."""
        return EncoderState(tuple(tensor.index_select(1, index) for tensor in self.tensors))

    def reset(self, fresh: Tensor) -> EncoderState:
        """The same state, but the initial state for walks where `fresh` (B,) is true."""
        return EncoderState(tuple(_zero_rows(tensor, fresh) for tensor in self.tensors))

    def detach(self) -> EncoderState:
        return EncoderState(tuple(tensor.detach() for tensor in self.tensors))


def _zero_rows(tensor: Tensor, fresh: Tensor) -> Tensor:
    keep = ~fresh.view(1, -1, *([1] * (tensor.dim() - 2)))
    return tensor * keep if tensor.dtype.is_floating_point else tensor & keep
