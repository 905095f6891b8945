"""Adam for all parameters (as in the paper), or Muon for the transformer's matrices and Adam for the rest.

In first trials on small rooms, Muon needed about half as many steps as Adam with the transformer, and no fewer with the
GRU.

Muon replaces each momentum update by a nearly orthogonal matrix. Why not `torch.optim.Muon`: it computes in bfloat16,
which CPUs without bfloat16 units emulate. Ours computes in float32. A step is then some 16 times as fast with AVX2 and
3 times as fast with AVX-512. On CPUs with bfloat16 units it is 0.5 to 1.5 times as fast, mostly slower; ours stays
there so that a seed gives the same weights. `python -m benchmarks.training` prints the ratio; with
ATEN_CPU_CAPABILITY=avx2 and ONEDNN_MAX_CPU_ISA=AVX2 it is that of an older CPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
import torch.distributed as distributed
from torch import Tensor, nn

from cogmap.training.config import TrainingConfig
from cogmap.training.devices import Processes

MOMENTUM = 0.95
ITERATIONS = 5
# Of the polynomial a x + b x^3 + c x^5 by Jordan et al. (2024). It raises small singular values quickly; all end
# between about 0.7 and 1.2 instead of at 1, which does not harm training.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
SMALLEST_NORM = 1e-7


class Muon(torch.optim.Optimizer):
    """For matrices (rows, columns) only. Processes that train together share the matrices among them."""

    def __init__(
        self, matrices: Iterable[nn.Parameter], rate: float, processes: Processes | None = None
    ) -> None:
        super().__init__(matrices, {"lr": rate})
        self._processes = processes or Processes()

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            matrices = [matrix for matrix in group["params"] if matrix.grad is not None]
            directions = [self._nesterov(matrix) for matrix in matrices]
            for matrix, update in zip(matrices, self._orthogonalised(directions), strict=True):
                rows, columns = matrix.shape
                scale = math.sqrt(max(1.0, rows / columns))
                matrix.sub_(update, alpha=group["lr"] * scale)

    def _orthogonalised(self, matrices: list[Tensor]) -> list[Tensor]:
        """Every process computes its share, and one message brings all of them to all."""
        if self._processes.count == 1 or not matrices:
            return [orthogonalised(matrix) for matrix in matrices]
        row = matrices[0].new_zeros(sum(matrix.numel() for matrix in matrices))
        parts = row.split([matrix.numel() for matrix in matrices])
        owners = shared_work([_work(matrix) for matrix in matrices], self._processes.count)
        for matrix, part, owner in zip(matrices, parts, owners, strict=True):
            if owner == self._processes.rank:
                part.copy_(orthogonalised(matrix).flatten())
        distributed.all_reduce(row)
        return [part.view_as(matrix) for matrix, part in zip(matrices, parts, strict=True)]

    def _nesterov(self, matrix: nn.Parameter) -> Tensor:
        """(rows, columns): the gradient with Nesterov momentum."""
        gradient, state = matrix.grad, self.state[matrix]
        assert gradient is not None
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(gradient)
        average: Tensor = state["momentum_buffer"].lerp_(gradient, 1 - MOMENTUM)
        return gradient.lerp(average, MOMENTUM)


def _work(matrix: Tensor) -> int:
    """What `orthogonalised` takes, but for a factor."""
    return matrix.numel() * min(matrix.shape)


def shared_work(work: Sequence[int], processes: int) -> list[int]:
    """The process of each piece of work: the largest first, each to the one with the least so far."""
    load, owner = [0] * processes, [0] * len(work)
    for piece in sorted(range(len(work)), key=lambda each: (-work[each], each)):
        owner[piece] = load.index(min(load))
        load[owner[piece]] += work[piece]
    return owner


def orthogonalised(matrix: Tensor) -> Tensor:
    """(rows, columns): the same singular vectors with all singular values near 1, by Newton-Schulz iteration."""
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

    def __init__(self, model: nn.Module, config: TrainingConfig, processes: Processes | None = None) -> None:
        muon_rate = config.muon_rate
        by_muon = _matrices(model) if muon_rate is not None else []
        chosen = {id(parameter) for parameter in by_muon}
        rest = [
            parameter
            for parameter in model.parameters()
            if parameter.requires_grad and id(parameter) not in chosen
        ]
        # One kernel for all parameters where there is one; on CPUs it rounds differently and is not faster.
        fused = bool(rest) and rest[0].device.type == "cuda"
        betas = (0.9, config.second_moment)
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.Adam(rest, lr=config.learning_rate, betas=betas, fused=fused or None)
        ]
        if muon_rate is not None and by_muon:
            self.parts.append(Muon(by_muon, muon_rate, processes))
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
        """The state of all optimizers as a flat dictionary, for a checkpoint."""
        return {
            f"{part_index}.{parameter_index}.{name}": value
            for part_index, part in enumerate(self.parts)
            for parameter_index, state in part.state_dict()["state"].items()
            for name, value in state.items()
        }

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Take up what `tensors` gave; a ValueError where it is of other parameters.

        A parameter that has had no gradient yet has no state.
        """
        states: list[dict[int, dict[str, torch.Tensor]]] = [{} for _ in self.parts]
        for key, value in tensors.items():
            owner, parameter_index, name = key.split(".", 2)
            states[_index(owner)].setdefault(_index(parameter_index), {})[name] = value
        for part, state in zip(self.parts, states, strict=True):
            _check_state(part, state)
            part.load_state_dict({**part.state_dict(), "state": state})


def _index(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ValueError(f"a state of an optimizer must be named by two numbers, got {text[:40]!r}")
    return int(text)


def _check_state(part: torch.optim.Optimizer, state: dict[int, dict[str, Tensor]]) -> None:
    """Each parameter's state must be whole, and of the parameter's shape."""
    parameters = [parameter for group in part.param_groups for parameter in group["params"]]
    whole = {"momentum_buffer"} if isinstance(part, Muon) else {"step", "exp_avg", "exp_avg_sq"}
    for index, found in state.items():
        if set(found) != whole:
            rule = f"the state of parameter {index} must be {', '.join(sorted(whole))}"
            raise ValueError(f"{rule}, got {', '.join(sorted(found))}")
        for name, value in found.items():
            expected = () if name == "step" else tuple(parameters[index].shape)
            if tuple(value.shape) != expected or not value.dtype.is_floating_point:
                got = f"{value.dtype} of shape {tuple(value.shape)}"
                raise ValueError(
                    f"`{name}` of parameter {index} must be numbers of shape {expected}, got {got}"
                )


def _matrices(model: nn.Module) -> list[nn.Parameter]:
    """The matrices of the encoder's blocks, except for the angle increments, whose scale matters."""
    return [
        parameter
        for name, parameter in model.named_parameters()
        if name.startswith(("encoder.blocks.", "encoder.reader.blocks."))
        and parameter.dim() == 2
        and "to_increments" not in name
    ]
