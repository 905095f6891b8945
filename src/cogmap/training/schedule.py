"""Learning-rate schedule, annealing of the bottleneck, and early stopping.

One measure decides: the *weighted accuracy* on held-out walks (`judgement.py`). It counts the steps that can be
predicted, each by how much there is to learn at it: all steps where the start is known, otherwise the second halves.

The learning rate warms up, stays constant, and decays linearly to zero. The bottleneck is off at first. Its annealing
starts when the weighted accuracy is 0.9 without it, or at a given step at the latest.

The constant phase ends when
- the world is nearly solved: the weighted accuracy is 0.98 (the rest is noise from the large learning rate, which the
  decay removes), or
- the held-out log loss has not fallen, by a given share of a Markov chain's, during the last third of the training and
  at least 800 steps, or 300 once the weighted accuracy is 0.9, or
- the remaining steps or minutes are just enough for the decay.

The decay takes 1.25 times as many steps as the phases before it, and brings the last points of accuracy. A solved world
(0.998) needs only a short decay. If a nearly solved world is not solved by the decay, the learning rate rises again and
another, longer decay follows; of few held-out steps, all being right is as much as can be seen.

Limits: a tenth of the minutes is left for the map. Annealing and decay are paced to end in time, so that a training of
any length beyond a few steps ends with codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from cogmap.checks import checked
from cogmap.errors import BadRun
from cogmap.training.config import TrainingConfig

LATEST_ANNEALING = 0.4  # share of the steps or minutes allowed
READY = 0.9  # weighted accuracy of the continuous model at which annealing starts
ANNEALING_STEPS = (100, 200)  # as many steps as went before, within these limits
SHORTEST_DECAY = 150
DECAY_SHARE = 1.25  # of the steps before it
NEARLY_SOLVED = 0.98  # weighted accuracy; a large learning rate may cost a point
SOLVED = 0.998
NOTABLE_FALL = 0.003  # of the log loss, as a share of the Markov chain's
SHORTEST_PLATEAU = 800  # learning may start late
SHORTEST_PLATEAU_LEARNED = 300  # once the weighted accuracy is that at which annealing starts
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
    annealing_steps: int = 0  # 0: as many as follow from its start
    warm_up: int = 50  # steps, at the start
    best_loss: float | None = None  # lowest share of the Markov chain's log loss, since the bottleneck is on
    best_step: int = 0
    was_nearly_solved: bool = False  # when the decay started
    decay_from: int | None = None  # the step at which the decay started
    decay_steps: int = 0  # its length, as far as is known
    longest_decay: int = 0  # the length that was wanted; minutes may allow less
    seconds_at_decay: float = 0.0  # of training, when the decay started
    hurried: bool = False  # the steps or minutes allowed, and nothing else, started the decay

    def strength(self, step: int) -> float:
        """How far the bottleneck is annealed at a step: 0 is off, 1 is fully on."""
        if self.quantize_from == 0:  # on from the start, without annealing
            return 1.0
        return min(1.0, max(0.0, (step - self.quantize_from + 1) / self._annealing()))

    def _annealing(self) -> int:
        """The length of the annealing."""
        shortest, longest = ANNEALING_STEPS
        return self.annealing_steps or min(longest, max(shortest, self.quantize_from))

    def scale(self, step: int) -> float:
        """The learning rate at a step, as a share of the full learning rate."""
        warm_up = min(1.0, (step + 1) / max(1, self.warm_up))
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
        self, step: int, accuracy: float, loss: float, config: TrainingConfig, highest: float = 1.0
    ) -> None:
        """Record a validation, and start annealing or the decay if it is time.

        accuracy: weighted. loss: as a share of the Markov chain's. Both of the judged steps. highest: the accuracy if
        all of these were right, beyond which no further decay can be seen to lead.
        """
        if step < self.quantize_from and accuracy >= READY:
            self.quantize_from = step
        if not config.decays or self.strength(step - 1) < 1:
            return
        if self.best_loss is None or loss < self.best_loss - NOTABLE_FALL:
            self.best_loss, self.best_step = loss, step
        unsolved = self.was_nearly_solved and accuracy < min(SOLVED, highest - 1e-9)  # a sum in another order
        if self.finished(step) and unsolved and 2 * step <= config.steps:
            self.restart()
        nearly_solved = accuracy >= NEARLY_SOLVED
        stale = step - max(self.best_step, self.quantize_from)
        shortest = SHORTEST_PLATEAU_LEARNED if accuracy >= READY else SHORTEST_PLATEAU
        if self.decay_from is None and (nearly_solved or stale >= max(shortest, step // 3)):
            self.was_nearly_solved = nearly_solved
            self.start_decay(step, config, solved=accuracy >= SOLVED)

    def apply_limits(self, step: int, seconds: float, config: TrainingConfig) -> None:
        """Start annealing and the decay early enough for the steps and minutes allowed, and pace them."""
        if not config.decays or not step:
            return
        allowed = config.training_seconds
        spent = max(step / config.steps, seconds / allowed if allowed else 0.0)
        if spent >= LATEST_ANNEALING and step < self.quantize_from:
            self.quantize_from = step
        if self.quantize_from <= step and self.strength(step) < 1:
            self._pace_annealing(step, int(step / spent) - step)
        if self.decay_from is not None:
            self._pace_decay(step - self.decay_from, seconds, allowed)
        elif spent >= 1 / (1 + DECAY_SHARE):
            self.start_decay(step, config)
            self.hurried = True

    def start_decay(self, step: int, config: TrainingConfig, solved: bool = False) -> None:
        if self.decay_from is None:
            wanted = SHORTEST_DECAY if solved else max(SHORTEST_DECAY, int(DECAY_SHARE * step))
            self.decay_from, self.seconds_at_decay = step, 0.0
            self.longest_decay = self.decay_steps = max(1, min(wanted, config.steps - step))

    def restart(self) -> None:
        """Return to the full learning rate."""
        self.decay_from, self.decay_steps, self.hurried = None, 0, False

    def _pace_annealing(self, step: int, left: int) -> None:
        """Shorten an annealing so that at least half of the steps left come after it."""
        latest = step - self.quantize_from + max(1, left // 2)
        if latest < self._annealing():
            self.annealing_steps = latest

    def _pace_decay(self, steps: int, seconds: float, allowed: float | None) -> None:
        """Adjust the length of a decay, `steps` after its start, so that it ends with the seconds allowed."""
        if allowed is None:
            return
        if not self.seconds_at_decay:
            self.seconds_at_decay = seconds
        elif steps >= PACE_STEPS and seconds > self.seconds_at_decay:
            left = (allowed - seconds) * steps / (seconds - self.seconds_at_decay)
            # 0 in checkpoints from before this field existed
            longest = max(self.longest_decay, self.decay_steps)
            self.decay_steps = max(1, min(longest, int(steps + left)))

    def state(self) -> dict[str, Any]:
        return asdict(self)


def restored_schedule(state: Mapping[str, Any]) -> Schedule:
    """The schedule in a checkpoint, which an earlier version may have written; `BadRun` for any other."""
    known = {field.name for field in fields(Schedule)}
    renamed = {RENAMED.get(name, name): value for name, value in state.items()}
    current = {name: value for name, value in renamed.items() if name in known}
    schedule = checked(Schedule, current, "the schedule of a checkpoint", BadRun)
    if schedule.decay_from is not None and schedule.decay_steps < 1:
        raise BadRun(f"`decay_steps` of a decay must be at least 1, got {schedule.decay_steps}")
    if schedule.annealing_steps < 0:
        raise BadRun(f"`annealing_steps` must be at least 0, got {schedule.annealing_steps}")
    return schedule
