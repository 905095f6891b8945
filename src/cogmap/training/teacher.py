"""The teacher network: a moving average of the student, through which no gradient flows."""

from __future__ import annotations

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


def make_teacher(student: nn.Module, decay: float) -> AveragedModel:
    """A copy whose weights become `decay` of themselves plus (1 - decay) of the student's at each update.

    Buffers (a dictionary's running sums) are taken over as they are: they are averages already.
    """
    teacher = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(decay))
    return teacher.requires_grad_(False)


@torch.no_grad()
def update_teacher(teacher: AveragedModel, student: nn.Module) -> None:
    teacher.update_parameters(student)
    for kept, current in zip(teacher.module.buffers(), student.buffers(), strict=True):
        kept.copy_(current)
