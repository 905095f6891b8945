"""All scores of a model: stored as fractions, printed under the paper's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.checks import checked
from cogmap.errors import BadRun, BadWalks
from cogmap.evaluation.ged import edit_distance, map_graph, networkx_edit_distance, world_graph
from cogmap.evaluation.places import is_exact, node_places, true_places
from cogmap.evaluation.planning import (
    PlanningScores,
    RolloutScores,
    WalkProblems,
    map_problems,
    paper_problems,
    rollout_problems,
    score_plans,
    score_rollouts,
)
from cogmap.evaluation.prediction import ceiling, next_observation_accuracy
from cogmap.files import read_json, write_json
from cogmap.planning.rollouts import AnyState, Predictor, first_rollouts, roll_out
from cogmap.planning.shortest_paths import solve_many
from cogmap.records import ChanceWorld, Codes, CognitiveMap, Integers, Truth, Walks


@dataclass(frozen=True)
class Scores:
    """The scores of one model in one world. A field is None where it does not apply or was not computed."""

    test_accu: float  # share of next observations predicted
    ceiling: float | None = None  # the same for an exact Bayes filter that knows the world
    imp_fallback: float | None = None  # share of problems with a valid path shorter than the walk's own
    ratio_sp: float | None = None  # mean length of such a path divided by the optimal length
    norm_ged: float | None = None  # edits between map and world divided by the maximum: an upper bound ...
    norm_ged_lower: float | None = None  # ... and a lower one; equal where the distance is exact
    norm_ged_networkx: float | None = None  # the same by networkx within its timeout
    nodes: int | None = None
    edges: int | None = None
    positions: int | None = None
    exact: bool | None = None  # whether the map is the world: one node a place, every move with its action
    purity: float | None = None  # share of steps at the place that their node stands for
    places_covered: float | None = None  # share of places that have a node
    nodes_per_place: float | None = None  # number of nodes with a place, divided by places with a node
    located: float | None = None  # share of steps that have a node
    explained: float | None = None  # share of held-out observations that the map alone predicts
    optimal: float | None = None  # share of problems solved with a path of optimal length
    mean_optimal_length: float | None = None
    constrained_imp_fallback: float | None = None  # the same three with an observation to avoid
    constrained_ratio_sp: float | None = None
    constrained_optimal: float | None = None
    constrained_mean_optimal_length: float | None = None
    closed_loop: float | None = None  # share of goals that a navigator reaches in the world itself
    map_log_loss: float | None = None  # in a world with chance: see `ChanceScores`
    exact_log_loss: float | None = None
    probability_distance: float | None = None
    goals_reached: float | None = None
    steps_over_oracle: float | None = None
    steps_over_true_map: float | None = None
    value_share: float | None = None
    value_over_true_map: float | None = None
    valid_share: float | None = None  # share of rollout candidates that are at the target
    valid_share_with_tail: float | None = None  # the same among those that the tail confirmed
    compression_precision: float | None = None  # of evaluation/world_model.py: histories to one place alike
    distinction_precision: float | None = None  # of what distinguishes places by the model, the true share
    distinction_recall: float | None = None  # of what truly distinguishes places, the model's share
    detours: float | None = None  # share of goals reached although a tenth of the actions is replaced
    problems: int | None = None
    context_length: int | None = None
    map_kind: str | None = None
    warnings: tuple[str, ...] = ()

    def printed(self) -> dict[str, str]:
        """The scores that are not None, under the paper's names and in its units."""
        return {
            name: show(getattr(self, field))
            for field, (name, show) in _PRINTED.items()
            if getattr(self, field) is not None
        }

    def save(self, path: str | Path) -> None:
        write_json(path, asdict(self))

    @classmethod
    def load(cls, path: str | Path) -> Scores:
        return checked(cls, read_json(path, BadRun, nan=True), f"{path} must hold scores", BadRun, nan=True)


def percent(share: float) -> str:
    """A share in per cent, without the sign."""
    return f"{100 * share:.2f}"


def ratio(value: float) -> str:
    return f"{value:.3f}"


def _percent(share: float) -> str:
    return f"{percent(share)} %"


def _length(value: float) -> str:
    return f"{value:.2f}"


def _nats(value: float) -> str:
    return f"{value:.4f} nats"


def _yes(value: Any) -> str:
    return "yes" if value else "no"


_PRINTED: dict[str, tuple[str, Callable[[Any], str]]] = {
    "test_accu": ("TestAccu", _percent),
    "ceiling": ("TestAccu ceiling", _percent),
    "imp_fallback": ("ImpFallback", _percent),
    "ratio_sp": ("RatioSP", ratio),
    "norm_ged": ("NormGED", ratio),
    "norm_ged_lower": ("NormGED at least", ratio),
    "norm_ged_networkx": ("NormGED (networkx)", ratio),
    "nodes": ("nodes", str),
    "edges": ("edges", str),
    "positions": ("places", str),
    "exact": ("map is exact", _yes),
    "purity": ("purity", _percent),
    "places_covered": ("places covered", _percent),
    "nodes_per_place": ("nodes per place", _length),
    "located": ("steps located", _percent),
    "explained": ("explained by the map", _percent),
    "optimal": ("optimal plans", _percent),
    "mean_optimal_length": ("optimal length", _length),
    "constrained_imp_fallback": ("ImpFallback, one colour avoided", _percent),
    "constrained_ratio_sp": ("RatioSP, one colour avoided", ratio),
    "constrained_optimal": ("optimal plans, one colour avoided", _percent),
    "constrained_mean_optimal_length": ("optimal length, one colour avoided", _length),
    "closed_loop": ("goals reached", _percent),
    "map_log_loss": ("log-loss of the map", _nats),
    "exact_log_loss": ("log-loss of the exact filter", _nats),
    "probability_distance": ("distance of probabilities", ratio),
    "goals_reached": ("goals reached by policy", _percent),
    "steps_over_oracle": ("steps / oracle's expected", ratio),
    "steps_over_true_map": ("steps / with the true map", ratio),
    "value_share": ("value of rewards collected", _percent),
    "value_over_true_map": ("value / with the true map", ratio),
    "valid_share": ("valid candidates", _percent),
    "valid_share_with_tail": ("valid candidates, tail evaluated", _percent),
    "compression_precision": ("compression precision", _percent),
    "distinction_precision": ("distinction precision", _percent),
    "distinction_recall": ("distinction recall", _percent),
    "detours": ("goals reached after detours", _percent),
    "problems": ("problems", str),
}


def score(
    cognitive_map: CognitiveMap,
    codes: Codes,
    predicted: Integers,
    walks: Walks,
    truth: Truth,
    context_length: int = 50,
    problems: int = 200,
    seed: int = 0,
    nodes: Integers | None = None,
    networkx_timeout: float | None = None,
    goals: int = 0,
) -> Scores:
    """The scores of a model and its map on test walks.

    codes, predicted: the model's codes (B, N, M) and predictions (B, N - 1) on these walks.
    seed: for the random observation to avoid in each constrained problem, and for closed-loop goals.
    nodes: (B, N) the node of every step; by default from `estimated_nodes`.
    goals: number of goals to reach in closed loop, from random starts in the world; none by default.
    networkx_timeout: seconds for networkx to compute NormGED too; by default it does not.
    """
    _check_match(walks, truth, codes)
    if nodes is None:
        places = true_places(cognitive_map, walks, truth, codes)
    else:
        places = node_places(nodes, walks.step_mask(), cognitive_map.num_nodes, truth)
    learned, true = map_graph(cognitive_map, places.position), world_graph(truth.world)
    distance = edit_distance(learned, true)
    by_networkx = (
        None if networkx_timeout is None else networkx_edit_distance(learned, true, networkx_timeout)
    )
    free = paper_problems(walks, context_length, problems)
    bound = paper_problems(walks, context_length, problems, np.random.default_rng(seed))
    planned, constrained = (_plan(cognitive_map, places.nodes, asked, truth) for asked in (free, bound))
    return Scores(
        test_accu=next_observation_accuracy(predicted, walks),
        ceiling=_ceiling(walks, truth),
        imp_fallback=planned.imp_fallback,
        ratio_sp=planned.ratio_sp,
        norm_ged=distance.norm_ged,
        norm_ged_lower=distance.lower / distance.size,
        norm_ged_networkx=None if by_networkx is None else by_networkx / distance.size,
        nodes=cognitive_map.num_nodes,
        edges=cognitive_map.deterministic().num_edges,
        positions=truth.world.num_positions,
        exact=is_exact(cognitive_map, places.position, truth.world),
        purity=places.purity,
        places_covered=places.places_covered,
        nodes_per_place=places.nodes_per_place,
        located=places.located,
        explained=cognitive_map.explained,
        optimal=planned.optimal,
        mean_optimal_length=planned.mean_optimal_length,
        constrained_imp_fallback=constrained.imp_fallback,
        constrained_ratio_sp=constrained.ratio_sp,
        constrained_optimal=constrained.optimal,
        constrained_mean_optimal_length=constrained.mean_optimal_length,
        closed_loop=_closed_loop(cognitive_map, truth, places.position, goals, seed),
        **_with_chance(cognitive_map, walks, truth, places.position, seed),
        problems=len(free),
        context_length=context_length,
        map_kind=cognitive_map.kind,
        warnings=cognitive_map.warnings,
    )


def score_without_map(
    predictor: Predictor[AnyState],
    predicted: Integers,
    walks: Walks,
    truth: Truth,
    context_length: int = 50,
    problems: int = 200,
    rollouts: int = 100,
    rows_at_once: int = 2000,
    seed: int = 0,
) -> Scores:
    """The scores of a model without a map, which plans by rollouts."""
    counts = (rollouts,)
    found = score_by_rollouts(
        predictor, predicted, walks, truth, counts, context_length, problems, rows_at_once, seed
    )
    return found[rollouts]


def score_by_rollouts(
    predictor: Predictor[AnyState],
    predicted: Integers,
    walks: Walks,
    truth: Truth,
    counts: Sequence[int] = (1, 10, 100),
    context_length: int = 50,
    problems: int = 200,
    rows_at_once: int = 2000,
    seed: int = 0,
    shown: Callable[[float], None] = lambda share: None,
) -> dict[int, Scores]:
    """The scores of a model without a map by the number of rollouts for each problem.

    The most are sampled once, and fewer are the first of them. shown: called with the share that is done.
    """
    _check_match(walks, truth)
    asked = paper_problems(walks, context_length, problems)
    cut = rollout_problems(asked, walks)
    found = roll_out(predictor, cut, np.random.default_rng(seed), max(counts), rows_at_once, shown)
    accuracy, best = next_observation_accuracy(predicted, walks), _ceiling(walks, truth)
    reached = {count: score_rollouts(first_rollouts(found, count), asked, truth) for count in counts}
    return {count: _rollout_scores(accuracy, best, reached[count], asked, truth) for count in counts}


def _rollout_scores(
    accuracy: float, best: float | None, reached: RolloutScores, asked: WalkProblems, truth: Truth
) -> Scores:
    return Scores(
        test_accu=accuracy,
        ceiling=best,
        imp_fallback=reached.planning.imp_fallback,
        ratio_sp=reached.planning.ratio_sp,
        positions=truth.world.num_positions,
        optimal=reached.planning.optimal,
        mean_optimal_length=reached.planning.mean_optimal_length,
        valid_share=reached.valid_share,
        valid_share_with_tail=reached.valid_share_with_tail,
        problems=len(asked),
        context_length=int(asked.start_step[0]) + 1,
    )


def score_without_truth(cognitive_map: CognitiveMap | None, predicted: Integers, walks: Walks) -> Scores:
    """The scores that need no true positions."""
    accuracy = next_observation_accuracy(predicted, walks)
    if cognitive_map is None:
        return Scores(test_accu=accuracy)
    return Scores(
        test_accu=accuracy,
        nodes=cognitive_map.num_nodes,
        edges=cognitive_map.deterministic().num_edges,
        explained=cognitive_map.explained,
        map_kind=cognitive_map.kind,
        warnings=cognitive_map.warnings,
    )


def _plan(cognitive_map: CognitiveMap, nodes: Integers, asked: WalkProblems, truth: Truth) -> PlanningScores:
    return score_plans(solve_many(cognitive_map, map_problems(asked, nodes)), asked, truth)


def _closed_loop(
    cognitive_map: CognitiveMap, truth: Truth, place: Integers, goals: int, seed: int
) -> float | None:
    if not goals:
        return None
    # Loads the renderer, which readers of scores do not need.
    from cogmap.evaluation.closed_loop import goals_reached

    return goals_reached(cognitive_map, truth.world, place, goals, np.random.default_rng(seed))


def _with_chance(
    cognitive_map: CognitiveMap, walks: Walks, truth: Truth, place: Integers, seed: int
) -> dict[str, float | None]:
    """The scores that only a world with chance has."""
    if not isinstance(truth.world, ChanceWorld) or cognitive_map.num_nodes == 0:
        return {}
    from cogmap.evaluation.chance import score_chance  # loads the renderer

    return asdict(score_chance(cognitive_map, walks, truth, place, seed=seed))


def _ceiling(walks: Walks, truth: Truth) -> float | None:
    """The ceiling on these walks, or None where noise makes them impossible in the world."""
    try:
        return ceiling(walks, truth.world).accuracy
    except BadWalks:
        return None


def _check_match(walks: Walks, truth: Truth, codes: Codes | None = None) -> None:
    shape = walks.observations.shape
    if truth.positions.shape != shape:
        raise BadWalks(
            f"true positions must have the walks' shape (B, N) = {shape}, got {truth.positions.shape}"
        )
    if codes is not None and codes.codes.shape[:2] != shape:
        raise BadWalks(f"codes must have the walks' shape (B, N) = {shape}, got {codes.codes.shape[:2]}")
