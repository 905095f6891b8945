"""The training loop: draw, update, validate, checkpoint; stop when the schedule says so."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cogmap.errors import BadRun
from cogmap.files import read_json_lines, write_whole
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.inference import read_walks
from cogmap.models.tdb import Model, make_model
from cogmap.records import Booleans, Integers, Walks
from cogmap.training.checkpoint import load_tensors, load_weights, save_tensors, under_prefix, with_prefix
from cogmap.training.config import TrainingConfig
from cogmap.training.devices import Processes
from cogmap.training.optimizers import Optimizers
from cogmap.training.progress import Progress, Row
from cogmap.training.schedule import Schedule
from cogmap.training.step import StepReport, make_teacher, take_lanes, update
from cogmap.walks.batches import WindowSampler
from cogmap.walks.family import InBaseSampler

VALIDATION_WALKS = 64  # held back at the most, and at the most one in ten
METRICS_FILE, CHECKPOINT_FILE = "metrics.jsonl", "checkpoint.safetensors"


@dataclass(frozen=True)
class Task:
    """Walks to learn from and walks held back, with what is to be predicted at each step."""

    training: Walks
    training_targets: Integers  # (B, N)
    validation: Walks
    validation_targets: Integers  # (B', N)


class Trainer:
    """A training in progress. Everything it needs to go on is in `checkpoint`, bit for bit."""

    def __init__(
        self,
        model_config: ModelConfig,
        config: TrainingConfig,
        task: Task,
        device: torch.device,
        processes: Processes,
    ) -> None:
        self.config, self.task, self.device, self.processes = config, task, device, processes
        torch.manual_seed(config.seed)
        self.model: Model = make_model(model_config).to(device)
        self.teacher = make_teacher(self.model, config.teacher_decay) if model_config.next_encoding else None
        self.optimizers = Optimizers(self.model, config)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.ahead = model_config.prediction_steps
        sampler = InBaseSampler if model_config.in_base else WindowSampler
        self.sampler = sampler(
            task.training,
            task.training_targets,
            config.batch_size,
            _window(config, task.training, self.ahead),
            self.ahead,
            config.fresh_share,
            config.seed,
        )
        self.lanes = processes.lanes(config.batch_size)
        self.schedule = Schedule(quantize_from=0 if model_config.vanilla else config.bottleneck_from)
        self.state: EncoderState | None = None
        self.done_steps = 0
        self.seconds = 0.0
        self.rows: list[Row] = []
        self._reports: list[StepReport] = []

    @property
    def finished(self) -> bool:
        out_of_time = self.config.minutes is not None and self.seconds >= 60 * self.config.minutes
        return out_of_time or self.done_steps >= self.config.steps or self.schedule.finished(self.done_steps)

    def step(self) -> StepReport:
        """One update on the next window."""
        started = time.perf_counter()
        lanes = take_lanes(self.sampler.next(), self.lanes, self.ahead, self.device)
        carried = self.state.forget(lanes.fresh) if self.state is not None else None
        report, self.state = update(
            self.model,
            self.teacher,
            self.optimizers,
            lanes,
            carried,
            0.0 if self.model.config.vanilla else self.schedule.strength(self.done_steps),
            self.schedule.scale(self.done_steps),
            self.config,
            self.processes,
            self.generator,
        )
        self.done_steps += 1
        self.seconds += time.perf_counter() - started
        self._reports.append(report)
        self.schedule.heed_limits(self.done_steps, self.seconds, self.config)
        return report

    def validate(self) -> Row:
        """A row of metrics since the last one; the schedule may start its fall on it."""
        started = time.perf_counter()
        walks, targets = self.task.validation, self.task.validation_targets
        was_quantizing = self.done_steps > self.schedule.quantize_from  # the step just done, not the next
        _, predicted = read_walks(self.model, walks.observations, walks.actions, quantize=was_quantizing)
        known = walks.step_mask()[:, 1:]
        right = (predicted == targets[:, 1:]) & known
        late = np.arange(known.shape[1]) >= walks.lengths[:, None] // 2
        accuracy = float(right.sum() / known.sum())
        late_accuracy = float((right & late).sum() / max((known & late).sum(), 1))
        self.schedule.note(self.done_steps, accuracy, late_accuracy, self.config)
        self.seconds += time.perf_counter() - started
        row = self._row() | {"validation_accuracy": accuracy, "late_accuracy": late_accuracy}
        self.rows.append(row)
        self._reports = []
        return row

    def _row(self) -> Row:
        losses = [report.losses for report in self._reports]
        mean = {name: float(np.mean([loss.get(name, 0.0) for loss in losses])) for name in losses[-1]}
        codes = [report.codes for report in self._reports if report.codes is not None]
        used, perplexity = _dictionary_use(codes, self.model.config)
        right, known = (sum(getattr(report, name) for report in self._reports) for name in ("right", "known"))
        return {
            "step": self.done_steps,
            "seconds": round(self.seconds, 3),
            "loss": sum(mean.values()),
            **{f"{name}_loss": value for name, value in mean.items()},
            "train_accuracy": right / max(known, 1),
            "codes_in_use": used,
            "perplexity": perplexity,
            "learning_rate_scale": self.schedule.scale(self.done_steps - 1),
        }

    def save(self, folder: Path) -> None:
        """Metrics, then the checkpoint that refers to them; each file whole or not at all."""
        with write_whole(folder / METRICS_FILE) as stream:
            stream.writelines((json.dumps(row) + "\n").encode() for row in self.rows)
        tensors = with_prefix("model", self.model.state_dict()) | with_prefix(
            "optimizers", self.optimizers.tensors()
        )
        if self.teacher is not None:
            tensors |= with_prefix("teacher", self.teacher.state_dict())
        if self.state is not None:
            tensors |= with_prefix(
                "state", {str(index): part for index, part in enumerate(self.state.tensors)}
            )
        tensors |= {"rng/torch": torch.get_rng_state(), "rng/draws": self.generator.get_state()}
        save_tensors(folder / "checkpoint" / CHECKPOINT_FILE, tensors, self._numbers())

    def _numbers(self) -> dict[str, Any]:
        return {
            "done_steps": self.done_steps,
            "seconds": self.seconds,
            "rows": len(self.rows),
            "sampler": self.sampler.state(),
            "schedule": self.schedule.state(),
        }

    def restore(self, folder: Path) -> None:
        """Go on exactly where `save` left off."""
        path = folder / "checkpoint" / CHECKPOINT_FILE
        tensors, numbers = load_tensors(path)
        load_weights(self.model, under_prefix("model", tensors), path)
        try:
            self.optimizers.restore(under_prefix("optimizers", tensors))
            if self.teacher is not None:
                load_weights(self.teacher, under_prefix("teacher", tensors), path)
            state = under_prefix("state", tensors)
            if state:
                self.state = EncoderState(
                    tuple(state[str(index)].to(self.device) for index in range(len(state)))
                )
            torch.set_rng_state(tensors["rng/torch"])
            self.generator.set_state(tensors["rng/draws"])
            self.sampler.restore(numbers["sampler"])
            self.schedule = Schedule(**numbers["schedule"])
            self.done_steps, self.seconds = numbers["done_steps"], numbers["seconds"]
        except (KeyError, TypeError, ValueError, RuntimeError) as problem:
            raise BadRun(f"{path} must be a checkpoint of this run: {problem}") from problem
        self.rows = read_json_lines(folder / METRICS_FILE, BadRun)[: numbers["rows"]]

    def extend(self, minutes: float | None, steps: int | None) -> None:
        """Give a restored training new limits: minutes more, steps in all. One that had ended is taken up again."""
        if minutes is None and steps is None:
            return
        until = None if minutes is None else self.seconds / 60 + minutes
        self.config = replace(self.config, minutes=until, steps=self.config.steps if steps is None else steps)
        if self.schedule.finished(self.done_steps):
            self.schedule.fall_from, self.schedule.fall_steps = None, 0


def train(trainer: Trainer, folder: Path, progress: Progress) -> str:
    """Train until finished or interrupted; returns why it ended. The folder always holds a whole checkpoint."""
    if not trainer.processes.leads:
        while not trainer.finished:
            _advance(trainer)
        return "finished"
    if not trainer.done_steps:
        trainer.save(folder)  # one that is cut off before its first validation can be gone on with too
    progress.begin(trainer.model.config.name)
    try:
        while not trainer.finished:
            report, row = _advance(trainer)
            speed = trainer.done_steps / max(trainer.seconds, 1e-9)
            last_step = trainer.schedule.last_step(trainer.config)
            progress.step(trainer.done_steps, last_step, sum(report.losses.values()), speed)
            if row is not None:
                progress.row(row)
                trainer.save(folder)
        reason = "finished"
    except KeyboardInterrupt:
        reason = "interrupted"
    progress.end(f"{reason} after {trainer.done_steps} steps, {trainer.seconds:.0f} s of training")
    return reason


def _advance(trainer: Trainer) -> tuple[StepReport, Row | None]:
    """A step, and the row of a validation when one is due or the training has just ended."""
    report = trainer.step()
    due = trainer.done_steps % trainer.config.validate_every == 0 or trainer.finished
    return report, trainer.validate() if due else None


def split_walks(walks: Walks, targets: Integers, seed: int, rooms: Integers | None = None) -> Task:
    """Hold back a tenth of the walks, 64 at the most; a single walk serves as both.

    Where the walks are of many `rooms` (B,), all walks of some rooms are held back: what counts there are new ones.
    """
    rng = np.random.default_rng(seed)
    held = min(VALIDATION_WALKS, max(1, walks.num_walks // 10))
    if rooms is None or len(np.unique(rooms)) < 2:
        order = rng.permutation(walks.num_walks)
        validation, training = order[:held], order[held:] if walks.num_walks > 1 else order
    else:
        aside = _some_rooms(rooms, held, rng)
        validation, training = np.flatnonzero(aside)[:VALIDATION_WALKS], np.flatnonzero(~aside)
    validation, training = np.sort(validation), np.sort(training)
    return Task(walks.rows(training), targets[training], walks.rows(validation), targets[validation])


def _some_rooms(rooms: Integers, least: int, rng: np.random.Generator) -> Booleans:
    """(B,) true for all the walks of as many rooms, drawn at random, as have `least` walks; never for all rooms."""
    names, walks = np.unique(rooms, return_counts=True)
    order = rng.permutation(len(names))
    count = min(int(np.searchsorted(walks[order].cumsum(), least)) + 1, len(names) - 1)
    return np.isin(rooms, names[order[:count]])


def _window(config: TrainingConfig, walks: Walks, ahead: int) -> int:
    """Windows no longer than the walks can fill."""
    return max(1, min(config.window, int(walks.lengths.max()) - ahead))


def _dictionary_use(codes: list[torch.Tensor], config: ModelConfig) -> tuple[list[int], list[float]]:
    """Codes in use and their perplexity, for each bottleneck, since the last validation."""
    if not codes:
        return [], []
    used, perplexity = [], []
    for column in torch.cat(codes).unbind(1):
        share = torch.bincount(column, minlength=config.num_codes).double()
        share = share[share > 0] / share.sum()
        used.append(len(share))
        perplexity.append(float(torch.exp(-(share * share.log()).sum())))
    return used, perplexity
