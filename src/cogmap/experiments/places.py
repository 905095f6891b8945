"""Tables of one world each: rooms, cubes, 3D rooms. Maps of each model are scored, or its rollouts, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.oracle import aliasing
from cogmap.evaluation.diagnostics import teleportation_by_step, training_above, training_after
from cogmap.evaluation.disentanglement import disentanglement
from cogmap.evaluation.places import node_places
from cogmap.evaluation.prediction import accuracy_by_step, next_observation_accuracy
from cogmap.experiments.maps_beside import MOST_WALKS, Located, of_bottlenecks, without_bottlenecks
from cogmap.experiments.rows import Found, flat
from cogmap.experiments.trials import Kind, Options, Tell, Trial, new_trial, one_model, rollout_counts
from cogmap.records import Codes, Integers, TableWorld, Truth, Walks

if TYPE_CHECKING:
    from cogmap.evaluation.scores import Scores
    from cogmap.models.tdb import VanillaModel
    from cogmap.runs.run import Run

GOALS = 200  # in closed loop, on the minimal map: the navigator needs moves that lead to one place
GOALS_FROM_PIXELS = 100
SETTLED = 30  # observations after which the paper's agent predicts 99.5 % of the next ones
# Observations at which the paper's figure shows how often the estimated node jumps.
JUMPS = {"teleportation_at_20": slice(15, 25), "teleportation_after_100": slice(100, None)}
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
    test_walks: int = 2048  # of which the first 200 give the planning problems, both as in the paper
    change: Mapping[str, Any] = field(default_factory=dict)  # of models and training
    own: ClassVar = frozenset({"rooms", "rollouts"})
    trains_on: ClassVar[tuple[str, ...]] = ("walks", "steps", "noise", "change")

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

    def test_set(self, trial: Trial, run: Run) -> tuple[Walks, Truth]:
        """Walks that no model was trained on, in the run's vocabulary."""
        walks, truth = self._draw(trial, self.test_walks, 3)
        return (walks, truth) if run.quantizer is None else run.quantizer.walks_and_truth(walks, truth)

    def score(self, trial: Trial, run: Run, tell: Tell) -> Found:
        walks, truth = self.test_set(trial, run)
        world = self.world(trial.seed)
        training = run.categorical(self.training(trial)["source"]).rows(slice(0, MOST_WALKS))
        if run.config.vanilla:
            codes = None
            by_map, of_model = self._without_bottlenecks(trial, run, training, walks, truth, tell)
        else:
            codes, by_map, of_model = self._of_bottlenecks(run, training, walks, truth, tell)
        if isinstance(world, EgocentricRoom):
            of_model |= _of_room(run, world, codes, walks, truth)
        tell("  model: " + ", ".join(f"{name} {value:.4g}" for name, value in of_model.items()))
        environment = f"{trial.table}: {world.name}"
        return flat(environment, by_map) | flat(environment, {"": of_model})

    def _without_bottlenecks(
        self, trial: Trial, run: Run, training: Walks, walks: Walks, truth: Truth, tell: Tell
    ) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
        """Figures by map, and of the model: its plans by rollouts, and maps that are made without a bottleneck."""
        by_rollouts = self._by_rollouts(trial, run, walks, truth, tell)
        most = trial.options.rollouts
        of_model = _of_training(run) | {"rollouts": most}
        of_model |= _of_fewer_rollouts({key: one for key, one in by_rollouts.items() if key != most})
        _tell_scores("rollouts", by_rollouts[most], tell)
        by_map = {"": _numbers(by_rollouts[most])}
        if run.config.action_at_head:  # otherwise a state knows the next action, and is of no place
            predicted = run.predict(walks)
            for kind, one in without_bottlenecks(cast("VanillaModel", run.model), training, walks).items():
                by_map[kind] = self._scored(kind, one, predicted, walks, truth, tell)
        return by_map, of_model

    def _of_bottlenecks(
        self, run: Run, training: Walks, walks: Walks, truth: Truth, tell: Tell
    ) -> tuple[Codes, dict[str, dict[str, float]], dict[str, float]]:
        """Codes of the walks, figures by map, and of the model."""
        codes, predicted = run.encode(walks)
        training_codes, training_predicted = run.encode(training)
        own = {"minimal": run.map, "paper": run.paper_map}
        by_map = {
            kind: self._scored(kind, one, predicted, walks, truth, tell)
            for kind, one in of_bottlenecks(own, (training, training_codes), (walks, codes)).items()
        }
        of_model = _of_training(run) | _of_codes(training_codes, codes)
        of_model["training_accu"] = next_observation_accuracy(training_predicted, training)
        of_model["accuracy_after_30"] = float(np.nanmean(accuracy_by_step(predicted, walks)[SETTLED:]))
        return codes, by_map, of_model

    def _scored(
        self, kind: str, one: Located, predicted: Integers, walks: Walks, truth: Truth, tell: Tell
    ) -> dict[str, float]:
        """All figures of a map."""
        from cogmap.evaluation.scores import score

        goals = GOALS if kind == "minimal" else 0
        found = score(
            one.cognitive_map,
            one.codes,
            predicted,
            walks,
            truth,
            self.context_length,
            nodes=one.nodes,
            goals=goals,
        )
        _tell_scores(kind, found, tell)
        return _numbers(found) | _of_nodes(one, walks, truth)

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


def _tell_scores(kind: str, found: Scores, tell: Tell) -> None:
    tell(f"  {kind}: " + ", ".join(f"{name} {value}" for name, value in found.printed().items()))


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


def _of_nodes(one: Located, walks: Walks, truth: Truth) -> dict[str, float]:
    """Nodes that stand for several places, and how often the estimated node jumps."""
    places = node_places(one.nodes, walks.step_mask(), one.cognitive_map.num_nodes, truth)
    jumps = teleportation_by_step(one.nodes, one.cognitive_map)
    shares = {name: jumps[steps] for name, steps in JUMPS.items()}
    known = {name: float(np.nanmean(share)) for name, share in shares.items() if np.isfinite(share).any()}
    return {"merged_nodes": int(places.merged.sum()), **known}


def _of_codes(training: Codes, test: Codes) -> dict[str, float]:
    """How many codes are in use, and whether several bottlenecks hold different information."""
    found: dict[str, float] = {"codes_in_use": len(np.unique(test.codes[..., 0]))}
    if test.bottlenecks > 1:
        result = disentanglement(training, test, np.random.default_rng(0))
        found |= {"disentanglement": result.accuracy, "disentanglement_chance": result.chance}
    return found


def _of_training(run: Run) -> dict[str, float]:
    """How soon a model had learned.

    Training accuracy is of windows, whose first steps nobody can predict: held-out walks say when it was above 98 %.
    """
    metrics = run.metrics()
    found: dict[str, float] = {
        "training_steps": metrics[-1]["step"],
        "training_after_1k": training_after(metrics),
        "validation_after_1k": training_after(metrics, accuracy="validation_accuracy"),
    }
    above = training_above(metrics, accuracy="validation_accuracy")
    if above is not None:
        found["training_above_98"] = above
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
