"""A training in progress: its model, data and schedule, the next step, the next validation, and its checkpoint."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch

from cogmap.checks import checked
from cogmap.errors import BadRun
from cogmap.files import read_json_lines, write_whole
from cogmap.models.config import ModelConfig
from cogmap.models.encoder import EncoderState
from cogmap.models.inference import score_targets
from cogmap.models.tdb import Model, make_model
from cogmap.records import Walks
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
from cogmap.training.judgement import Judgement, known_start
from cogmap.training.metrics import check_finite, mean_of_reports
from cogmap.training.optimizers import Optimizers
from cogmap.training.progress import METRICS_FILE, Row
from cogmap.training.resuming import Numbers, checkpoint_path, restored_reports, stored_reports
from cogmap.training.schedule import NEARLY_SOLVED, Schedule, restored_schedule
from cogmap.training.split import DataSplit
from cogmap.training.step import StepReport, make_teacher, take_lanes, update
from cogmap.training.threads import thread_choice
from cogmap.walks.batches import WindowSampler
from cogmap.walks.family import InBaseSampler

SEARCH_SECONDS, SEARCH_STEPS = 2e-4, 200_000  # of a free core for each step that a map is searched on
IMAGINING_SECONDS = 6.0  # of a free core, for the imagined futures of a model of usual size
# What torch, numpy and our own checks raise where the parts of a checkpoint do not fit.
_WRONG = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Trainer:
    """A training in progress.

    Its checkpoint holds all of its state, so that resuming is exact: bit for bit at a fixed number of threads.
    """

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
        # Reading a loss waits for a GPU, so there losses are checked by `validate` only.
        self._checks_each_step = device.type == "cpu"
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
        self.map_seconds = 0.0  # an estimate of what the map will take
        self.rows: list[Row] = []
        self._reports: list[StepReport] = []

    @property
    def limits(self) -> TrainingConfig:
        """The config with the minutes that are left for the training."""
        minutes = self.config.minutes
        if minutes is None:
            return self.config
        whole = 60 * minutes
        left = whole - max((1 - TRAINING_SHARE) * whole, self.map_seconds) - self._spent_elsewhere
        return replace(self.config, minutes=max(left, 0.3 * whole) / 60 / TRAINING_SHARE)

    @property
    def _spent_elsewhere(self) -> float:
        """Seconds of the minutes allowed that did not go into training: before it, and on checkpoints."""
        since = time.perf_counter() - self._began[0]
        return self.spent_before + max(0.0, since - (self.seconds - self._restored_seconds))

    @property
    def seconds_left(self) -> float | None:
        """Seconds of the minutes allowed that are left for the map, at least a tenth. None without a limit."""
        if self.config.minutes is None:
            return None
        whole = 60 * self.config.minutes
        return max(whole - self._spent_elsewhere - self.seconds, (1 - TRAINING_SHARE) * whole)

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
        """The weighted accuracy of a model that ran out of steps or minutes while it was learning; None otherwise."""
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
        if self._checks_each_step:
            report = report.settled()
            check_finite([report], self.done_steps, self.config)
        spent = time.perf_counter() - started
        self.threads.took(spent)
        self.seconds += spent
        self._reports.append(report)
        self.schedule.apply_limits(self.done_steps, self.seconds, self.limits)
        return report

    def validate(self) -> Row:
        """Validate, and return the metrics since the last row. The schedule may start its decay."""
        started = time.perf_counter()
        check_finite(self._reports, self.done_steps, self.config)
        torch.set_num_threads(self.threads.chosen)
        walks, targets = self.data.validation, self.data.validation_targets
        was_quantizing = self.done_steps > self.schedule.quantize_from  # at the last step
        right, losses = score_targets(
            self.model, walks.observations, walks.actions, targets[:, 1:], quantize=was_quantizing
        )
        judged = self.judgement
        accuracy, loss = judged.weighted_accuracy(right), judged.loss_ratio(losses)
        means = mean_of_reports(self._reports, self.model.config)
        scale = self.schedule.scale(self.done_steps - 1)
        self.schedule.after_validation(self.done_steps, accuracy, loss, self.config, judged.highest)
        took = time.perf_counter() - started
        self.seconds += took
        self.map_seconds = _map_seconds(self.data, took, self._busy())
        row = {
            "step": self.done_steps,
            "seconds": round(self.seconds, 3),
            **means,
            "learning_rate_scale": scale,
            "validation_accuracy": judged.accuracy(right),
            "late_accuracy": judged.late_accuracy(right),
            "weighted_accuracy": accuracy,
            "loss_ratio": loss,
        }
        self.rows.append(row)
        self._reports = []
        return row

    def _busy(self) -> float:
        """How much longer this process takes because others share the processor: a factor, at least 1."""
        wall, own = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        return max(1.0, wall / max(own, 1e-3))

    def save(self, folder: Path) -> None:
        """Write the metrics, then the checkpoint that refers to them."""
        with write_whole(folder / METRICS_FILE) as stream:
            stream.writelines((json.dumps(row) + "\n").encode() for row in self.rows)
        tensors = with_prefix("model", self.model.state_dict())
        tensors |= with_prefix("optimizers", self.optimizers.tensors())
        if self.teacher is not None:
            tensors |= with_prefix("teacher", self.teacher.state_dict())
        if self.state is not None:
            parts = {str(index): part for index, part in enumerate(self.state.tensors)}
            tensors |= with_prefix("state", parts)
        tensors |= {"rng/torch": torch.get_rng_state(), "rng/draws": self.generator.get_state()}
        codes = {str(i): one.codes.int() for i, one in enumerate(self._reports) if one.codes is not None}
        tensors |= with_prefix("codes", codes)
        save_tensors(checkpoint_path(folder), tensors, asdict(self._numbers(len(tensors))))

    def _numbers(self, tensors: int) -> Numbers:
        return Numbers(
            self.done_steps,
            self.seconds,
            len(self.rows),
            self.sampler.state(),
            self.schedule.state(),
            stored_reports(self._reports),
            tensors,
        )

    def restore(self, folder: Path) -> None:
        """Continue exactly where `save` left off. Raises `BadRun` if the file is not a checkpoint of this training."""
        path = checkpoint_path(folder)
        tensors, stored = load_tensors(path)
        numbers = checked(Numbers, stored, f"{path} must be a checkpoint of this version", BadRun)
        if numbers.tensors is not None and numbers.tensors != len(tensors):
            raise BadRun(f"{path} must hold {numbers.tensors} tensors, got {len(tensors)}")
        try:
            self._restore_tensors(tensors, path)
            self.sampler.restore(numbers.sampler)
            self.schedule = restored_schedule(numbers.schedule)
            self._reports = restored_reports(numbers, under_prefix("codes", tensors), self.model.config)
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


def _window(config: TrainingConfig, walks: Walks, ahead: int) -> int:
    """The length of a window, no longer than the longest walk allows."""
    longest = int(walks.lengths.max()) - ahead
    if config.start_share:  # windows that add up to a walk, so that its last steps follow its first
        return max(1, longest // max(1, round(longest / config.window)))
    return max(1, min(config.window, longest))


def _map_seconds(data: DataSplit, validation: float, busy: float) -> float:
    """Seconds that the map should take: all walks are read at the speed of a validation, then searched."""
    held_out = int(data.validation.lengths.sum())
    steps = int(data.training.lengths.sum()) + held_out
    reading = validation * steps / held_out
    return reading + (IMAGINING_SECONDS + SEARCH_SECONDS * min(steps, SEARCH_STEPS)) * busy
