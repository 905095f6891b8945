"""Policies on a map with chance: the action for every node that reaches a goal, or collects rewards.

To a goal: from where it can be reached for sure, the fewest expected steps; from elsewhere, the highest probability of
arriving. With a discount, the highest expected discount at arrival, which trades the two. Without a goal, the highest
discounted sum of the rewards that the map carries.

An action that was never taken at a node is not chosen there. The arithmetic is in `environments/policies.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from cogmap.environments.policies import Moves, arriving_under, fewest_steps, highest_value, surest
from cogmap.errors import BadConfig, NoPath
from cogmap.planning.shortest_paths import Goal, avoided_observations, goal_nodes, observation_index
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Labels, Plan, label_of

DISCOUNT = 0.95  # of rewards, where none is given
_SURE = 1 - 1e-9
LIKELY = 0.9  # for a path that goes as planned less often than this, a policy is suggested
# Cost of an action that may never arrive, in multiples of the worst finite cost; used under a belief.
_HOPELESS = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """An action for every node, and what to expect of it."""

    action: Integers  # (V,) -1 at the goal, where it is out of reach, and where nothing was ever done
    arrival: Floats | None  # (V,) the probability of ever arriving; None without a goal
    steps: Floats | None  # (V,) expected steps, if it arrives; inf where it never does
    value: Floats | None  # (V,) expected discounted rewards, or discount at arrival; None without a discount
    cost: Floats  # (V, A) expected cost of an action and of all that follow, to choose under a belief
    goals: tuple[int, ...]
    action_labels: Labels | None = None

    def choose(self, belief: Floats) -> int:
        """The action with the lowest expected cost of an agent that is somewhere (V,) and not at the goal; -1 is none.

        It is best if the agent knew its node after the action.
        """
        weight = self._on_the_way(belief)
        return int((weight @ self.cost).argmin()) if weight.any() else -1

    def expected_cost(self, belief: Floats) -> float:
        """The cost of that action and of all that follow; 0 if there is none."""
        weight = self._on_the_way(belief)
        return float((weight @ self.cost).min() / weight.sum()) if weight.any() else 0.0

    def _on_the_way(self, belief: Floats) -> Floats:
        """(V,) the belief without goals and nodes where nothing is done."""
        weight = belief.copy()
        weight[list(self.goals)] = 0
        weight[self.action < 0] = 0
        return weight

    def label(self, node: int) -> str | int | None:
        """The user's word for the action at a node; None where there is none."""
        chosen = int(self.action[node])
        return None if chosen < 0 else label_of(self.action_labels, chosen)

    def __repr__(self) -> str:
        acts = int((self.action >= 0).sum())
        if self.arrival is None or self.steps is None:
            assert self.value is not None
            return f"Policy(an action at {acts} of {len(self.action)} nodes, value {self.value.mean():.3g} on average)"
        sure = int((self.arrival >= _SURE).sum())
        where = self.arrival > 0
        mean = self.steps[where].mean() if where.any() else np.inf
        arrives = f"arrives for sure from {sure} of {len(self.action)} nodes"
        return f"Policy({arrives}, in {mean:.1f} expected steps on average)"


def find_policy(
    cognitive_map: CognitiveMap,
    goal: Goal | None = None,
    avoid: Iterable[int | str] = (),
    costs: Mapping[int | str, float] | None = None,
    discount: float | None = None,
    penalty: Floats | None = None,
) -> Policy:
    """The best policy on a map.

    goal: a node, several, or `Showing` an observation; None is the rewards of the map.
    avoid: observations that must not be passed on the way; a node that shows one is where the journey fails.
    costs: an extra cost, in steps, each time that an observation is passed.
    discount: of a step, below 1. With a goal, by default there is none; of rewards 0.95.
    penalty: (V, A) extra steps that an action is thought to take.
    """
    avoided = avoided_observations(cognitive_map, avoid)
    goals = () if goal is None else goal_nodes(cognitive_map, goal)
    moves = moves_of_map(cognitive_map)
    forbidden = np.isin(cognitive_map.node_observation, list(avoided))
    forbidden[list(goals)] = False
    moves.allowed[forbidden] = False  # nothing leads on from there
    extra = _extra_cost(cognitive_map, moves, costs) + (0.0 if penalty is None else penalty)
    if goal is None:
        found = _for_rewards(cognitive_map, moves, extra, DISCOUNT if discount is None else discount)
    elif discount is not None:
        found = _discounted(cognitive_map, moves, goals, extra, discount)
    else:
        found = _to_goal(cognitive_map, moves, goals, 1 + extra)
    if goal is not None and not (found.action >= 0).any() and cognitive_map.num_nodes > len(goals):
        around = f" past {', '.join(map(str, avoid))}" if avoided else ""
        raise NoPath(f"a goal must be within reach of some other node, no move leads to {goal}{around}")
    return found


def chance_on(cognitive_map: CognitiveMap, plan: Plan) -> float:
    """The probability that the actions of a plan lead along its nodes, one after the other, without a correction."""
    if not len(plan):
        return 1.0
    size, actions = cognitive_map.num_nodes, cognitive_map.num_actions
    row = cognitive_map.edge_source.astype(np.int64) * actions + cognitive_map.edge_action
    key = row * size + cognitive_map.edge_target
    order = np.argsort(key)
    asked = (plan.nodes[:-1].astype(np.int64) * actions + plan.actions) * size + plan.nodes[1:]
    place = order[np.minimum(np.searchsorted(key[order], asked), len(key) - 1)]
    probability = np.where(key[place] == asked, np.asarray(cognitive_map.edge_probability)[place], 0.0)
    return float(np.prod(probability))


def moves_of_map(cognitive_map: CognitiveMap) -> Moves:
    """The known moves of a map as the arithmetic of policies takes them."""
    cognitive_map = cognitive_map.known()
    row = cognitive_map.edge_source.astype(np.int64) * cognitive_map.num_actions + cognitive_map.edge_action
    shape = (cognitive_map.num_nodes * cognitive_map.num_actions, cognitive_map.num_nodes)
    allowed = np.zeros(shape[0], dtype=bool)
    allowed[row] = True
    probability = csr_array(
        (np.asarray(cognitive_map.edge_probability), (row, cognitive_map.edge_target)), shape=shape
    )
    return Moves(probability, allowed.reshape(cognitive_map.num_nodes, cognitive_map.num_actions))


def mean_reward(cognitive_map: CognitiveMap) -> Floats:
    """(V, A) the mean reward of each action at each node; 0 where it was never taken."""
    if cognitive_map.edge_reward is None:
        raise BadConfig("a policy without a goal needs rewards, which the walks of this map did not have")
    mean = np.zeros((cognitive_map.num_nodes, cognitive_map.num_actions))
    share = np.asarray(cognitive_map.edge_probability) * cognitive_map.edge_reward
    np.add.at(mean, (cognitive_map.edge_source, cognitive_map.edge_action), share)
    return mean


def _extra_cost(cognitive_map: CognitiveMap, moves: Moves, costs: Mapping[int | str, float] | None) -> Floats:
    """(V, A) the expected cost of what is entered by each action."""
    each = np.zeros(cognitive_map.num_observations)
    for name, cost in (costs or {}).items():
        if not (np.isfinite(cost) and cost >= 0):
            raise BadConfig(f"`costs` must be finite and at least 0, got {cost} for {name!r}")
        count, labels = cognitive_map.num_observations, cognitive_map.observation_labels
        each[observation_index(name, count, labels, "costs")] = cost
    entered: Floats = moves.probability @ each[cognitive_map.node_observation]
    return entered.reshape(moves.allowed.shape)


def _to_goal(cognitive_map: CognitiveMap, moves: Moves, goals: tuple[int, ...], cost: Floats) -> Policy:
    goal = _mask(goals, cognitive_map.num_nodes)
    quickest = fewest_steps(moves, goal, cost)
    likeliest = surest(moves, goal)
    action = np.where(np.isfinite(quickest.value), quickest.action, likeliest.action).astype(np.int32)
    arrival, steps = arriving_under(moves, action, goal)
    return Policy(
        action=action,
        arrival=np.where(np.isfinite(quickest.value), 1.0, arrival),
        steps=steps,
        value=None,
        cost=_cost_to_go(moves, quickest.value, likeliest.value, cost),
        goals=goals,
        action_labels=cognitive_map.action_labels,
    )


def _cost_to_go(moves: Moves, steps: Floats, arrival: Floats, cost: Floats) -> Floats:
    """(V, A) the expected cost of an action and what follows; what may never arrive costs more than any journey."""
    finite = np.where(np.isfinite(steps), steps, 0.0)
    worst = 1 + finite.max(initial=0.0) + cost.max(initial=0.0)
    value = np.where(np.isfinite(steps), finite, _HOPELESS * worst * (2 - arrival))
    following: Floats = cost + (moves.probability @ value).reshape(cost.shape)
    return np.where(moves.allowed, following, 4 * _HOPELESS * worst)


def _discounted(
    cognitive_map: CognitiveMap, moves: Moves, goals: tuple[int, ...], extra: Floats, discount: float
) -> Policy:
    """One is gained at arrival; a cost is worth what as many steps more would lose."""
    goal = _mask(goals, cognitive_map.num_nodes)
    reward = (moves.probability @ goal.astype(np.float64)).reshape(moves.allowed.shape) * discount
    reward -= extra * (1 - discount)
    moves.allowed[goal] = False
    action, value, cost = _highest(moves, reward, discount)
    arrival, steps = arriving_under(moves, action, goal)
    action[arrival == 0] = -1
    value[goal] = 1.0
    return Policy(action, arrival, steps, value, cost, goals, cognitive_map.action_labels)


def _for_rewards(cognitive_map: CognitiveMap, moves: Moves, extra: Floats, discount: float) -> Policy:
    action, value, cost = _highest(moves, mean_reward(cognitive_map) - extra, discount)
    return Policy(action, None, None, value, cost, (), cognitive_map.action_labels)


def _highest(moves: Moves, reward: Floats, discount: float) -> tuple[Integers, Floats, Floats]:
    """Action (V,), value (V,) and cost (V, A). Where nothing can be done, nothing is gained either."""
    stuck: Booleans = np.asarray(~moves.allowed.any(axis=1))
    allowed = moves.allowed.copy()
    allowed[stuck, 0] = True
    kept = np.repeat(~stuck, moves.num_actions).astype(np.float64)
    probability = csr_array(moves.probability.multiply(kept[:, None]))
    found = highest_value(Moves(probability, allowed), np.where(stuck[:, None], 0.0, reward), discount)
    value = found.value
    following = reward + discount * (probability @ value).reshape(reward.shape)
    spread = 1 + np.abs(following).max(initial=0.0)
    cost = np.where(moves.allowed, -following, 4 * spread)
    return np.where(stuck, -1, found.action).astype(np.int32), value, cost


def _mask(nodes: tuple[int, ...], size: int) -> Booleans:
    mask = np.zeros(size, dtype=bool)
    mask[list(nodes)] = True
    return mask
