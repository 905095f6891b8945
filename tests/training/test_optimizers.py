"""Our Muon against torch's, and the singular values of its updates."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from cogmap.training.optimizers import Muon, orthogonalised

SHAPES = [(48, 16), (16, 48), (24, 24)]


@pytest.mark.parametrize("shape", SHAPES)
def test_it_moves_as_torchs_own_does(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(0)
    ours = nn.Parameter(torch.randn(shape, generator=generator))
    theirs = nn.Parameter(ours.detach().clone())
    start = ours.detach().clone()
    optimizers = Muon([ours], 0.02), torch.optim.Muon([theirs], lr=0.02, weight_decay=0.0)
    for _ in range(5):
        ours.grad = torch.randn(shape, generator=generator)
        theirs.grad = ours.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    moved, apart = (ours - start).norm(), (ours - theirs).norm()
    assert apart < 0.02 * moved  # theirs rounds to bfloat16, which has eight bits


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_vectors_stay_and_singular_values_come_near_one(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    inside = left.T @ orthogonalised(matrix) @ right.T  # diagonal, if the singular vectors are the same
    values = inside.diagonal()
    assert float(values.min()) > 0.6
    assert float(values.max()) < 1.3
    assert torch.allclose(inside, values.diag(), atol=1e-4)


def test_a_zero_gradient_changes_nothing() -> None:
    matrix = nn.Parameter(torch.ones(4, 3))
    matrix.grad = torch.zeros(4, 3)
    Muon([matrix], 0.02).step()
    assert torch.equal(matrix, torch.ones(4, 3))
