"""Muon: momentum whose every update is turned into a nearly orthogonal matrix of the same shape.

torch's own works in bfloat16, which processors without units for it only imitate: this one, in float32, takes a
fraction of its time there (`python -m benchmarks.training`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
ITERATIONS = 5
# Of the polynomial a x + b x^3 + c x^5 by Jordan et al. (2024): it lifts small singular values fast, and leaves all of
# them between about 0.7 and 1.2 instead of at 1, which training does not mind.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
SMALLEST_NORM = 1e-7


class Muon(torch.optim.Optimizer):
    """For matrices (rows, columns) only."""

    def __init__(self, matrices: Iterable[nn.Parameter], rate: float) -> None:
        super().__init__(matrices, {"lr": rate})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is not None:
                    rows, columns = matrix.shape
                    scale = math.sqrt(max(1.0, rows / columns))
                    matrix.sub_(orthogonalised(self._follow(matrix)), alpha=group["lr"] * scale)

    def _follow(self, matrix: nn.Parameter) -> Tensor:
        """(rows, columns): the gradient drawn towards the moving average of all (Nesterov's momentum)."""
        gradient, memory = matrix.grad, self.state[matrix]
        assert gradient is not None
        if "momentum_buffer" not in memory:
            memory["momentum_buffer"] = torch.zeros_like(gradient)
        average: Tensor = memory["momentum_buffer"].lerp_(gradient, 1 - MOMENTUM)
        return gradient.lerp(average, MOMENTUM)


def orthogonalised(matrix: Tensor) -> Tensor:
    """(rows, columns): the same singular vectors, all singular values near 1, by Newton and Schulz's iteration."""
    rows, columns = matrix.shape
    wide = (matrix if rows <= columns else matrix.T.contiguous()) / matrix.norm().clamp_min(SMALLEST_NORM)
    linear, cubic, quintic = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = wide @ wide.T
        powers = torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        wide = torch.addmm(wide, powers, wide, beta=linear)
    return wide if rows <= columns else wide.T
