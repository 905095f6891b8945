"""Does a model know the automaton of its world? The metrics of Vafa et al., Evaluating the world model implicit in a
generative model (2024), for worlds without chance.

A sentence is a sequence of actions, each with the observation that follows it. The world's language at a position has
one sentence for each sequence of actions. A model's language after a history has the sentences in which it gives every
observation a probability of at least EPSILON. The boundary of two languages are the sentences of the first that the
second does not have, although it has everything before their last observation. Sentences are read up to a depth.

- Compression precision: pairs of histories that lead to one position; the share whose boundaries are empty.
- Distinction precision: pairs that lead to different positions; the share of the model's boundary that is true.
- Distinction recall: the share of the world's boundary that the model's languages have, too.
- Detours: the share of goals that are reached when some of the planned actions are replaced by random ones.

Models are callables here, and no network is: the predictor of `planning.rollouts`, and a function that plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.oracle import optimal_distances
from cogmap.evaluation.planning import fitting_context
from cogmap.planning.rollouts import AnyState, Predictor, read_by_steps
from cogmap.records import ChanceWorld, CognitiveMap, Floats, Integers, TableWorld, Truth, Walks

EPSILON = 0.01  # the paper's
SENTENCES = 256  # of each language that are read at the most; the depth follows from it
PAIRS = 100  # of each kind
DETOUR = 0.1  # chance that an action is replaced
_LENGTHS = 4  # of histories
_AT_ONCE = 16  # pairs

Replan = Callable[[Integers, Integers, Integers], Sequence[Integers | None]]
"""Plans (L,) for some problems (R,) from what was seen (R, T) and done (R, T - 1) so far; None where there is none."""


@dataclass(frozen=True)
class WorldModelScores:
    """None where no pair could be asked about, or where the world has chance."""

    compression_precision: float | None = None
    distinction_precision: float | None = None
    distinction_recall: float | None = None
    detours: float | None = None


@dataclass(frozen=True)
class PairBoundary:
    """Sizes of the boundaries of one history against another."""

    of_model: int  # sentences in the model's boundary
    true: int  # of these, the ones that the world's languages distinguish, too
    of_world: int  # sentences in the world's boundary
    found: int  # of these, the ones that the model's languages distinguish, too


def language_scores(
    predictor: Predictor[AnyState],
    walks: Walks,
    truth: Truth,
    rng: np.random.Generator,
    pairs: int = PAIRS,
    depth: int | None = None,
) -> WorldModelScores:
    """Compression and distinction on pairs of histories of these walks."""
    if isinstance(truth.world, ChanceWorld):
        return WorldModelScores()
    depth = depth_of(truth.world.num_actions) if depth is None else depth
    equal, compressed = 0, 0
    precisions: list[float] = []
    recalls: list[float] = []
    for length in _history_lengths(walks, truth.world):
        whole = np.flatnonzero(walks.lengths >= length)
        position = truth.positions[whole, length - 1]
        for same in (True, False):
            first, second = _pairs(position, same, max(1, pairs // _LENGTHS), rng)
            for some in range(0, len(first), _AT_ONCE):
                ends = [whole[side[some : some + _AT_ONCE]] for side in (first, second)]
                for there, back in zip(
                    *_both_ways(predictor, walks, truth, ends, length, depth), strict=True
                ):
                    if same:
                        equal += 1
                        compressed += there.of_model == back.of_model == 0
                        continue
                    precisions += [there.true / there.of_model] if there.of_model else []
                    recalls += [there.found / there.of_world] if there.of_world else []
    return WorldModelScores(
        compression_precision=compressed / equal if equal else None,
        distinction_precision=float(np.mean(precisions)) if precisions else None,
        distinction_recall=float(np.mean(recalls)) if recalls else None,
    )


def depth_of(num_actions: int) -> int:
    """The longest sentences of which a language has at most SENTENCES, at least 2."""
    depth = 1
    while num_actions ** (depth + 1) <= SENTENCES and depth < 8:
        depth += 1
    return max(2, depth)


def _history_lengths(walks: Walks, world: TableWorld) -> list[int]:
    """A few lengths of histories, from where an agent can know its position."""
    least = 2 if world.start_probability is not None else fitting_context(walks)
    most = int(np.quantile(walks.lengths, 0.25))
    return np.unique(np.linspace(min(least, most), most, _LENGTHS).astype(int)).tolist()


def _pairs(position: Integers, same: bool, count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Indices of pairs whose positions (R,) are the same, or are not."""
    first, second = np.nonzero(np.triu((position[:, None] == position[None]) == same, k=1))
    chosen = rng.permutation(len(first))[:count]
    return first[chosen], second[chosen]


def _both_ways(
    predictor: Predictor[AnyState], walks: Walks, truth: Truth, ends: Sequence[Any], length: int, depth: int
) -> tuple[list[PairBoundary], list[PairBoundary]]:
    """The boundaries of pairs of walks (R,), (R,) after `length` observations, one way and back."""
    rows = np.concatenate([ends[0], ends[1]])
    state = predictor.begin(walks.observations[rows, :length], walks.actions[rows, : length - 1])
    position = truth.positions[rows, length - 1]
    half = len(ends[0])
    order = np.concatenate([np.arange(half, 2 * half), np.arange(half)])
    found = boundaries(predictor, state, order, position, truth.world, depth)
    return found[:half], found[half:]


def boundaries(
    predictor: Predictor[AnyState],
    state: AnyState,
    other: NDArray[Any],
    position: Integers,
    world: TableWorld,
    depth: int,
    epsilon: float = EPSILON,
) -> list[PairBoundary]:
    """The boundary of each history (R,) against another of them, `other` (R,), in the model and in the world.

    state: of the predictor after the R histories. position: (R,) to which each leads.
    """
    histories = len(position)
    size = np.zeros((4, histories), dtype=np.int64)
    # A sentence so far: whose it is, the states of both sides, where both are, and in which languages it is.
    pair = np.arange(histories)
    sides = [state, state.rows(other)]
    places = [position.astype(np.int64), position[other].astype(np.int64)]
    in_model, in_world = (np.ones((2, histories), dtype=bool) for _ in range(2))
    legal = world.legal_actions()
    for left in range(depth - 1, -1, -1):
        # Actions that can be taken at neither place are part of no sentence.
        grown, taken = np.nonzero(legal[places[0]] | legal[places[1]])
        action = taken.astype(np.int32)
        logits, after = zip(*(predictor.predict(side.rows(grown), action) for side in sides), strict=True)
        likely = np.stack([_softmax(each) >= epsilon for each in logits])  # (2, R, O)
        moved = [world.next_position[place[grown], action] for place in places]
        shown = [world.observation[place] for place in moved]
        seen = np.arange(likely.shape[2])
        truly = np.stack([each[:, None] == seen for each in shown])  # (2, R, O)
        now_model = in_model[:, grown, None] & likely
        now_world = in_world[:, grown, None] & truly
        before_model, before_world = (np.logical_and(*flags)[grown, None] for flags in (in_model, in_world))
        model_apart, world_apart = now_model[0] & ~now_model[1], now_world[0] & ~now_world[1]
        tallied = (
            before_model & model_apart,
            before_model & model_apart & world_apart,
            before_world & world_apart,
            before_world & world_apart & model_apart,
        )
        for kind, chosen in enumerate(tallied):
            np.add.at(size[kind], pair[grown], chosen.sum(axis=1))
        if left == 0:
            break
        row, observation = np.nonzero(now_model.all(axis=0) | now_world.all(axis=0))
        sides = [predictor.advance(each.rows(row), observation.astype(np.int32)) for each in after]
        places = [place[row] for place in moved]
        in_model, in_world = now_model[:, row, observation], now_world[:, row, observation]
        pair = pair[grown[row]]
        if not len(pair):
            break
    return [PairBoundary(*column) for column in size.T.tolist()]


def _softmax(logits: Floats) -> Floats:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def detour_success(
    replan: Replan,
    walks: Walks,
    truth: Truth,
    start_step: int,
    target: Integers,
    rng: np.random.Generator,
    chance: float = DETOUR,
) -> float:
    """The share of problems whose plan ends at its target (R,) although actions are replaced on the way.

    Problem r is in walk r, from `start_step`. After an action that was replaced the planner plans again. It may take
    three times the shortest way and thirty actions more.
    """
    world, problems = truth.world, len(target)
    position = truth.positions[:problems, start_step].copy()
    seen, done = walks.observations[:problems, : start_step + 1], walks.actions[:problems, :start_step]
    shortest = optimal_distances(world)[position, target]
    limit = 3 * np.where(np.isfinite(shortest), shortest, 0) + 30
    plans: list[list[int] | None] = [None] * problems
    active, success = np.isfinite(shortest), np.zeros(problems, dtype=bool)
    legal = world.legal_actions()
    for step in range(int(limit.max(initial=0))):
        lost = np.flatnonzero(active & np.array([plan is None for plan in plans]))
        if lost.size:
            for index, plan in zip(
                lost.tolist(), replan(seen[lost], done[lost], lost.astype(np.int32)), strict=True
            ):
                plans[index] = None if plan is None else plan.tolist()
        ended = active & np.array([plan == [] for plan in plans])
        success |= ended & (position == target)
        active &= ~ended & (step < limit)
        if not active.any():
            break
        forced = rng.random(problems) < chance
        action = np.zeros(problems, dtype=np.int32)
        for index in np.flatnonzero(active).tolist():
            followed = plans[index]
            if forced[index] or followed is None:
                action[index] = rng.choice(np.flatnonzero(legal[position[index]]))
                plans[index] = None
            else:
                action[index] = followed.pop(0)
        position = np.where(active, world.next_position[position, action], position)
        seen = np.column_stack([seen, world.observation[position]])
        done = np.column_stack([done, action])
    return float(success[np.isfinite(shortest)].mean()) if np.isfinite(shortest).any() else 0.0


@dataclass(frozen=True, eq=False)
class _Belief:
    """Where on the map R agents may be."""

    share: Floats  # (R, V)

    def rows(self, index: NDArray[Any]) -> Self:
        return type(self)(self.share[index])


class MapPredictor:
    """A map as a predictor, by exact filtering. Where it does not know a move, every observation is as likely."""

    def __init__(self, cognitive_map: CognitiveMap) -> None:
        from scipy.sparse import csr_array

        self._map = cognitive_map
        nodes = cognitive_map.num_nodes
        self._shows = np.zeros((nodes, cognitive_map.num_observations))
        self._shows[cognitive_map.seen_node, cognitive_map.seen_observation] = cognitive_map.seen_probability
        self._moves = []
        for action in range(cognitive_map.num_actions):
            chosen = cognitive_map.edge_action == action
            ends = (cognitive_map.edge_source[chosen], cognitive_map.edge_target[chosen])
            values = np.asarray(cognitive_map.edge_probability)[chosen]
            self._moves.append(csr_array((values, ends), shape=(nodes, nodes)))

    def begin(self, observations: Integers, actions: Integers) -> _Belief:
        belief = _Belief(self._anywhere(observations[:, 0]))
        for step in range(actions.shape[1]):
            belief = self.advance(self._moved(belief, actions[:, step]), observations[:, step + 1])
        return belief

    def predict(self, state: _Belief, actions: Integers) -> tuple[Floats, _Belief]:
        moved = self._moved(state, actions)
        shares = moved.share @ self._shows
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1 / shares.shape[1])
        shares = np.where(total > 0, shares / np.maximum(total, 1e-300), even)
        return np.log(np.maximum(shares, 1e-30)), moved

    def advance(self, state: _Belief, observations: Integers) -> _Belief:
        share = state.share * self._shows[:, observations].T
        total = share.sum(axis=1, keepdims=True)
        anew = total[:, 0] < EPSILON**2  # what was seen contradicts the map: the agent may be anywhere
        share = share / np.maximum(total, 1e-300)
        share[anew] = self._anywhere(observations[anew])
        return _Belief(share)

    def read(self, state: _Belief, actions: Integers, observations: Integers) -> tuple[Floats, _Belief]:
        return read_by_steps(self, state, actions, observations)

    def _anywhere(self, observations: Integers) -> Floats:
        share = self._shows[:, observations].T
        total = share.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, share / np.maximum(total, 1e-300), 1 / max(share.shape[1], 1)))

    def _moved(self, state: _Belief, actions: Integers) -> _Belief:
        share = np.zeros_like(state.share)
        for action in np.unique(actions).tolist():
            chosen = actions == action
            share[chosen] = state.share[chosen] @ self._moves[action]
        return _Belief(share)


def map_replanner(cognitive_map: CognitiveMap, goals: Integers) -> Replan:
    """Plans on a map to the nodes (R,) of the goals, -1 where a goal has none."""
    from cogmap.planning.shortest_paths import Problem, solve_many
    from cogmap.records import Plan

    predictor = MapPredictor(cognitive_map)

    def replan(seen: Integers, done: Integers, which: Integers) -> list[Integers | None]:
        node = predictor.begin(seen, done).share.argmax(axis=1)
        known = [index for index, goal in enumerate(goals[which].tolist()) if goal >= 0]
        problems = [Problem(int(node[index]), int(goals[which[index]])) for index in known]
        plans: list[Integers | None] = [None] * len(which)
        for index, outcome in zip(known, solve_many(cognitive_map, problems), strict=True):
            plans[index] = outcome.actions if isinstance(outcome, Plan) else None
        return plans

    return replan


def world_model_scores(
    cognitive_map: CognitiveMap, walks: Walks, truth: Truth, seed: int = 0, pairs: int = PAIRS
) -> WorldModelScores:
    """All four of a map."""
    if isinstance(truth.world, ChanceWorld) or cognitive_map.num_nodes == 0:
        return WorldModelScores()
    predictor = MapPredictor(cognitive_map)
    found = language_scores(predictor, walks, truth, np.random.default_rng(seed), pairs)
    asked = detour_problems(walks, truth)
    if asked is None:
        return found
    rows, start, goal_step, target = asked
    goals = predictor.begin(rows.observations[:, : goal_step + 1], rows.actions[:, :goal_step]).share.argmax(
        axis=1
    )
    replan = map_replanner(cognitive_map, goals.astype(np.int32))
    reached = detour_success(
        replan, rows, truth_of_rows(truth, asked), start, target, np.random.default_rng(seed)
    )
    return WorldModelScores(
        found.compression_precision, found.distinction_precision, found.distinction_recall, reached
    )


def detour_problems(
    walks: Walks, truth: Truth, count: int = PAIRS
) -> tuple[Walks, int, int, Integers] | None:
    """Walks, the steps of start and goal, and the goals' positions: as far apart in a walk as the paper's problems."""
    context = fitting_context(walks)
    start, goal = context - 1, int(walks.lengths.min()) - context - 1
    if goal <= start:
        return None
    some = walks.rows(slice(count))
    return some, start, goal, truth.positions[: some.num_walks, goal]


def truth_of_rows(truth: Truth, asked: tuple[Walks, int, int, Integers]) -> Truth:
    """The truth of the problems' walks."""
    return Truth(truth.positions[: asked[0].num_walks], truth.world)
