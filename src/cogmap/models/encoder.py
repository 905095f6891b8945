"""What every encoder has in common: a step is one pair (observation, action), and a state can be carried on.

A TDB pairs an observation with the action *before* it, so that the output at step n has never seen a_n; the paper's
vanilla model pairs it with the action *after* it. The encoder does not know the difference. Action 0 stands for "none".

Every encoder has `begin(walks, device)`, its state before the first step, and takes observations and actions, both
(B, N), and perhaps a state, to outputs (B, N, D) and, if it is to remember, the state after the last step.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EncoderState:
    """All that an encoder remembers of each walk; every tensor is (L, B, ...) with the walks second."""

    tensors: tuple[Tensor, ...]

    def rows(self, index: Tensor) -> EncoderState:
        """The state of some walks, in the order of `index` (R,); a walk may be asked for several times."""
        return EncoderState(tuple(tensor.index_select(1, index) for tensor in self.tensors))

    def forget(self, fresh: Tensor) -> EncoderState:
        """The same state with nothing remembered of the walks where `fresh` (B,) is true."""
        return EncoderState(tuple(_zero_rows(tensor, fresh) for tensor in self.tensors))

    def detach(self) -> EncoderState:
        return EncoderState(tuple(tensor.detach() for tensor in self.tensors))


def _zero_rows(tensor: Tensor, fresh: Tensor) -> Tensor:
    keep = ~fresh.view(1, -1, *([1] * (tensor.dim() - 2)))
    return tensor * keep if tensor.dtype.is_floating_point else tensor & keep
