"""Adam for everything (the paper's), or Muon for the transformer's matrices and Adam for the rest.

In first trials on small rooms Muon took about half of Adam's steps with the transformer, and no fewer with the GRU.

Muon is momentum whose every update is turned into a nearly orthogonal matrix of the same shape. torch's own works in
bfloat16, which processors without units for it only emulate: this one, in float32, takes a fraction of its time there
(`python -m benchmarks.training`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from cogmap.training.config import TrainingConfig

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


class Optimizers:
    """One or two optimizers behind one learning-rate scale."""

    def __init__(self, model: nn.Module, config: TrainingConfig) -> None:
        muon_rate = config.muon_rate
        by_muon = _matrices(model) if muon_rate is not None else []
        chosen = {id(parameter) for parameter in by_muon}
        rest = [
            parameter
            for parameter in model.parameters()
            if parameter.requires_grad and id(parameter) not in chosen
        ]
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.Adam(rest, lr=config.learning_rate, betas=(0.9, config.second_moment))
        ]
        if muon_rate is not None and by_muon:
            self.parts.append(Muon(by_muon, muon_rate))
        self._rates = [part.param_groups[0]["lr"] for part in self.parts]

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad()

    def step(self, scale: float) -> None:
        """One update at `scale` of the full learning rates."""
        for part, rate in zip(self.parts, self._rates, strict=True):
            part.param_groups[0]["lr"] = rate * scale
            part.step()

    def tensors(self) -> dict[str, torch.Tensor]:
        """The optimizers' whole memory, flat, for a checkpoint."""
        return {
            f"{part_index}.{parameter_index}.{name}": value
            for part_index, part in enumerate(self.parts)
            for parameter_index, memory in part.state_dict()["state"].items()
            for name, value in memory.items()
        }

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        for part_index, part in enumerate(self.parts):
            memory: dict[int, dict[str, torch.Tensor]] = {}
            for key, value in tensors.items():
                owner, parameter_index, name = key.split(".", 2)
                if int(owner) == part_index:
                    memory.setdefault(int(parameter_index), {})[name] = value
            part.load_state_dict({**part.state_dict(), "state": memory})


def _matrices(model: nn.Module) -> list[nn.Parameter]:
    """The matrices inside the encoder's blocks. Embeddings are tables; angle increments have a scale of their own."""
    return [
        parameter
        for name, parameter in model.named_parameters()
        if name.startswith(("encoder.blocks.", "encoder.reader.blocks."))
        and parameter.dim() == 2
        and "to_increments" not in name
    ]
