"""One training step: forward, losses, gradients, and updates of the dictionary and the teacher."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from cogmap.models.bottleneck import EMABottlenecks
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.seen_set_encoder import SeenSetEncoder
from cogmap.models.tdb import TDB, Forward, Model, previous_actions
from cogmap.training.config import TrainingConfig
from cogmap.training.devices import GradientSums, has_bfloat16
from cogmap.training.losses import bottleneck_loss, encoding_loss, observation_loss
from cogmap.training.optimizers import Optimizers
from cogmap.walks.batches import Window


def lower_precision(
    device_type: str, model: ModelConfig, wanted: bool | None
) -> AbstractContextManager[object]:
    """Products in bfloat16; weights, codes and losses stay in 32 bits. None: where that is faster.

    That is where the device has units for it, on a CPU for the fast GRU and the fast transformer.
    """
    plain = model.form == "fast" and model.encoder != "lstm" and not model.slot_encoder
    if wanted is None:
        wanted = has_bfloat16(device_type) and (plain or device_type != "cpu")
    return torch.autocast(device_type, torch.bfloat16) if wanted else nullcontext()


def make_teacher(student: nn.Module, decay: float) -> AveragedModel:
    """A copy of the student whose weights are an exponential moving average of the student's.

    Buffers (a dictionary's moving averages) are copied: they are averages already.
    """
    teacher = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(decay))
    return teacher.requires_grad_(False)


@torch.no_grad()
def update_teacher(teacher: AveragedModel, student: nn.Module) -> None:
    teacher.update_parameters(student)
    for kept, current in zip(teacher.module.buffers(), student.buffers(), strict=True):
        kept.copy_(current)


@dataclass(frozen=True)
class Lanes:
    """This process's lanes of a window as tensors, and the number of known targets in the whole window."""

    observations: Tensor  # (B, T)
    actions: Tensor  # (B, T + S - 1)
    targets: Tensor  # (B, T + S - 1)
    known: Tensor  # (B, T + S - 1)
    previous_action: Tensor  # (B,)
    fresh: Tensor  # (B,)
    totals: Tensor  # (S,) known targets s + 1 steps ahead, over all processes


class StepReport:
    """The results of one update, over this process's lanes. Numbers stay on the device until they are asked for."""

    def __init__(
        self,
        losses: Mapping[str, Tensor | float],
        right: Tensor | int,
        known: Tensor | int,
        codes: Tensor | None,
        mask: Tensor | None = None,
    ) -> None:
        """codes: (n, M); or (B, N, M) of which those where `mask` (B, N) is true are meant."""
        self._losses, self._right, self._known, self._codes, self._mask = losses, right, known, codes, mask

    @cached_property
    def losses(self) -> dict[str, float]:
        return {name: float(loss) for name, loss in self._losses.items()}

    @cached_property
    def right(self) -> int:
        return int(self._right)

    @cached_property
    def known(self) -> int:
        return int(self._known)

    @cached_property
    def codes(self) -> Tensor | None:
        """(n, M) active codes."""
        return self._codes if self._codes is None or self._mask is None else self._codes[self._mask]

    def settled(self) -> StepReport:
        """The same in numbers. Small tensors kept from the middle of a step would break up the heap of a CPU."""
        return StepReport(self.losses, self.right, self.known, self.codes)


def take_lanes(window: Window, lanes: slice, ahead: int, device: torch.device) -> Lanes:
    steps = window.observations.shape[1]
    totals = [window.known[:, offset : offset + steps].sum() for offset in range(ahead)]

    def tensor(name: str) -> Tensor:
        part = torch.from_numpy(getattr(window, name)[lanes])
        return (part.pin_memory() if device.type == "cuda" else part).to(device, non_blocking=True)

    return Lanes(
        observations=tensor("observations").long(),
        actions=tensor("actions").long(),
        targets=tensor("targets").long(),
        known=tensor("known"),
        previous_action=tensor("previous_action").long(),
        fresh=tensor("fresh"),
        totals=torch.tensor(totals).clamp_min(1).float().to(device, non_blocking=True),
    )


def update(
    model: Model,
    teacher: AveragedModel | None,
    optimizers: Optimizers,
    lanes: Lanes,
    state: EncoderState | None,
    strength: float,
    scale: float,
    config: TrainingConfig,
    gradients: GradientSums,
    generator: torch.Generator,
) -> tuple[StepReport, EncoderState | None]:
    """One optimizer step at `scale` of the learning rate. Returns the report and the encoder's next state.

    strength: how far the bottleneck is annealed. The weight of its loss grows with it, because at full weight from the
        start the outputs would collapse onto a few codes.
    """
    known = lanes.known[:, : lanes.observations.shape[1]]
    if strength:
        _initialise_dictionary(model, lanes, state, known, generator)
        if teacher is not None and teacher.n_averaged == 0:
            # The first update copies the student, including its dictionary.
            update_teacher(teacher, model)
    with lower_precision(lanes.observations.device.type, model.config, config.bfloat16):
        result = model(
            lanes.observations, lanes.actions, lanes.previous_action, state, strength, config.carry_state
        )
        losses = _losses(model, teacher, result, lanes, state, strength, config)
    optimizers.zero_grad()
    torch.stack(list(losses.values())).sum().backward()
    gradients.finish()
    if config.clip is not None:
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
    optimizers.step(scale)
    if result.quantized is not None:
        if isinstance(model, TDB) and isinstance(model.bottlenecks, EMABottlenecks):
            model.bottlenecks.update_dictionary(result.quantized, lanes.observations, known, generator)
        if teacher is not None:
            update_teacher(teacher, model)
    carried = result.state.detach() if config.carry_state and result.state is not None else None
    return _report(result, losses, lanes, known), carried


def _losses(
    model: Model,
    teacher: AveragedModel | None,
    result: Forward,
    lanes: Lanes,
    state: EncoderState | None,
    strength: float,
    config: TrainingConfig,
) -> dict[str, Tensor]:
    losses = {"observation": observation_loss(result.logits, lanes.targets, lanes.known, lanes.totals)}
    steps = lanes.observations.shape[1]
    if result.quantized is not None:
        losses["bottleneck"] = strength * bottleneck_loss(
            result.quantized,
            config.commitment_weight,
            lanes.known[:, :steps],
            lanes.totals[0],
            config.bottleneck_mean,
        )
    if config.present_weight and isinstance(model.encoder, SeenSetEncoder):
        present = model.encoder.present_logits(lanes.observations, state)[:, 1:]  # targets are one step ahead
        losses["present"] = config.present_weight * observation_loss(
            [present], lanes.targets[:, : steps - 1], lanes.known[:, : steps - 1], lanes.totals[:1]
        )
    if result.next_encoding is not None and teacher is not None:
        # The teacher uses the student's carried state, because it is a slowly moving copy of the same network.
        with torch.no_grad():
            target = teacher(lanes.observations, lanes.actions, lanes.previous_action, state)
        vectors = target.quantized.vectors
        losses["encoding"] = encoding_loss(
            result.next_encoding, vectors, lanes.known[:, : steps - 1], lanes.totals[0]
        )
    return losses


def _initialise_dictionary(
    model: Model, lanes: Lanes, state: EncoderState | None, known: Tensor, generator: torch.Generator
) -> None:
    """Start an EMA dictionary from this batch, when the bottleneck is switched on."""
    if (
        isinstance(model, TDB)
        and isinstance(model.bottlenecks, EMABottlenecks)
        and not model.bottlenecks.ready
    ):
        before = previous_actions(lanes.actions, lanes.previous_action, lanes.observations.shape[1])
        with torch.no_grad():
            outputs, _ = model.encoder(lanes.observations, before, state)
        model.bottlenecks.initialise(outputs, lanes.observations, known, generator)


def _report(result: Forward, losses: dict[str, Tensor], lanes: Lanes, known: Tensor) -> StepReport:
    steps = lanes.observations.shape[1]
    right = (result.logits[0].argmax(2) == lanes.targets[:, :steps]) & known
    codes = None if result.quantized is None else result.quantized.codes
    detached = {name: loss.detach() for name, loss in losses.items()}
    return StepReport(detached, right.sum(), known.sum(), codes, known)
