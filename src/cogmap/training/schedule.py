"""Learning-rate schedule, annealing of the bottleneck, and early stopping.

The learning rate warms up, stays constant, and decays linearly to zero. The bottleneck is off at first. Its annealing
starts when nine of ten predictions are right without it, or at a given step at the latest.

The constant phase ends when
- the world is nearly solved: on the second half of the held-out walks, fewer than 2 in 100 predictions are wrong (the
  rest is noise from the large learning rate, which the decay removes), or
- the held-out accuracy has not risen by a tenth of a point during the last third of the training, or
- the remaining steps or minutes are just enough for the decay.

The decay takes 1.25 times as many steps as the phases before it, and brings the last points of accuracy. A solved world
needs only a short decay. A decay limited by minutes is paced to end with them. If a nearly solved world is not solved
by the decay, the learning rate rises again and another, longer decay follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cogmap.checks import checked
from cogmap.errors import BadRun
from cogmap.training.config import TrainingConfig

WARM_UP_STEPS = 50
LATEST_ANNEALING = 0.4  # share of the steps or minutes allowed
READY_ACCURACY = 0.9  # of the continuous model, at which annealing starts
ANNEALING_STEPS = (100, 200)  # as many steps as went before, within these limits
SHORTEST_DECAY = 150
DECAY_SHARE = 1.25  # of the steps before it
NEARLY_SOLVED = 0.98  # accuracy on the second half of held-out walks; a large learning rate may cost a point
SOLVED = 0.998
NOTABLE_RISE = 0.001
SHORTEST_PLATEAU = 800
PACE_STEPS = 20  # of a decay, after which its speed is known
# Names of fields in checkpoints of earlier versions.
RENAMED = {
    "fall_from": "decay_from",
    "fall_steps": "decay_steps",
    "longest_fall": "longest_decay",
    "fall_seconds": "seconds_at_decay",
}


@dataclass
class Schedule:
    """The state of the schedule: a few numbers, stored in checkpoints."""

    quantize_from: int  # the step at which annealing starts
    best_accuracy: float = 0.0
    best_step: int = 0
    was_nearly_solved: bool = False  # when the decay started
    decay_from: int | None = None  # the step at which the decay started
    decay_steps: int = 0  # its length, as far as is known
    longest_decay: int = 0  # the length that was wanted; minutes may allow less
    seconds_at_decay: float = 0.0  # of training, when the decay started

    def strength(self, step: int) -> float:
        """How far the bottleneck is annealed at a step: 0 is off, 1 is fully on."""
        if self.quantize_from == 0:  # on from the start, without annealing
            return 1.0
        shortest, longest = ANNEALING_STEPS
        annealing_steps = min(longest, max(shortest, self.quantize_from))
        return min(1.0, max(0.0, (step - self.quantize_from + 1) / annealing_steps))

    def scale(self, step: int) -> float:
        """The learning rate at a step, as a share of the full learning rate."""
        warm_up = min(1.0, (step + 1) / WARM_UP_STEPS)
        if self.decay_from is None:
            return warm_up
        return warm_up * max(0.0, 1 - (step - self.decay_from) / self.decay_steps)

    def finished(self, step: int) -> bool:
        return self.decay_from is not None and step >= self.decay_from + self.decay_steps

    def last_step(self, config: TrainingConfig) -> int:
        """The step at which the training will end, as far as is known."""
        if self.decay_from is None:
            return config.steps
        return min(config.steps, self.decay_from + self.decay_steps)

    def after_validation(
        self, step: int, accuracy: float, late_accuracy: float, config: TrainingConfig
    ) -> None:
        """Record a validation, and start annealing or the decay if it is time."""
        if accuracy > self.best_accuracy + NOTABLE_RISE:
            self.best_accuracy, self.best_step = accuracy, step
        if step < self.quantize_from and accuracy >= READY_ACCURACY:
            self.quantize_from = step
        if not config.decays or self.strength(step - 1) < 1:
            return
        unsolved = self.was_nearly_solved and late_accuracy < SOLVED
        if self.finished(step) and unsolved and 2 * step <= config.steps:
            self.restart()
        nearly_solved = late_accuracy >= NEARLY_SOLVED
        stale = step - max(self.best_step, self.quantize_from)
        if self.decay_from is None and (nearly_solved or stale >= max(SHORTEST_PLATEAU, step // 3)):
            self.was_nearly_solved = nearly_solved
            self.start_decay(step, config, solved=late_accuracy >= SOLVED)

    def apply_limits(self, step: int, seconds: float, config: TrainingConfig) -> None:
        """Start annealing and the decay early enough for the steps and minutes allowed."""
        if not config.decays:
            return
        if self.decay_from is not None:
            self._pace(step - self.decay_from, seconds, config)
            return
        spent = max(step / config.steps, seconds / (60 * config.minutes) if config.minutes else 0.0)
        if spent >= LATEST_ANNEALING and step < self.quantize_from:
            self.quantize_from = step
        if step and spent >= 1 / (1 + DECAY_SHARE):
            self.start_decay(step, config)

    def start_decay(self, step: int, config: TrainingConfig, solved: bool = False) -> None:
        if self.decay_from is None:
            wanted = SHORTEST_DECAY if solved else max(SHORTEST_DECAY, int(DECAY_SHARE * step))
            self.decay_from, self.seconds_at_decay = step, 0.0
            self.longest_decay = self.decay_steps = max(1, min(wanted, config.steps - step))

    def restart(self) -> None:
        """Return to the full learning rate."""
        self.decay_from, self.decay_steps = None, 0

    def _pace(self, steps: int, seconds: float, config: TrainingConfig) -> None:
        """Adjust the length of a decay, `steps` after its start, so that it ends with the minutes allowed."""
        if config.minutes is None:
            return
        if not self.seconds_at_decay:
            self.seconds_at_decay = seconds
        elif steps >= PACE_STEPS and seconds > self.seconds_at_decay:
            left = (60 * config.minutes - seconds) * steps / (seconds - self.seconds_at_decay)
            # 0 in checkpoints from before this field existed
            longest = max(self.longest_decay, self.decay_steps)
            self.decay_steps = max(1, min(longest, int(steps + left)))

    def state(self) -> dict[str, Any]:
        return asdict(self)


def restored_schedule(state: Mapping[str, Any]) -> Schedule:
    """The schedule in a checkpoint, which an earlier version may have written; `BadRun` for any other."""
    current = {RENAMED.get(name, name): value for name, value in state.items()}
    schedule = checked(Schedule, current, "the schedule of a checkpoint", BadRun)
    if schedule.decay_from is not None and schedule.decay_steps < 1:
        raise BadRun(f"`decay_steps` of a decay must be at least 1, got {schedule.decay_steps}")
    return schedule
