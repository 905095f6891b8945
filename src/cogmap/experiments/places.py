"""Tables of one world each: rooms, cubes, 3D rooms. Both maps of each model are scored, or its rollouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.oracle import aliasing
from cogmap.experiments.rows import Found, flat
from cogmap.experiments.trials import Kind, Options, Tell, Trial, new_trial, one_model, rollout_counts
from cogmap.records import Codes, TableWorld, Truth, Walks

if TYPE_CHECKING:
    from cogmap.evaluation.scores import Scores
    from cogmap.models.tdb import VanillaModel
    from cogmap.runs.run import Run

# Goals in closed loop, by map; the navigator needs moves that lead to one place.
GOALS = {"minimal": 200, "paper": 0}
GOALS_FROM_PIXELS = 100
BY_ROLLOUTS = ("imp_fallback", "ratio_sp", "optimal")


@dataclass(frozen=True)
class Places(Kind):
    """The same models on several worlds of a kind."""

    what: str
    world: Callable[[int], TableWorld]  # by seed
    methods: tuple[str, ...]
    walks: int = 2048
    steps: int = 400
    noise: float = 0.0  # of the training observations
    context_length: int = 50
    test_walks: int = 512  # of which the first 200 give the planning problems, as in the paper
    change: Mapping[str, Any] = field(default_factory=dict)  # of models and training
    own: ClassVar = frozenset({"rooms", "rollouts"})
    trains_on: ClassVar = ("walks", "steps", "noise", "change")

    def trials(self, table: str, options: Options) -> list[Trial]:
        seeds = range(options.first_seed, options.first_seed + options.rooms)
        methods = options.only or self.methods
        each = [one_model(options, method, first_seed=seed) for seed in seeds for method in methods]
        return [new_trial(table, self, one, f"{self.what}, seed {one.first_seed}") for one in each]

    def training(self, trial: Trial) -> dict[str, Any]:
        from cogmap.walks.sample import add_noise

        walks, _ = self._draw(trial, self.walks, 1)
        noisy = add_noise(walks, self.noise, np.random.default_rng([trial.seed, 2])) if self.noise else walks
        return {"source": noisy, **self.change}

    def _draw(self, trial: Trial, walks: int, stream: int) -> tuple[Walks, Truth]:
        from cogmap.walks.views import draw_walks

        rng = np.random.default_rng([trial.seed, stream])
        return draw_walks(self.world(trial.seed), walks, self.steps, rng)

    def score(self, trial: Trial, run: Run, tell: Tell) -> Found:
        walks, truth = self._draw(trial, self.test_walks, 3)
        if run.quantizer is not None:
            walks, truth = run.quantizer.walks_and_truth(walks, truth)
        world = self.world(trial.seed)
        if run.config.vanilla:
            codes, by_rollouts = None, self._by_rollouts(trial, run, walks, truth, tell)
            most = trial.options.rollouts
            scores, of_model = {"": by_rollouts[most]}, _of_model(run, None) | {"rollouts": most}
            of_model |= _of_fewer_rollouts({key: one for key, one in by_rollouts.items() if key != most})
        else:
            codes, scores = self._scores(run, walks, truth)
            of_model = _of_model(run, codes)
        if isinstance(world, EgocentricRoom):
            of_model |= _of_room(run, world, codes, walks, truth)
        for kind, found in scores.items():
            shown = ", ".join(f"{name} {value}" for name, value in found.printed().items())
            tell(f"  {kind or 'rollouts'}: {shown}")
        tell("  model: " + ", ".join(f"{name} {value:.4g}" for name, value in of_model.items()))
        environment = f"{trial.table}: {world.name}"
        by_map = {kind: _numbers(found) for kind, found in scores.items()}
        return flat(environment, by_map) | flat(environment, {"": of_model})

    def _by_rollouts(
        self, trial: Trial, run: Run, walks: Walks, truth: Truth, tell: Tell
    ) -> dict[int, Scores]:
        """The scores of a model without a map, by the number of rollouts for each problem."""
        from cogmap.evaluation.scores import score_by_rollouts
        from cogmap.experiments.ledger import RolloutReporter
        from cogmap.models.rollout_predictor import RolloutPredictor, rows_at_once

        return score_by_rollouts(
            RolloutPredictor(cast("VanillaModel", run.model)),
            run.predict(walks),
            walks,
            truth,
            rollout_counts(trial.options),
            context_length=self.context_length,
            rows_at_once=rows_at_once(run.config),
            shown=RolloutReporter(trial, tell),
        )

    def _scores(self, run: Run, walks: Walks, truth: Truth) -> tuple[Codes, dict[str, Scores]]:
        """Codes of the walks, and the scores by map."""
        from cogmap.evaluation.scores import score

        codes, predicted = run.encode(walks)
        return codes, {
            kind: score(map_, codes, predicted, walks, truth, self.context_length, goals=GOALS[kind])
            for kind, map_ in {"minimal": run.map, "paper": run.paper_map}.items()
        }


def _numbers(scores: Scores) -> dict[str, float]:
    values = asdict(scores)
    del values["context_length"]
    return {name: value for name, value in values.items() if isinstance(value, int | float)}


def _of_fewer_rollouts(scores: Mapping[int, Scores]) -> dict[str, float]:
    """Figures of plans by fewer rollouts: `imp_fallback_1` is that of one rollout for each problem."""
    return {
        f"{name}_{count}": value
        for count, found in scores.items()
        for name in BY_ROLLOUTS
        if (value := getattr(found, name)) is not None
    }


def _of_model(run: Run, codes: Codes | None) -> dict[str, float]:
    """Figures of a model without a map: how soon it had learned, and whether its bottlenecks are disentangled.

    Training accuracy is of windows, whose first steps nobody can predict: held-out walks say when it was above 98 %.
    """
    from cogmap.evaluation.diagnostics import training_above, training_after
    from cogmap.evaluation.disentanglement import disentanglement

    metrics = run.metrics()
    found: dict[str, float] = {
        "training_steps": metrics[-1]["step"],
        "training_after_1k": training_after(metrics),
        "validation_after_1k": training_after(metrics, accuracy="validation_accuracy"),
    }
    above = training_above(metrics, accuracy="validation_accuracy")
    if above is not None:
        found["training_above_98"] = above
    if codes is not None and codes.bottlenecks > 1:
        half = len(codes.lengths) // 2
        halves = codes.rows(slice(half)), codes.rows(slice(half, None))
        result = disentanglement(*halves, np.random.default_rng(0))
        found |= {"disentanglement": result.accuracy, "disentanglement_chance": result.chance}
    return found


def _of_room(
    run: Run, room: EgocentricRoom, codes: Codes | None, walks: Walks, truth: Truth
) -> dict[str, float]:
    """Of a 3D room: how aliased its clusters are, and, where there is a map, goals reached from pixels."""
    found: dict[str, float] = {
        f"aliasing_{name}": value for name, value in asdict(aliasing(truth.world)).items()
    }
    if codes is not None and run.quantizer is not None:
        from cogmap.evaluation.closed_loop import goals_reached_from_pixels
        from cogmap.evaluation.places import true_places

        place = true_places(run.map, walks, truth, codes).position
        found["closed_loop_pixels"] = goals_reached_from_pixels(
            run.map, room, run.quantizer, place, GOALS_FROM_PIXELS, np.random.default_rng(0)
        )
    return found
