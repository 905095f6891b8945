"""The training loop: update, validate, save a checkpoint, until the schedule ends the training."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Literal

from cogmap.signals import noted_signals
from cogmap.training.heap import kept_memory
from cogmap.training.progress import METRICS_FILE, Progress, Row
from cogmap.training.resuming import CHECKPOINT_FILE, checkpoint_path
from cogmap.training.step import StepReport
from cogmap.training.trainer import Trainer

__all__ = ["CHECKPOINT_FILE", "METRICS_FILE", "End", "Trainer", "checkpoint_path", "train"]

TOLD_EVERY = 10  # steps on a GPU, where reading a loss waits for it
End = Literal["finished", "interrupted", "terminated"]


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
    except KeyboardInterrupt:  # a second signal, or one that the program raises itself
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
    # Reading the loss waits for a GPU.
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
