"""Which device to compute on."""

from __future__ import annotations

import torch

from cogmap.errors import BadConfig


def choose_device(name: str) -> torch.device:
    """`auto` is CUDA where there is one, then MPS, then the CPU; anything else is torch's own name for a device."""
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
