"""The training loop: update, validate, save a checkpoint, until the schedule ends the training."""

from __future__ import annotations

import json
import math
import signal
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from cogmap.checks import checked
from cogmap.errors import BadRun, Diverged
from cogmap.files import read_json_lines, write_whole
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.inference import score_targets
from cogmap.models.tdb import Model, make_model
from cogmap.records import Walks
from cogmap.signals import noted_signals
from cogmap.training.checkpoint import (
    described_model,
    load_tensors,
    load_weights,
    save_tensors,
    under_prefix,
    with_prefix,
)
from cogmap.training.config import TRAINING_SHARE, TrainingConfig
from cogmap.training.devices import GradientSums, Processes
from cogmap.training.heap import kept_memory
from cogmap.training.judgement import Judgement, known_start
from cogmap.training.optimizers import Optimizers
from cogmap.training.progress import Progress, Row
from cogmap.training.schedule import NEARLY_SOLVED, Schedule, restored_schedule
from cogmap.training.split import DataSplit
from cogmap.training.step import StepReport, make_teacher, take_lanes, update
from cogmap.training.threads import thread_choice
from cogmap.walks.batches import WindowSampler
from cogmap.walks.family import InBaseSampler

METRICS_FILE, CHECKPOINT_FILE = "metrics.jsonl", "checkpoint.safetensors"
TOLD_EVERY = 10  # steps, where asking for a loss would wait for the device
SEARCH_SECONDS, SEARCH_STEPS = 2e-4, 200_000  # of a free core for each step that a map is searched on
IMAGINING_SECONDS = 6.0  # of a free core, that a model of usual size imagines for
End = Literal["finished", "interrupted", "terminated"]
# What torch, numpy and our own checks raise where the parts of a checkpoint do not fit.
_WRONG = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


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


class Trainer:
    """A training in progress. Its checkpoint holds all of its state, so that resuming is exact; at a fixed number of
    threads bit for bit."""

    def __init__(
        self,
        model_config: ModelConfig,
        config: TrainingConfig,
        data: DataSplit,
        device: torch.device,
        processes: Processes,
    ) -> None:
        self.config, self.data, self.device, self.processes = config, data, device, processes
        described_model(model_config)  # too large a model is refused before memory is taken for it
        torch.manual_seed(config.seed)
        self.model: Model = make_model(model_config).to(device)
        self.teacher = make_teacher(self.model, config.teacher_decay) if model_config.next_encoding else None
        self.optimizers = Optimizers(self.model, config, processes)
        self.gradients = GradientSums(self.model, processes)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.ahead = model_config.prediction_steps
        sampler = InBaseSampler if model_config.in_base else WindowSampler
        self.sampler = sampler(
            data.training,
            data.training_targets,
            config.batch_size,
            _window(config, data.training, self.ahead),
            self.ahead,
            config.fresh_share,
            config.seed,
            config.start_share,
        )
        self.threads = thread_choice(config.threads, device.type == "cpu" and processes.count == 1)
        # Elsewhere it would wait for the device: `validate` asks then.
        self._asks_at_once = device.type == "cpu"
        self.judgement = Judgement(data, not model_config.in_base and known_start(data.training))
        self.lanes = processes.lanes(config.batch_size)
        quantize_from = 0 if model_config.vanilla else config.bottleneck_from
        self.schedule = Schedule(quantize_from=quantize_from, warm_up=config.warm_up)
        self.state: EncoderState | None = None
        self.done_steps = 0
        self.seconds = 0.0
        self._began = time.perf_counter(), time.process_time()
        self.spent_before = 0.0  # seconds of the minutes allowed that went into reading and preparing
        self._restored_seconds = 0.0
        self.map_seconds = 0.0  # that the map will take, as far as can be told
        self.rows: list[Row] = []
        self._reports: list[StepReport] = []

    @property
    def limits(self) -> TrainingConfig:
        """The config with the minutes that are left for the training."""
        minutes = self.config.minutes
        if minutes is None:
            return self.config
        whole = 60 * minutes
        left = whole - max((1 - TRAINING_SHARE) * whole, self.map_seconds) - self._spent_beside
        return replace(self.config, minutes=max(left, 0.3 * whole) / 60 / TRAINING_SHARE)

    @property
    def _spent_beside(self) -> float:
        """Seconds of the minutes allowed that were no training: before it, and on checkpoints and the like."""
        since = time.perf_counter() - self._began[0]
        return self.spent_before + max(0.0, since - (self.seconds - self._restored_seconds))

    @property
    def seconds_left(self) -> float | None:
        """Of the minutes allowed, for the map; a tenth of them at the least. None without a limit."""
        if self.config.minutes is None:
            return None
        whole = 60 * self.config.minutes
        return max(whole - self._spent_beside - self.seconds, (1 - TRAINING_SHARE) * whole)

    @property
    def finished(self) -> bool:
        allowed = self.limits.training_seconds
        out_of_time = allowed is not None and self.seconds >= allowed
        return out_of_time or self.done_steps >= self.config.steps or self.schedule.finished(self.done_steps)

    @property
    def has_codes(self) -> bool:
        """Whether the bottleneck is fully annealed: before that, codes are not what the model predicts from."""
        return not self.model.config.vanilla and self.schedule.strength(self.done_steps - 1) == 1

    @property
    def left_to_learn(self) -> float | None:
        """The weighted accuracy of a model that its steps or minutes ended while it was learning; None of any other."""
        accuracy = self.rows[-1]["weighted_accuracy"] if self.rows else 0.0
        done = self.schedule.finished(self.done_steps) and not self.schedule.hurried
        return None if done or accuracy >= NEARLY_SOLVED else accuracy

    def step(self) -> StepReport:
        """One update on the next window."""
        started = time.perf_counter()
        torch.set_num_threads(self.threads.next)
        lanes = take_lanes(self.sampler.next(), self.lanes, self.ahead, self.device)
        carried = self.state.reset(lanes.fresh) if self.state is not None else None
        report, self.state = update(
            self.model,
            self.teacher,
            self.optimizers,
            lanes,
            carried,
            0.0 if self.model.config.vanilla else self.schedule.strength(self.done_steps),
            self.schedule.scale(self.done_steps),
            self.config,
            self.gradients,
            self.generator,
        )
        self.done_steps += 1
        if self._asks_at_once:
            report = report.settled()
            self._check_finite([report])
        spent = time.perf_counter() - started
        self.threads.took(spent)
        self.seconds += spent
        self._reports.append(report)
        self.schedule.apply_limits(self.done_steps, self.seconds, self.limits)
        return report

    def _check_finite(self, reports: list[StepReport]) -> None:
        """The last reports of this training must hold finite losses."""
        for before, report in enumerate(reports):
            wrong = [name for name, loss in report.losses.items() if not math.isfinite(loss)]
            if not wrong:
                continue
            config, rates = (
                self.config,
                ["learning_rate"] + ["muon_rate"] * (self.config.muon_rate is not None),
            )
            lower = " and ".join(f"`{name}` (={getattr(config, name)})" for name in rates)
            step = self.done_steps - len(reports) + before + 1
            got = f"at step {step} the {wrong[0]} loss is {report.losses[wrong[0]]}"
            raise Diverged(f"losses must stay finite, {got}: learn again with a lower {lower}")

    def validate(self) -> Row:
        """Validate, and return the metrics since the last row. The schedule may start its decay."""
        started = time.perf_counter()
        self._check_finite(self._reports)
        torch.set_num_threads(self.threads.chosen)
        walks, targets = self.data.validation, self.data.validation_targets
        was_quantizing = self.done_steps > self.schedule.quantize_from  # at the last step
        right, losses = score_targets(
            self.model, walks.observations, walks.actions, targets[:, 1:], quantize=was_quantizing
        )
        judged = self.judgement
        accuracy, loss = judged.weighted_accuracy(right), judged.loss_ratio(losses)
        row = self._row()
        self.schedule.after_validation(self.done_steps, accuracy, loss, self.config)
        took = time.perf_counter() - started
        self.seconds += took
        self.map_seconds = self._map_seconds(took)
        row |= {
            "seconds": round(self.seconds, 3),
            "validation_accuracy": judged.accuracy(right),
            "late_accuracy": judged.late_accuracy(right),
            "weighted_accuracy": accuracy,
            "loss_ratio": loss,
        }
        self.rows.append(row)
        self._reports = []
        return row

    def _map_seconds(self, validation: float) -> float:
        """Seconds that the map should take: all walks are read as those of a validation were, then searched."""
        steps = int(self.data.training.lengths.sum() + self.data.validation.lengths.sum())
        reading = validation * steps / int(self.data.validation.lengths.sum())
        busy = max(
            1.0, (time.perf_counter() - self._began[0]) / max(time.process_time() - self._began[1], 1e-3)
        )
        return reading + (IMAGINING_SECONDS + SEARCH_SECONDS * min(steps, SEARCH_STEPS)) * busy

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
        """Write the metrics, then the checkpoint that refers to them."""
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
        codes = {str(i): one.codes.int() for i, one in enumerate(self._reports) if one.codes is not None}
        tensors |= with_prefix("codes", codes)
        save_tensors(checkpoint_path(folder), tensors, asdict(self._numbers(len(tensors))))

    def _numbers(self, tensors: int) -> Numbers:
        # None right after a validation.
        reports = [{"losses": one.losses, "right": one.right, "known": one.known} for one in self._reports]
        return Numbers(
            self.done_steps,
            self.seconds,
            len(self.rows),
            self.sampler.state(),
            self.schedule.state(),
            tuple(reports),
            tensors,
        )

    def restore(self, folder: Path) -> None:
        """Continue exactly where `save` left off; `BadRun` for all that is no checkpoint of this training."""
        path = checkpoint_path(folder)
        tensors, stored = load_tensors(path)
        numbers = checked(Numbers, stored, f"{path} must be a checkpoint of this version", BadRun)
        if numbers.tensors is not None and numbers.tensors != len(tensors):
            raise BadRun(f"{path} must hold {numbers.tensors} tensors, got {len(tensors)}")
        try:
            self._restore_tensors(tensors, path)
            self.sampler.restore(numbers.sampler)
            self.schedule = restored_schedule(numbers.schedule)
            self._reports = _restored_reports(numbers, under_prefix("codes", tensors), self.model.config)
        except BadRun:
            raise
        except _WRONG as problem:
            reason = " ".join(str(problem).split()) or type(problem).__name__
            raise BadRun(f"{path} must be a checkpoint of this run: {reason}") from problem
        self.done_steps, self.seconds = numbers.done_steps, numbers.seconds
        self._restored_seconds = self.seconds
        self.rows = read_json_lines(folder / METRICS_FILE, BadRun, nan=True)[: numbers.rows]

    def _restore_tensors(self, tensors: dict[str, torch.Tensor], path: Path) -> None:
        load_weights(self.model, under_prefix("model", tensors), path)
        self.optimizers.restore(under_prefix("optimizers", tensors))
        if self.teacher is not None:
            load_weights(self.teacher, under_prefix("teacher", tensors), path)
        state = under_prefix("state", tensors)
        if state:
            self.state = self._restored_state(state)
        torch.set_rng_state(tensors["rng/torch"])
        self.generator.set_state(tensors["rng/draws"])

    def _restored_state(self, stored: dict[str, torch.Tensor]) -> EncoderState:
        lanes = self.lanes.stop - self.lanes.start
        expected = self.model.encoder.initial_state(lanes, self.device).tensors
        found = tuple(stored[str(index)].to(self.device) for index in range(len(stored)))
        shapes = [[(tuple(part.shape), part.dtype) for part in parts] for parts in (expected, found)]
        if shapes[0] != shapes[1]:
            raise ValueError(f"the state must have the shapes {shapes[0]}, got {shapes[1]}")
        return EncoderState(found)

    def extend(self, minutes: float | None, steps: int | None) -> None:
        """Give a restored training new limits: additional minutes, total steps. A finished training starts again."""
        if minutes is None and steps in (None, self.config.steps):
            return
        was_finished = self.finished
        until = None if minutes is None else self.seconds / 60 / TRAINING_SHARE + minutes
        self.config = replace(self.config, minutes=until, steps=self.config.steps if steps is None else steps)
        if was_finished:
            self.schedule.restart()


def train(trainer: Trainer, folder: Path, progress: Progress) -> End:
    """Train until finished or asked to stop, and return which. The folder always holds a complete checkpoint.

    Ctrl-C and SIGTERM are obeyed between two steps, and a checkpoint is saved there.
    """
    if not trainer.processes.is_main:
        while not trainer.finished:
            _advance(trainer)
        return "finished"
    if not trainer.done_steps:
        trainer.save(folder)  # so that a training killed before its first validation can be resumed
    progress.begin(trainer.model.config.name)
    try:
        with noted_signals() as noted, kept_memory():
            while not trainer.finished and noted.received is None:
                _advance_and_tell(trainer, folder, progress)
            reason = _reason(trainer, noted.received)
            if reason != "finished":
                trainer.save(folder)
    except KeyboardInterrupt:  # a second signal, or one that the program itself makes of one
        reason = "interrupted"
    except BaseException:
        progress.end(_ended(trainer, "ended"))
        raise
    early = not trainer.has_codes and not trainer.model.config.vanilla
    note = ": too early for codes, so there is no map yet; --resume continues it" if early else ""
    progress.end(_ended(trainer, reason) + note)
    return reason


def _ended(trainer: Trainer, how: str) -> str:
    return f"{how} after {trainer.done_steps} steps, {trainer.seconds:.0f} s of training"


def _reason(trainer: Trainer, received: int | None) -> End:
    if trainer.finished:
        return "finished"
    return "terminated" if received == signal.SIGTERM else "interrupted"


def _advance_and_tell(trainer: Trainer, folder: Path, progress: Progress) -> None:
    report, row = _advance(trainer)
    speed = trainer.done_steps / max(trainer.seconds, 1e-9)
    last_step = trainer.schedule.last_step(trainer.config)
    # The loss is asked of the device.
    if trainer.device.type == "cpu" or trainer.done_steps % TOLD_EVERY == 0:
        progress.step(trainer.done_steps, last_step, sum(report.losses.values()), speed)
    if row is not None:
        progress.row(row)
        trainer.save(folder)


def _advance(trainer: Trainer) -> tuple[StepReport, Row | None]:
    """A step, and a row of metrics if a validation is due or the training has just finished."""
    report = trainer.step()
    due = trainer.done_steps % trainer.config.validate_every == 0 or trainer.finished
    return report, trainer.validate() if due else None


def _window(config: TrainingConfig, walks: Walks, ahead: int) -> int:
    """The length of a window, no longer than the longest walk allows."""
    longest = int(walks.lengths.max()) - ahead
    if config.start_share:  # windows that add up to a walk, so that its last steps follow its first
        return max(1, longest // max(1, round(longest / config.window)))
    return max(1, min(config.window, longest))


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


def _restored_reports(
    numbers: Numbers, codes: dict[str, torch.Tensor], config: ModelConfig
) -> list[StepReport]:
    """The reports of the steps since the last row of metrics."""
    reports = []
    for index, stored in enumerate(numbers.reports):
        report = checked(_StoredReport, stored, "a report of a checkpoint", BadRun)
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


@dataclass(frozen=True)
class _StoredReport:
    losses: dict[str, float]
    right: int
    known: int
