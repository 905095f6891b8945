"""A row of metrics: what the steps since the last validation add up to."""

from __future__ import annotations

import math

import numpy as np
import torch

from cogmap.errors import Diverged
from cogmap.models.config import ModelConfig
from cogmap.training.config import TrainingConfig
from cogmap.training.progress import Row
from cogmap.training.step import StepReport


def mean_of_reports(reports: list[StepReport], config: ModelConfig) -> Row:
    """Losses, accuracy on the training windows and use of the dictionary, over the steps of these reports."""
    losses = [report.losses for report in reports]
    mean = {name: float(np.mean([loss.get(name, 0.0) for loss in losses])) for name in losses[-1]}
    used, perplexity = _dictionary_use(
        [report.codes for report in reports if report.codes is not None], config
    )
    right, known = sum(report.right for report in reports), sum(report.known for report in reports)
    return {
        "loss": sum(mean.values()),
        **{f"{name}_loss": value for name, value in mean.items()},
        "train_accuracy": right / max(known, 1),
        "codes_in_use": used,
        "perplexity": perplexity,
    }


def check_finite(reports: list[StepReport], last_step: int, config: TrainingConfig) -> None:
    """Raise `Diverged` if a loss is not finite. `last_step` is the number of the last report's step."""
    for index, report in enumerate(reports):
        wrong = [name for name, loss in report.losses.items() if not math.isfinite(loss)]
        if wrong:
            step = last_step - len(reports) + index + 1
            got = f"at step {step} the {wrong[0]} loss is {report.losses[wrong[0]]}"
            rates = ["learning_rate"] if config.muon_rate is None else ["learning_rate", "muon_rate"]
            lower = " and ".join(f"`{name}` (={getattr(config, name)})" for name in rates)
            raise Diverged(f"losses must stay finite, {got}: learn again with a lower {lower}")


def _dictionary_use(codes: list[torch.Tensor], config: ModelConfig) -> tuple[list[int], list[float]]:
    """The number of codes in use and their perplexity, for each bottleneck, since the last validation."""
    if not codes:
        return [], []
    used, perplexity = [], []
    for column in torch.cat(codes).unbind(1):
        share = torch.bincount(column, minlength=config.num_codes).double()
        share = share[share > 0] / share.sum()
        used.append(len(share))
        perplexity.append(float(torch.exp(-(share * share.log()).sum())))
    return used, perplexity
