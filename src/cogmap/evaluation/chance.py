"""Scores in worlds with chance: how near the map's predictions are to the exact filter's, and its policies to the best.

Closed loop: the agent walks at random for a while, so that it can know where it is, and then to a goal by its policy.
An agent at the goal is told so, and so is the oracle, which knows its position and the world. Both walk in the same
world from the same places; steps are counted from there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cogmap.environments.bayes import filter_walks
from cogmap.environments.chance import moves_of
from cogmap.environments.policies import best_policy, mean_rewards, quickest_policy
from cogmap.errors import BadWalks, NoPath
from cogmap.evaluation.ged import true_map
from cogmap.hmm.belief import belief_model, read_walks
from cogmap.planning.navigator import Navigator
from cogmap.planning.policies import DISCOUNT, find_policy
from cogmap.planning.steppers import TableStepper
from cogmap.records import ChanceWorld, CognitiveMap, Floats, Integers, TableWorld, Truth, Walks

MAX_STEPS = 400  # actions before an attempt counts as failed
LOOK_AROUND = 50  # random actions before it
EPISODES = 200  # walks that the value of a policy is measured on
_REST = 0.01  # of the value that comes after the end of a walk


@dataclass(frozen=True)
class ChanceScores:
    """A map against a world with chance. A field is None where it does not apply."""

    map_log_loss: float  # of the next observation, by the map alone, in nats
    exact_log_loss: float | None  # the same for the exact filter; None if the world rules the walks out
    probability_distance: float | None  # mean total variation of moves, map to world, weighted by visits
    goals_reached: float | None  # share of goals reached in closed loop
    steps_over_oracle: float | None  # steps of those journeys, over those expected if positions were known
    steps_over_true_map: float | None  # the same divided by the steps of this agent with the true map
    value_share: float | None  # value of the map's policy for rewards: 1 is the best, 0 acting at random
    value_over_true_map: float | None  # that share divided by that of this agent with the true map


def score_chance(
    cognitive_map: CognitiveMap,
    walks: Walks,
    truth: Truth,
    place: Integers,
    goals: int = 50,
    seed: int = 0,
) -> ChanceScores:
    """place: (V,) the position that each node stands for, -1 for none."""
    ours = closed_loop(cognitive_map, truth.world, place, goals, seed)
    everywhere = np.arange(truth.world.num_positions, dtype=np.int32)
    true = true_chance_map(truth.world)
    knowing = closed_loop(true, truth.world, everywhere, goals, seed)
    share, best_share = (
        value_share(each, truth.world, np.random.default_rng(seed)) for each in (cognitive_map, true)
    )
    return ChanceScores(
        map_log_loss=map_log_loss(cognitive_map, walks),
        exact_log_loss=_exact_log_loss(walks, truth.world),
        probability_distance=probability_distance(cognitive_map, truth.world, place),
        goals_reached=ours.reached,
        steps_over_oracle=ours.over_oracle(),
        steps_over_true_map=ours.over(knowing),
        value_share=share,
        value_over_true_map=share / best_share if share is not None and best_share else None,
    )


def map_log_loss(cognitive_map: CognitiveMap, walks: Walks) -> float:
    """Minus the mean log of the probability of each next observation by the map alone, in nats."""
    read = read_walks(belief_model(cognitive_map), walks.observations, walks.actions, walks.lengths)
    asked = walks.step_mask()[:, 1:]
    return -float(read.log_likelihood[:, 1:][asked].mean())


def _exact_log_loss(walks: Walks, world: TableWorld) -> float | None:
    try:
        return filter_walks(walks, world).mean_log_loss
    except BadWalks:
        return None


def probability_distance(cognitive_map: CognitiveMap, world: TableWorld, place: Integers) -> float | None:
    """The mean total variation distance between where an action leads from a node and from its place.

    Weighed by how often the action was taken there. Nodes without a place count as nowhere.
    """
    source, action, target, probability, _ = moves_of(world)
    size, actions = world.num_positions + 1, world.num_actions
    true = np.zeros((world.num_positions * actions, size))
    true[source * actions + action, target] = probability
    known = place[cognitive_map.edge_source] >= 0
    if not known.any():
        return None
    row = cognitive_map.edge_source[known].astype(np.int64) * actions + cognitive_map.edge_action[known]
    rows, which = np.unique(row, return_inverse=True)
    learned = np.zeros((len(rows), size))
    np.add.at(
        learned,
        (which.reshape(-1), place[cognitive_map.edge_target[known]]),
        np.asarray(cognitive_map.edge_probability)[known],
    )
    tries = np.bincount(which.reshape(-1), weights=cognitive_map.edge_support[known])
    node, by = np.divmod(rows, actions)
    distance = np.abs(learned - true[place[node] * actions + by]).sum(axis=1) / 2
    return float(np.average(distance, weights=tries)) if tries.sum() else None


def closed_loop(
    cognitive_map: CognitiveMap, world: TableWorld, place: Integers, goals: int, seed: int = 0
) -> Journeys:
    """Journeys to `goals` random places that have a node."""
    nodes = np.flatnonzero(place >= 0)
    journeys = Journeys([], [])
    if not nodes.size:
        return journeys
    best = {}
    of_place: dict[int, list[int]] = {}  # a place may have several nodes
    for node in nodes.tolist():
        of_place.setdefault(int(place[node]), []).append(node)
    for attempt in range(goals):
        # Every attempt has its own random numbers, so that other maps get the same starts, goals and first steps.
        rng = np.random.default_rng([seed, attempt])
        position = int(rng.integers(world.num_positions))
        if position not in of_place:
            journeys.add(None, np.inf)
            continue
        if position not in best:
            best[position] = quickest_policy(world, position).value  # (P,)
        navigator, stepper = _looked_around(cognitive_map, world, best[position], rng)
        if stepper is not None:
            oracle = float(best[position][stepper.position])
            journeys.add(_walk(navigator, stepper, of_place[position], position), oracle)
    return journeys


class Journeys(NamedTuple):
    """Journeys in closed loop."""

    steps: list[int | None]  # of each; None where the goal was not reached
    oracle: list[float]  # expected steps of the oracle from the same place

    def add(self, steps: int | None, oracle: float) -> None:
        self.steps.append(steps)
        self.oracle.append(oracle)

    @property
    def reached(self) -> float | None:
        """The share of goals that were reached."""
        return float(np.mean([steps is not None for steps in self.steps])) if self.steps else None

    def over_oracle(self) -> float | None:
        """Steps of those that arrived, divided by the oracle's expected ones."""
        pairs = [pair for pair in zip(self.steps, self.oracle, strict=True) if pair[0] is not None]
        return sum(steps or 0 for steps, _ in pairs) / sum(oracle for _, oracle in pairs) if pairs else None

    def over(self, other: Journeys) -> float | None:
        """Steps divided by those of another agent, where both arrived."""
        pairs = [
            (mine, theirs)
            for mine, theirs in zip(self.steps, other.steps, strict=True)
            if mine is not None and theirs is not None
        ]
        return sum(mine for mine, _ in pairs) / sum(theirs for _, theirs in pairs) if pairs else None


def true_chance_map(world: TableWorld, visits: int = 100_000) -> CognitiveMap:
    """The map that a world would have after very many visits: one node for each position, with all probabilities."""
    source, action, target, probability, reward = moves_of(world)
    legal = world.legal_actions()[source, action]
    seen: Floats = np.eye(world.num_observations)[world.observation]
    if isinstance(world, ChanceWorld) and world.observation_probability is not None:
        seen = world.observation_probability
    node, observation = (column.astype(np.int32) for column in np.nonzero(seen))
    support = np.maximum(1, probability[legal] * visits / world.num_actions).astype(np.int32)
    return replace(
        true_map(world),
        kind="minimal",
        node_support=np.full(world.num_positions, visits, dtype=np.int32),
        edge_source=source[legal],
        edge_action=action[legal],
        edge_target=target[legal],
        edge_support=support,
        edge_probability=probability[legal],
        edge_imagined=None,
        edge_reward=None if reward is None else reward[legal],
        seen_node=node,
        seen_observation=observation,
        seen_probability=seen[node, observation],
        start_probability=world.start_probability,
    )


def _looked_around(
    cognitive_map: CognitiveMap, world: TableWorld, best: Floats, rng: np.random.Generator
) -> tuple[Navigator, TableStepper | None]:
    """An agent after a random walk, at a position from which the goal can be reached; none if there is no such."""
    navigator = Navigator(cognitive_map, np.random.default_rng(0))
    starts = np.flatnonzero(np.isfinite(best) & (best > 0))
    if not starts.size:
        return navigator, None
    legal = world.legal_actions()
    while True:
        stepper = TableStepper(world, int(rng.choice(starts)), rng)
        navigator.reset()
        navigator.observe(None, stepper.observation)
        for _ in range(LOOK_AROUND):
            action = int(rng.choice(np.flatnonzero(legal[stepper.position])))
            navigator.observe(action, stepper(action))
        if np.isfinite(best[stepper.position]) and best[stepper.position] > 0:
            return navigator, stepper


def _walk(navigator: Navigator, stepper: TableStepper, goal: list[int], position: int) -> int | None:
    """The number of steps to the goal; None if it is not reached."""
    legal = stepper.world.legal_actions()
    for step in range(1, MAX_STEPS + 1):
        navigator.rule_out(goal)  # it would have been told
        try:
            action = navigator.next_action(goal)
        except NoPath:
            return None
        if action is None or not legal[stepper.position, action]:
            return None
        navigator.observe(action, stepper(action))
        if stepper.position == position:
            return step
    return None


def value_share(
    cognitive_map: CognitiveMap, world: TableWorld, rng: np.random.Generator, discount: float = DISCOUNT
) -> float | None:
    """How much of the best value the map's policy for rewards collects: 1 is the best, 0 is acting at random.

    The best policy knows its position. The agent knows what it sees, and acts on its belief; its value is the mean over
    `EPISODES` walks from the world's starts. Random actions of as many walks from the same starts are the 0.
    """
    if not isinstance(world, ChanceWorld) or world.move_reward is None or cognitive_map.edge_reward is None:
        return None
    reward, best = mean_rewards(world), best_policy(world, discount).value
    policy, model = find_policy(cognitive_map, discount=discount), belief_model(cognitive_map)
    starts = rng.choice(world.num_positions, EPISODES, p=_starts(world))
    steps = int(np.ceil(np.log(_REST) / np.log(discount)))
    legal = world.legal_actions()
    totals = np.zeros(2)
    for start in starts.tolist():
        for acts, by_policy in enumerate((False, True)):
            stepper, belief, worth = TableStepper(world, start, rng), model.prior, 1.0
            for _ in range(steps):
                belief = model.after_seeing(belief, stepper.observation)
                chosen = policy.choose(belief) if by_policy else -1
                if chosen < 0 or not legal[stepper.position, chosen]:
                    chosen = int(rng.choice(np.flatnonzero(legal[stepper.position])))
                totals[acts] += worth * reward[stepper.position, chosen]
                worth *= discount
                stepper(chosen)
                belief = model.after_action(belief, chosen)
    at_random, ours = totals / EPISODES
    highest = best[starts].mean()
    return float((ours - at_random) / (highest - at_random)) if highest > at_random else None


def _starts(world: TableWorld) -> Floats:
    if world.start_probability is None:
        return np.full(world.num_positions, 1 / world.num_positions)
    return world.start_probability / world.start_probability.sum()
