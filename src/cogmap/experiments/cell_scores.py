"""The figures of a cell: what is predicted of test walks, and with truth how a map compares with the world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.errors import BadWalks
from cogmap.experiments.cell_rows import Row
from cogmap.records import ChanceWorld, CognitiveMap, Integers, Truth, Walks

if TYPE_CHECKING:
    from cogmap.hmm.belief import Read
    from cogmap.runs.run import Run

NEAR = 0.05  # mean total variation of moves up to which a map of a world with chance counts as exact


def ngram_scores(walks: Walks, test: Walks) -> Row:
    from cogmap.models.ngram import ngram_predictions

    predicted, chance, contexts = ngram_predictions(walks, test)
    known = test.step_mask()[:, 1:]
    right = (predicted == test.observations[:, 1:])[known].mean()
    return _rounded({"accuracy": right, "log_loss": -np.log(chance[known]).mean(), "states": contexts})


def scores_of(run: Run, walks: Walks, test: Walks, truth: Truth | None) -> Row:
    """The figures of a run: prediction, and with truth exactness, planning and the world-model metrics."""
    row = prediction(run, walks, test)
    if run.has_map:
        row |= {"states": run.map.num_nodes}
        row |= {} if truth is None else _map_scores(run, walks, test, truth)
    elif truth is not None and run.config.vanilla:
        row |= _vanilla_scores(run, test, truth)
    return _rounded(row)


def prediction(run: Run, walks: Walks, test: Walks) -> Row:
    """What is predicted of test walks.

    Of a network and its map, by the one that predicts more of the log's held-out walks, those of the map's builder.
    """
    known, following = test.step_mask()[:, 1:], test.observations[:, 1:]
    if not run.has_network or _map_predicts_more(run, walks):
        read = _read(run.map, test)
        by, right, losses = "map", read.predicted == following, -read.log_likelihood[:, 1:]
    else:
        from cogmap.models.inference import score_targets

        by = "network"
        right, losses = score_targets(run.model, test.observations, test.actions, following)
    return _rounded({"accuracy": right[known].mean(), "log_loss": losses[known].mean(), "predictor": by})


def _map_predicts_more(run: Run, walks: Walks) -> bool:
    from cogmap.maps.trust import hold_out

    if not run.has_map or run.map.num_nodes == 0 or run.map.model_accuracy is None:
        return False
    apart = hold_out(walks, np.zeros(walks.observations.shape, dtype=np.int64), None).apart
    right = (_read(run.map, apart).predicted == apart.observations[:, 1:])[apart.step_mask()[:, 1:]]
    return bool(right.mean() > run.map.model_accuracy)


def _read(found: CognitiveMap, walks: Walks) -> Read:
    from cogmap.hmm.belief import belief_model, read_walks

    return read_walks(belief_model(found), walks.observations, walks.actions, walks.lengths)


def _map_scores(run: Run, walks: Walks, test: Walks, truth: Truth) -> Row:
    from cogmap.evaluation.places import true_places
    from cogmap.evaluation.planning import fitting_context, map_problems, paper_problems, score_plans
    from cogmap.evaluation.world_model import world_model_scores
    from cogmap.planning.shortest_paths import solve_many

    places = true_places(run.map, test, truth, run.encode(test)[0])
    row: Row = {"exact": exactness(run.map, places.position, walks, truth)}
    if isinstance(truth.world, ChanceWorld):
        return row
    row |= vars(world_model_scores(run.map, test, truth))
    if test.lengths.min() >= 3:
        asked = paper_problems(test, fitting_context(test))
        row["optimal"] = score_plans(
            solve_many(run.map, map_problems(asked, places.nodes)), asked, truth
        ).optimal
    return row


def exactness(found: CognitiveMap, position: Integers, walks: Walks, truth: Truth) -> bool:
    """Whether the map is the world; of a log whose outputs belong to moves, whether the machine is.

    With chance: a node for each place, and moves that are as likely as they should be within `NEAR`.
    """
    from cogmap.baselines.automata import outputs_on_moves
    from cogmap.environments.machines import machine_of_world, score_machine
    from cogmap.evaluation.chance import probability_distance
    from cogmap.evaluation.places import is_exact
    from cogmap.maps.machine import machine_of_map

    if isinstance(truth.world, ChanceWorld):
        if sorted(position.tolist()) != list(range(truth.world.num_positions)):
            return False
        distance = probability_distance(found, truth.world, position)
        return distance is not None and distance <= NEAR
    if not outputs_on_moves(walks):
        return is_exact(found, position, truth.world)
    if found.num_nodes == 0:
        return False
    machine = machine_of_map(found)
    true = machine_of_world(truth.world)
    return score_machine(machine.next_state, machine.output - 1, true, machine.initial).exact


def _vanilla_scores(run: Run, test: Walks, truth: Truth) -> Row:
    """The languages of a model without a map. Detours need a planner, and rollouts at every step take hours."""
    from cogmap.evaluation.world_model import language_scores
    from cogmap.models.rollout_predictor import RolloutPredictor

    predictor = RolloutPredictor(run.model)  # type: ignore[arg-type]
    return vars(language_scores(predictor, test, truth, np.random.default_rng(0), pairs=40))


def ceilings(test: Walks, truth: Truth | None) -> Row:
    from cogmap.evaluation.prediction import ceiling

    if truth is None:
        return {}
    places = {"places": truth.world.num_positions}
    try:
        best = ceiling(test, truth.world)
    except BadWalks:  # noise
        return places
    return _rounded({"ceiling": best.accuracy, "ceiling_log_loss": best.log_loss}) | places


def _rounded(row: Mapping[str, Any]) -> Row:
    floats = {name: round(float(value), 5) for name, value in row.items() if isinstance(value, float)}
    return {name: value for name, value in row.items() if value is not None} | floats
