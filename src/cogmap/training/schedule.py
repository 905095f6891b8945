"""When to quantize, when to stop, and how large the steps are on the way: warm up, hold, and fall at the end.

The bottleneck begins to close once nine predictions in ten are right without it, or at a given step at the latest.
The held phase ends when
- the world is all but solved: on the second half of the held-back walks the model errs less than twice in a
  hundred steps (what is left is the noise of large steps, which the fall takes away), or
- accuracy on them has not risen by a tenth of a point during the last third of the training, or
- the steps or minutes allowed leave just enough for the fall.
The fall then takes a quarter more steps than went before it, which is where the last points of accuracy come from; a
short one will do for a world that is solved already, and one that minutes limit is paced to end with them. If a world
that was all but solved still is not solved after the fall, the rate rises again for another, longer one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cogmap.training.config import TrainingConfig

WARM_UP_STEPS = 50
LATEST_CLOSING = 0.4  # share of the steps or minutes allowed
READY_ACCURACY = 0.9  # of the continuous model, at which the bottleneck begins to close
CLOSING_STEPS = (100, 200)  # until it is closed: as many as went before it, within these limits
SHORTEST_FALL = 150
FALL_SHARE = 1.25  # of the steps before it
NEARLY_SOLVED = 0.98  # accuracy on the late half of held-back walks; large steps alone may cost a point of it
SOLVED = 0.998
NOTABLE_RISE = 0.001
SHORTEST_PLATEAU = 800
PACE_STEPS = 20  # of a fall, after which its speed is known


@dataclass
class Schedule:
    """The few numbers that decide where in its life a training is."""

    quantize_from: int
    best_accuracy: float = 0.0
    best_step: int = 0
    was_nearly_solved: bool = False  # when the fall began
    fall_from: int | None = None
    fall_steps: int = 0  # that it takes, as far as is known
    longest_fall: int = 0  # that was wanted; minutes may allow for less
    fall_seconds: float = 0.0  # of training before it

    def strength(self, step: int) -> float:
        """How far the bottleneck is closed at a step: 0 is open, 1 closed."""
        # One that is there from the start is closed at once.
        if self.quantize_from == 0:
            return 1.0
        shortest, longest = CLOSING_STEPS
        closing_steps = min(longest, max(shortest, self.quantize_from))
        return min(1.0, max(0.0, (step - self.quantize_from + 1) / closing_steps))

    def scale(self, step: int) -> float:
        """The share of the full learning rate at a step."""
        rising = min(1.0, (step + 1) / WARM_UP_STEPS)
        if self.fall_from is None:
            return rising
        return rising * max(0.0, 1 - (step - self.fall_from) / self.fall_steps)

    def finished(self, step: int) -> bool:
        return self.fall_from is not None and step >= self.fall_from + self.fall_steps

    def note(self, step: int, accuracy: float, late_accuracy: float, config: TrainingConfig) -> None:
        """Take in a validation, and start the fall when it says so."""
        if accuracy > self.best_accuracy + NOTABLE_RISE:
            self.best_accuracy, self.best_step = accuracy, step
        if step < self.quantize_from and accuracy >= READY_ACCURACY:
            self.quantize_from = step
        if not config.decays or self.strength(step - 1) < 1:
            return
        if (
            self.finished(step)
            and self.was_nearly_solved
            and late_accuracy < SOLVED
            and 2 * step <= config.steps
        ):
            self.fall_from, self.fall_steps = None, 0
        nearly_solved = late_accuracy >= NEARLY_SOLVED
        stale = step - max(self.best_step, self.quantize_from)
        if self.fall_from is None and (nearly_solved or stale >= max(SHORTEST_PLATEAU, step // 3)):
            self.was_nearly_solved = nearly_solved
            self.start_fall(step, config, solved=late_accuracy >= SOLVED)

    def start_fall(self, step: int, config: TrainingConfig, solved: bool = False) -> None:
        if self.fall_from is None:
            wanted = SHORTEST_FALL if solved else max(SHORTEST_FALL, int(FALL_SHARE * step))
            self.fall_from, self.fall_seconds = step, 0.0
            self.longest_fall = self.fall_steps = max(1, min(wanted, config.steps - step))

    def heed_limits(self, step: int, seconds: float, config: TrainingConfig) -> None:
        """Close the bottleneck and start the fall while there are still steps and minutes for it."""
        if not config.decays:
            return
        if self.fall_from is not None:
            self._pace(step - self.fall_from, seconds, config)
            return
        spent = max(step / config.steps, seconds / (60 * config.minutes) if config.minutes else 0.0)
        if spent >= LATEST_CLOSING and step < self.quantize_from:
            self.quantize_from = step
        if step and spent >= 1 / (1 + FALL_SHARE):
            self.start_fall(step, config)

    def _pace(self, fallen: int, seconds: float, config: TrainingConfig) -> None:
        """Let a fall that has come so many steps far end with the minutes allowed, at the speed that it has had."""
        if config.minutes is None:
            return
        if not self.fall_seconds:
            self.fall_seconds = seconds
        elif fallen >= PACE_STEPS and seconds > self.fall_seconds:
            left = (60 * config.minutes - seconds) * fallen / (seconds - self.fall_seconds)
            # In checkpoints from before it was kept, the longest is 0.
            longest = max(self.longest_fall, self.fall_steps)
            self.fall_steps = max(1, min(longest, int(fallen + left)))

    def last_step(self, config: TrainingConfig) -> int:
        """The step the training will end at as far as is known now."""
        return config.steps if self.fall_from is None else min(config.steps, self.fall_from + self.fall_steps)

    def state(self) -> dict[str, Any]:
        return asdict(self)
