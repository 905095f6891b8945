"""Each loss against numbers worked by hand, and where its gradients go."""

from __future__ import annotations

import math

import pytest
import torch

from cogmap.models.bottleneck import Quantized
from cogmap.training.losses import bottleneck_loss, encoding_loss, observation_loss


def test_observation_loss_is_the_mean_over_steps_ahead_of_mean_surprise() -> None:
    certain = torch.tensor([[[0.0, math.log(3.0)]]])  # p = 1/4, 3/4
    even = torch.zeros(1, 1, 2)
    targets, known = torch.tensor([[1, 0]]), torch.ones(1, 2)
    loss = observation_loss([certain, even], targets, known, torch.ones(2))
    assert loss.item() == pytest.approx((-math.log(0.75) - math.log(0.5)) / 2)


def test_observation_loss_leaves_unknown_steps_out() -> None:
    logits = torch.tensor([[[5.0, 0.0], [0.0, 5.0]]], requires_grad=True)
    known = torch.tensor([[True, False]])
    loss = observation_loss([logits], torch.tensor([[0, 0]]), known, torch.tensor([1.0]))
    assert loss.item() == pytest.approx(math.log1p(math.exp(-5)))
    loss.backward()
    assert logits.grad[0, 1].abs().sum() == 0


def a_quantized() -> Quantized:
    outputs = torch.tensor([[[[1.0, 2.0]]]], requires_grad=True)
    entries = torch.tensor([[[[4.0, 6.0]]]], requires_grad=True)
    return Quantized(torch.zeros(1, 1, 1, dtype=torch.long), entries.flatten(2), outputs, entries)


def test_bottleneck_loss_by_hand() -> None:
    """|d - e|^2 = 9 + 16 = 25, so the loss is 25 + 0.25 * 25; gradients 2 (d - e) and 0.25 * 2 (e - d)."""
    quantized = a_quantized()
    loss = bottleneck_loss(quantized, 0.25, torch.ones(1, 1), torch.tensor(1.0))
    assert loss.item() == pytest.approx(31.25)
    loss.backward()
    assert quantized.entries.grad.flatten().tolist() == [6.0, 8.0]
    assert quantized.outputs.grad.flatten().tolist() == [-1.5, -2.0]


def test_bottleneck_loss_as_a_mean_is_the_sum_over_the_width_of_an_entry() -> None:
    generator = torch.Generator().manual_seed(0)
    entries, outputs = (torch.randn(2, 3, 4, 5, generator=generator) for _ in range(2))
    quantized = Quantized(torch.zeros(2, 3, 4), entries.flatten(2), outputs, entries)
    known, total = torch.ones(2, 3), torch.tensor(6.0)
    losses = [bottleneck_loss(quantized, 0.25, known, total, mean) for mean in (False, True)]
    assert torch.allclose(losses[0], 5 * losses[1])


def test_bottleneck_loss_is_summed_over_bottlenecks() -> None:
    outputs, entries = torch.zeros(1, 1, 2, 2), torch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]])
    quantized = Quantized(torch.zeros(1, 1, 2, dtype=torch.long), entries.flatten(2), outputs, entries)
    loss = bottleneck_loss(quantized, 0.25, torch.ones(1, 1), torch.tensor(1.0))
    assert loss.item() == pytest.approx(1.25 * (1 + 4))


def test_encoding_loss_compares_directions_one_step_apart() -> None:
    predicted = torch.tensor([[[3.0, 0.0], [9.0, 9.0]]], requires_grad=True)
    teacher = torch.tensor([[[7.0, 7.0], [0.0, 5.0]]], requires_grad=True)
    loss = encoding_loss(predicted, teacher, torch.ones(1, 1), torch.tensor(1.0))
    assert loss.item() == pytest.approx(2.0)  # orthogonal unit vectors
    loss.backward()
    assert teacher.grad is None, "no gradient may reach the teacher"
    assert predicted.grad[0, 1].abs().sum() == 0, "the last prediction has no target"
