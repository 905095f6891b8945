"""The bottleneck and the heads learned again, on an encoder that has come to its end.

Codes are shared out while the encoder still learns. Places that show the same next observations and differ two or three
steps later get common codes then, since that costs the loss little, and codes hardly move afterwards. At the end the
encoder's outputs tell these places apart, so that a new dictionary of the same outputs does, too. Outputs are computed
once for a sample of steps: all of it takes about a tenth of a training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from cogmap.errors import BadConfig
from cogmap.models.bottleneck import EMABottlenecks, Quantized
from cogmap.models.config import ModelConfig
from cogmap.models.inference import encoder_outputs
from cogmap.models.tdb import TDB
from cogmap.records import Integers, Walks
from cogmap.training.config import TrainingConfig
from cogmap.training.losses import bottleneck_loss, observation_loss
from cogmap.training.schedule import Schedule
from cogmap.training.split import DataSplit
from cogmap.walks.log import sampled

MOST_STEPS = 150_000  # whose outputs are held, 150 MB at a width of 256
_PARTS = ("bottlenecks", "heads", "code_logits")  # of a model, all that the encoder's outputs go through
# Shares of the steps: without the bottleneck first, then annealed, and from here on the learning rate decays.
_CONTINUOUS, _ANNEALING, _DECAY = 0.25, 0.1, 0.55


def check_refit(model: ModelConfig, training: TrainingConfig) -> None:
    """Raise `BadConfig` if a refit is asked of a model that has none."""
    if not training.refit_steps:
        return
    for name, has in (
        ("vanilla", model.vanilla),
        ("next_encoding", model.next_encoding),
        ("in_base", model.in_base),
    ):
        if has:
            raise BadConfig(f"`refit_steps` (={training.refit_steps}) must be 0 where `{name}` is true")
    if model.dictionary_kind == "gradient":
        raise BadConfig(
            f"`refit_steps` (={training.refit_steps}) must be 0 for a dictionary trained by gradients"
        )


@dataclass(frozen=True, eq=False)
class _Steps:
    """Some steps of walks, with what the encoder outputs at each."""

    outputs: Tensor  # (n, 1, D)
    observations: Tensor  # (n, 1)
    actions: Tensor  # (n, S) that follow
    targets: Tensor  # (n, S) observed after each of them

    def rows(self, chosen: Tensor) -> _Steps:
        fields = (self.outputs, self.observations, self.actions, self.targets)
        return _Steps(*(field[chosen] for field in fields))


def refit(model: TDB, data: DataSplit, config: TrainingConfig) -> bool:
    """Learn projection, dictionary and heads again, in place; whether held-out walks are then predicted better.

    If not, the model is left as it was.
    """
    training, held_out = (_steps(model, walks) for walks in (data.training, data.validation))
    if not len(training.outputs) or not len(held_out.outputs):  # walks of S steps and less
        return False
    before = {name: getattr(model, name) for name in _PARTS}, _loss(model, held_out)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        fresh = TDB(model.config).to(training.outputs.device)
    for name in _PARTS:
        setattr(model, name, getattr(fresh, name))
    _fit(model, training, config)
    if _loss(model, held_out) < before[1]:
        return True
    for name, part in before[0].items():
        setattr(model, name, part)
    return False


def _steps(model: TDB, walks: Walks) -> _Steps:
    """The steps of walks that S steps follow, or a sample of them."""
    ahead, device = model.config.prediction_steps, next(model.parameters()).device
    some = sampled(walks, MOST_STEPS)
    walk, step = np.nonzero(np.arange(some.num_steps) + ahead < some.lengths[:, None])
    with torch.inference_mode():
        outputs = np.concatenate(list(encoder_outputs(model, some)))[walk, step]
    after = step[:, None] + np.arange(ahead)

    def tensor(values: Integers) -> Tensor:
        return torch.from_numpy(values.astype(np.int64)).to(device)

    return _Steps(
        torch.from_numpy(outputs).to(device)[:, None],
        tensor(some.observations[walk, step])[:, None],
        tensor(some.actions[walk[:, None], after]),
        tensor(some.observations[walk[:, None], after + 1]),
    )


def _fit(model: TDB, steps: _Steps, config: TrainingConfig) -> None:
    assert isinstance(model.bottlenecks, EMABottlenecks)
    parts = [getattr(model, name) for name in _PARTS if getattr(model, name) is not None]
    weights = [weight for part in parts for weight in part.parameters() if weight.requires_grad]
    adam = torch.optim.Adam(weights, config.learning_rate, betas=(0.9, config.second_moment))
    generator = torch.Generator().manual_seed(config.seed)
    size, schedule = config.batch_size * config.window, _schedule(config)
    model.train()
    for step in range(config.refit_steps):
        batch = steps.rows(torch.randint(len(steps.outputs), (size,), generator=generator))
        strength = schedule.strength(step)
        known = torch.ones_like(batch.observations, dtype=torch.bool)
        if strength and not model.bottlenecks.ready:
            model.bottlenecks.initialise(batch.outputs, batch.observations, known, generator)
        adam.param_groups[0]["lr"] = config.learning_rate * schedule.scale(step)
        adam.zero_grad()
        quantized, loss = _losses(model, batch, strength, config)
        loss.backward()
        if config.clip is not None:
            nn.utils.clip_grad_norm_(weights, config.clip)
        adam.step()
        if quantized is not None:
            model.bottlenecks.update_dictionary(quantized, batch.observations, known, generator)
    model.eval()


def _schedule(config: TrainingConfig) -> Schedule:
    total = config.refit_steps
    decay = int(_DECAY * total)
    return Schedule(
        quantize_from=max(1, int(_CONTINUOUS * total)),
        annealing_steps=max(1, int(_ANNEALING * total)),
        warm_up=config.warm_up,
        decay_from=decay,
        decay_steps=total - decay,
    )


def _losses(
    model: TDB, steps: _Steps, strength: float, config: TrainingConfig
) -> tuple[Quantized | None, Tensor]:
    """The quantized outputs, and the losses of a training step."""
    known = torch.ones_like(steps.targets, dtype=torch.bool)
    totals = known.sum(0)
    quantized, logits, _ = model.decode(steps.outputs, steps.observations, steps.actions, strength)
    loss = observation_loss(logits, steps.targets, known, totals)
    if quantized is None:
        return None, loss
    shape = config.commitment_weight, known[:, :1], totals[0], config.bottleneck_mean
    return quantized, loss + strength * bottleneck_loss(quantized, *shape)


@torch.inference_mode()
def _loss(model: TDB, steps: _Steps) -> float:
    """The mean log loss of all heads."""
    model.eval()
    _, logits, _ = model.decode(steps.outputs, steps.observations, steps.actions)
    known = torch.ones_like(steps.targets, dtype=torch.bool)
    return float(observation_loss(logits, steps.targets, known, known.sum(0)))
