"""From the preset `paper` to the preset `fast`, one switch at a time, in one small room: which change buys what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from cogmap.errors import BadConfig
from cogmap.experiments.places import Places
from cogmap.experiments.trials import Options, Trial, new_trial, one_model

METHOD = "TDB(S=3, M=1)"


@dataclass(frozen=True)
class Rung:
    """What a rung changes; it keeps all that the rungs before it changed."""

    name: str
    change: Mapping[str, Any]  # of the model and the training
    steps: int  # as many as take four processor minutes, by scripts/ladder_steps.py
    preset: Literal["paper", "fast"] = "paper"
    encoder: Literal["transformer", "gru"] = "transformer"


@dataclass(frozen=True)
class Ladder(Places):
    """One model for each rung. All transformers have the size and the windows of the fast preset in this room."""

    rungs: tuple[Rung, ...] = ()
    own: ClassVar = frozenset({"rooms", "rungs"})
    trains_on: ClassVar[tuple[str, ...]] = (*Places.trains_on, "rungs")
    usual_seconds: ClassVar[float | None] = 240.0
    map_seconds: ClassVar[float | None] = 60.0  # models that know no place are searched for long, and in vain

    def trials(self, table: str, options: Options) -> list[Trial]:
        for number in options.rungs:
            if not 0 <= number < len(self.rungs):
                raise BadConfig(f"`--rungs` must be from 0 to {len(self.rungs) - 1}, got {number}")
        seeds = range(options.first_seed, options.first_seed + options.rooms)
        numbers = options.rungs or range(len(self.rungs))
        return [self._trial(table, options, seed, number) for seed in seeds for number in numbers]

    def _trial(self, table: str, options: Options, seed: int, number: int) -> Trial:
        rung = self.rungs[number]
        one = one_model(
            replace(options, encoder=rung.encoder, preset=rung.preset),
            METHOD,
            first_seed=seed,
            rungs=(number,),
        )
        what = f"{self.what}, seed {seed}, rung {number}"
        return new_trial(
            table, self, one, what, label_end=f", {number}: {rung.name}", folder_end=f"-{number}"
        )

    def training(self, trial: Trial) -> dict[str, Any]:
        (number,) = trial.options.rungs
        return super().training(trial) | changes_of(self.rungs, number) | {"steps": self.rungs[number].steps}


def changes_of(rungs: Sequence[Rung], number: int) -> dict[str, Any]:
    """All that a rung changes of its preset."""
    changes: dict[str, Any] = {}
    for rung in rungs[: number + 1]:
        if rung.preset == rungs[number].preset:  # the fast preset has the changes before it already
            changes |= rung.change
    return changes
