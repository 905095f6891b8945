"""The in-context tables: models trained on more and more rooms of a family, scored in rooms they have never seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.environments.room_family import RoomFamily, restricted_families, room_families
from cogmap.experiments.rows import Found, flat, read_rows
from cogmap.experiments.trials import Kind, Options, Tell, Trial, new_trial, one_model, rollout_counts
from cogmap.records import Integers, Truth, Walks
from cogmap.report.paper_rows import ICL, ICL_RULE

if TYPE_CHECKING:
    from cogmap.runs.run import Run

STEPS, TEST_ROOMS, WALKS_A_ROOM = 400, 64, 4
# By what an encoder knows observations by. Stored rows and folders have these words.
LABEL_ENDS = {"none": ", nameless", "seen": "", "plain": ", plain"}


@dataclass(frozen=True)
class Families(Kind):
    """What rooms there are, how many of them to train on, and how."""

    methods: tuple[str, ...]
    base: Callable[[int], AliasedRoom]  # by seed
    colours: int
    training_rooms: tuple[int, ...]  # a model for each number
    test_rooms: int  # drawn beside the training rooms as by `cogmap walk family`
    training_walks: int
    change: Mapping[str, Any] = field(default_factory=dict)  # of models and training
    steps: int = STEPS
    scored_rooms: int = TEST_ROOMS  # the first of the test rooms
    beside_paper: bool = True  # the paper's curves are drawn too
    own: ClassVar = frozenset({"training_rooms", "names", "rollouts"})
    trains_on: ClassVar = ("colours", "test_rooms", "training_walks", "change", "steps")
    size: ClassVar[str] = ""  # in names of folders, if not the number of training rooms

    def trials(self, table: str, options: Options) -> list[Trial]:
        methods, counts = options.only or self.methods, options.training_rooms or self.training_rooms
        return [self._trial(table, options, method, count) for method in methods for count in counts]

    def _trial(self, table: str, options: Options, method: str, count: int) -> Trial:
        from cogmap.tasks.family import chosen_names

        one = one_model(options, method, training_rooms=(count,))
        sets = self.base(one.first_seed).num_observations
        names = chosen_names(one.names, one.encoder, one.preset, sets)
        end = LABEL_ENDS[names]
        folder_end = f"{end.replace(', ', '-')}-{self.size or count}"
        return new_trial(table, self, replace(one, names=names), f"{count} training rooms", end, folder_end)

    def _families(self, trial: Trial) -> Mapping[str, RoomFamily]:
        """Training and test rooms."""
        (count,), base = trial.options.training_rooms, self.base(trial.seed)
        train, test = room_families(count, self.test_rooms, base, self.colours, trial.seed)
        return {"train": train, "test": test}

    def training(self, trial: Trial) -> dict[str, Any]:
        from cogmap.walks.sample import sample_family_walks

        rng = np.random.default_rng([trial.seed, 1])
        family = self._families(trial)["train"]
        walks, _, rooms = sample_family_walks(family, self.training_walks, self.steps, rng)
        return {"source": walks, "rooms": rooms, "names": trial.options.names, **self.change}

    def score(self, trial: Trial, run: Run, tell: Tell) -> Found:
        from cogmap.experiments.ledger import RolloutReporter
        from cogmap.report.curve_figures import accuracy_figure
        from cogmap.report.style import save_figure
        from cogmap.tasks.family import score_family

        test = walks_in_each(self._families(trial)["test"], trial.seed, self.scored_rooms, self.steps)
        rollouts, *fewer = rollout_counts(trial.options)
        shown = RolloutReporter(trial, tell)
        scores = score_family(run, *test, rollouts=rollouts, disentangled=True, fewer=fewer, shown=shown)
        ceiling = None if scores.ceiling is None else scores.ceiling.by_step
        figure = accuracy_figure(scores.accuracy.by_step, ceiling)
        save_figure(figure, run.folder / "figures" / "accuracy_by_step.png")
        by_map = scores.flat()
        by_map[""]["training_steps"] = run.metrics()[-1]["step"]
        if run.config.vanilla:
            by_map[""]["rollouts"] = rollouts
        for kind, row in by_map.items():
            tell(f"  {kind or 'model'}: " + ", ".join(f"{name} {value:.4g}" for name, value in row.items()))
        return flat(f"{trial.table}: {trial.options.training_rooms[0]} rooms", by_map)

    def end(self, path: Path, tell: Tell) -> None:
        """Draw the emergence curves of all rows that there are, as a figure beside their file."""
        from cogmap.report.curve_figures import emergence_figure
        from cogmap.report.style import save_figure

        figure = path.with_name(f"{path.stem}-emergence.png")
        save_figure(emergence_figure(_curves(read_rows(path)), with_paper=self.beside_paper), figure)
        tell(f"wrote {figure}")


@dataclass(frozen=True)
class RuleFamilies(Families):
    """Trained in rooms that keep the rule R; scored where it is broken never, once, twice and always."""

    own: ClassVar = frozenset({"names"})
    size: ClassVar[str] = "rule"

    def _families(self, trial: Trial) -> Mapping[str, RoomFamily]:
        (count,), base = trial.options.training_rooms, self.base(trial.seed)
        return restricted_families(count, self.test_rooms, base, self.colours, trial.seed)

    def score(self, trial: Trial, run: Run, tell: Tell) -> Found:
        from cogmap.evaluation.new_rooms import in_context_accuracy
        from cogmap.models.inference import predict_targets

        families, found = self._families(trial), {}
        for name, paper in ICL_RULE.items():
            walks, _, _ = walks_in_each(families[name], trial.seed, self.scored_rooms, self.steps)
            accuracy = in_context_accuracy(predict_targets(run.model, walks), walks).accuracy
            tell(f"  in rooms {name}: {accuracy:.2%}, paper {paper:.2%}")
            found[f"{trial.table}: {name}", "", "test_accu"] = accuracy
            found[f"{trial.table}: {name}", "", "training_steps"] = run.metrics()[-1]["step"]
        return found

    def end(self, path: Path, tell: Tell) -> None:
        """One number of training rooms gives no curve."""


def walks_in_each(
    family: RoomFamily, seed: int, rooms: int = TEST_ROOMS, steps: int = STEPS
) -> tuple[Walks, Truth, Integers]:
    """Four walks in each of the first rooms, and the room of each walk (B,)."""
    from cogmap.walks.sample import sample_walks

    of_walk = np.repeat(np.arange(min(len(family), rooms), dtype=np.int32), WALKS_A_ROOM)
    walks, truth = sample_walks(family.base, len(of_walk), steps, np.random.default_rng([seed, 3]))
    return family.paint(walks, of_walk), truth, of_walk


def _curves(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """By metric and method: (training rooms, value). Maps are of a room's own walks, by the paper's builder."""
    curves: dict[str, dict[str, list[tuple[int, float]]]] = {metric: {} for metric in ICL}
    for row in rows:
        named = re.match(r"\S+ (\d{1,9})\b", row["environment"])
        if row["metric"] in curves and row["map"] in ("", "paper") and row["value"] and named:
            point = int(named[1]), float(row["value"])
            curves[row["metric"]].setdefault(row["method"], []).append(point)
    return curves
