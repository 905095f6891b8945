"""What a checkpoint holds beside weights, so that a training resumes exactly where it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cogmap.checks import checked
from cogmap.errors import BadRun
from cogmap.models.config import ModelConfig
from cogmap.training.step import StepReport

CHECKPOINT_FILE = "checkpoint.safetensors"


def checkpoint_path(folder: Path) -> Path:
    return folder / "checkpoint" / CHECKPOINT_FILE


@dataclass(frozen=True)
class Numbers:
    """What a checkpoint holds beside tensors."""

    done_steps: int
    seconds: float
    rows: int  # of metrics.jsonl
    sampler: dict[str, Any]
    schedule: dict[str, Any]
    reports: tuple[dict[str, Any], ...] = ()  # of the steps since the last row
    tensors: int | None = None  # in the file; None before this was stored

    def __post_init__(self) -> None:
        for name in ("done_steps", "seconds", "rows"):
            if getattr(self, name) < 0:
                raise BadRun(f"`{name}` of a checkpoint must be at least 0, got {getattr(self, name)}")


@dataclass(frozen=True)
class StoredReport:
    """The numbers of a step; its codes are among the tensors."""

    losses: dict[str, float]
    right: int
    known: int


def stored_reports(reports: list[StepReport]) -> tuple[dict[str, Any], ...]:
    return tuple({"losses": one.losses, "right": one.right, "known": one.known} for one in reports)


def restored_reports(
    numbers: Numbers, codes: dict[str, torch.Tensor], config: ModelConfig
) -> list[StepReport]:
    """The reports of the steps since the last row of metrics."""
    reports = []
    for index, stored in enumerate(numbers.reports):
        report = checked(StoredReport, stored, "a report of a checkpoint", BadRun)
        losses = {str(name): float(loss) for name, loss in report.losses.items()}
        active = codes.get(str(index))
        if active is not None:
            if active.dim() != 2 or active.shape[1] != config.bottlenecks or active.dtype != torch.int32:
                raise ValueError(f"codes must be rows of {config.bottlenecks}, got {tuple(active.shape)}")
            if len(active) and not 0 <= int(active.min()) <= int(active.max()) < config.num_codes:
                raise ValueError(f"codes must be from 0 to {config.num_codes - 1}")
            active = active.long()
        reports.append(StepReport(losses, report.right, report.known, active))
    return reports
