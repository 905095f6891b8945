"""One function per equation. Each is a mean over known steps; the paper takes the sum."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from cogmap.models.bottleneck import Quantized


def observation_loss(logits: Sequence[Tensor], targets: Tensor, known: Tensor, total: Tensor) -> Tensor:
    """Equations 1 and 4: the mean over S of -log p(x_{n+s+1} | history, a_n, ..., a_{n+s}).

    `logits[s]` is (B, N, targets); `targets` and `known` are (B, N + S - 1) with entry n one step after step n.
    `total` (S,) is the number of known targets in the whole batch, over all processes.
    """
    losses = []
    for ahead, prediction in enumerate(logits):
        steps = slice(ahead, ahead + prediction.shape[1])
        loss = cross_entropy(prediction.transpose(1, 2), targets[:, steps], reduction="none")  # (B, N)
        losses.append((loss * known[:, steps]).sum() / total[ahead])
    return torch.stack(losses).mean()


def bottleneck_loss(
    quantized: Quantized, commitment_weight: float, known: Tensor, total: Tensor, mean: bool = False
) -> Tensor:
    """Equation 3, summed over bottlenecks: |d - sg(e)|^2 + beta |sg(d) - e|^2. `known` is (B, N), `total` its count.

    mean: squared distances are divided by the width of an entry, as Haiku's and Sonnet's quantizers do.
    """
    entries, outputs = quantized.entries, quantized.outputs  # (B, N, M, W)
    towards_output = (entries - outputs.detach()).square().sum((2, 3))
    towards_entry = (entries.detach() - outputs).square().sum((2, 3))
    loss = ((towards_output + commitment_weight * towards_entry) * known).sum() / total
    return loss / outputs.shape[3] if mean else loss


def encoding_loss(predicted: Tensor, teacher_vectors: Tensor, known: Tensor, total: Tensor) -> Tensor:
    """Equation 5: squared distance between g's prediction at n and the teacher's vectors at n + 1, both normalised.

    `predicted` and `teacher_vectors` are (B, N, M * W) of the same steps; `known` is (B, N - 1) for step n + 1.
    """
    difference = normalize(predicted[:, :-1], dim=2) - normalize(teacher_vectors[:, 1:].detach(), dim=2)
    return (difference.square().sum(2) * known).sum() / total
