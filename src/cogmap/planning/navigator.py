"""An agent that localises itself on the map, walks to a goal, and replans when the world disagrees with the map."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from cogmap.errors import BadConfig, NotOnMap
from cogmap.hmm.belief import SURPRISE, belief_model
from cogmap.planning.localise import MIN_CERTAINTY, has_chance
from cogmap.planning.policies import Policy, find_policy
from cogmap.planning.shortest_paths import (
    Goal,
    ShortestPathTree,
    avoided_observations,
    check_node,
    goal_nodes,
    next_node_table,
    observation_index,
    plan_along,
    transition_graph,
)
from cogmap.records import CognitiveMap, Floats, Integers, Plan

# When the agent is elsewhere than expected, one of its last few edges was wrong. Nothing says which one, so the penalty
# makes each of them longer. The wrong edge is penalised again and again, and paths then go around it.
_RECENT_EDGES = 8
_EDGE_PENALTY = 2.0

# On a map with chance a surprise is an observation less likely than this, and the action before it is thought to take
# longer by the penalty.
_UNLIKELY = 0.01
# An agent acts on what it believes, however little that is: a node that is likelier than others has better actions, and
# walking to the goal tells as much as looking around. It is lost if it has walked this many times as long as it
# expected without ever being sure; then it looks around for as long.
_TOO_LONG = 4.0

# Actions whose expected entropy is this close (in nats) to the lowest count as equally good.
_ENTROPY_TOLERANCE = 0.01


@dataclass(frozen=True, eq=False)
class Journey:
    """The steps of a walk to a goal."""

    reached: bool  # whether the agent believes that it is at the goal
    actions: Integers  # (L,)
    observations: Integers  # (L + 1,) the start included
    nodes: Integers  # (L + 1,) the estimated node
    certainty: Floats  # (L + 1,) its probability
    surprises: int  # times the agent was elsewhere than expected, and replanned

    def __len__(self) -> int:
        return self.actions.shape[0]


class Navigator:
    """Takes one action and observation at a time, and gives the estimated node, its certainty and the next action.

    On a map without chance it follows shortest paths, on one with chance a policy: the action that is best on average
    over the nodes where it may be, until that takes too long.

    sure: the certainty from which the agent walks to its goal; below it, the agent explores to localise itself. On a
        map with chance, the certainty of having arrived.
    slip, noise: how often the world may differ from the map before it was tried, see `belief_model`.
    trust: the probability that a node suggested from outside, for instance by a model's codes, is right.
    """

    def __init__(
        self,
        cognitive_map: CognitiveMap,
        rng: np.random.Generator | None = None,
        sure: float = MIN_CERTAINTY,
        slip: float = SURPRISE,
        noise: float = SURPRISE,
        trust: float = 0.9,
    ) -> None:
        for name, value in (("sure", sure), ("trust", trust)):
            if not 0 < value < 1:
                raise BadConfig(f"`{name}` must be between 0 and 1, both excluded, got {value}")
        self.map = cognitive_map
        self.sure = sure
        self.trust = trust
        self._rng = np.random.default_rng(0) if rng is None else rng
        self._model = belief_model(cognitive_map, slip, noise)
        self._graph = transition_graph(cognitive_map)
        self._next_node = next_node_table(cognitive_map)  # (V, A), -1 where unknown
        self._trees: dict[tuple[tuple[int, ...], frozenset[int]], ShortestPathTree] = {}
        self._penalty = np.zeros(len(self._graph.source))  # (E,) extra length of each edge
        self.by_chance = has_chance(cognitive_map)
        self._policies: dict[tuple[tuple[int, ...], frozenset[int]], Policy] = {}
        # (V, A) extra steps of each action.
        self._delay = np.zeros((cognitive_map.num_nodes, cognitive_map.num_actions))
        self.reset()

    def reset(self) -> None:
        """Return to the uniform prior, as after the agent was moved. The penalties of wrong edges are kept."""
        self.belief: Floats = self._model.prior.copy()  # (V,)
        self.surprises = 0
        self.last_observation: int | None = None
        self._expected = -1  # the node by dead reckoning on the map; -1 before the agent was ever sure
        self._recent: deque[tuple[int, int]] = deque(maxlen=_RECENT_EDGES)  # last expected (source, target)
        self._heading: tuple[
            int, ...
        ] = ()  # the goal that the agent walks to, in how many steps, and since how many
        self._patience, self._walked = 0.0, 0

    def observe(self, action: int | None, observation: int | str, suggestion: int | None = None) -> None:
        """Update the belief with an action and the observation after it; the first observation has no action.

        suggestion: the node that another source, such as a model's codes, gives for this step; -1 is ignored.
        """
        count, labels = self.map.num_observations, self.map.observation_labels
        seen = observation_index(observation, count, labels)
        if action is not None:
            self._walked += 1
            self._move_expected(self._check_action(action))
            before, self.belief = self.belief, self._model.after_action(self.belief, action)
            if self.by_chance and self.belief @ self._model.likelihood(seen) < _UNLIKELY:
                self._delay_action(before, action)
        self.belief = self._model.after_seeing(self.belief, seen)
        if suggestion is not None and suggestion >= 0:
            self._take_suggestion(check_node(self.map, suggestion, "suggestion"))
        self.last_observation = seen
        if not self.by_chance:
            self._compare_with_expected()

    def where(self) -> int:
        """The estimated node: the likeliest one."""
        return int(self.belief.argmax())

    @property
    def certainty(self) -> float:
        """The probability of the estimated node."""
        return float(self.belief.max())

    def goal_probability(self, goal: Goal) -> float:
        """The probability of being at the goal."""
        return float(self.belief[list(goal_nodes(self.map, goal))].sum())

    def next_action(self, goal: Goal, avoid: Iterable[int | str] = ()) -> int | None:
        """The next action towards the goal, or None when the agent is sure to be there.

        While the agent is not sure of its node, this is the most informative action. Then it is the first
        step of a shortest path, around `avoid` where that is possible; NoPath if there is no path. On a map with chance
        it is the best action on average, and the most informative one only for an agent that is lost.
        """
        if self.goal_probability(goal) >= self.sure:
            return None
        if not self.by_chance:
            if self.certainty < self.sure:
                return self._most_informative()
            return self._paths_to(goal, avoid).first_action(self.where(), goal)
        policy = self._policy_to(goal, avoid)
        chosen = policy.choose(self.belief)
        return self._most_informative() if chosen < 0 or self._is_lost(policy) else chosen

    def policy(self, goal: Goal, avoid: Iterable[int | str] = ()) -> Policy:
        """The policy that the agent follows on a map with chance."""
        return self._policy_to(goal, avoid)

    def rule_out(self, goal: Goal) -> None:
        """Take it that the agent is not at the goal, as when arriving would have been noticed."""
        belief = self.belief.copy()
        belief[list(goal_nodes(self.map, goal))] = 0
        if belief.any():
            self.belief = belief / belief.sum()

    def plan(self, goal: Goal, avoid: Iterable[int | str] = ()) -> Plan:
        """The path that the agent would take from its estimated node."""
        return plan_along(self.map, self._paths_to(goal, avoid).path(self.where(), goal))

    def walk_to(
        self,
        goal: Goal,
        step: Callable[[int], int | str],
        max_steps: int = 1000,
        avoid: Iterable[int | str] = (),
        suggest: Callable[[], int] | None = None,
    ) -> Journey:
        """Walk until the agent is sure to be at the goal, or for `max_steps`.

        step: takes an action in the world and returns the next observation. Pass the first observation to
            `observe` before.
        suggest: called after each step, the node that another source gives for it.
        """
        if self.last_observation is None:
            raise NotOnMap("the navigator must have observed something before it walks, got no observation")
        avoid = (avoid,) if isinstance(avoid, str) else tuple(avoid)
        actions: list[int] = []
        beliefs = [(self.last_observation, self.where(), self.certainty)]
        surprises = self.surprises
        while len(actions) < max_steps and (action := self.next_action(goal, avoid)) is not None:
            self.observe(action, step(action), None if suggest is None else suggest())
            actions.append(action)
            beliefs.append((self.last_observation, self.where(), self.certainty))
        observations, nodes, certainty = (np.array(column) for column in zip(*beliefs, strict=True))
        reached = self.goal_probability(goal) >= self.sure
        taken = np.array(actions, dtype=np.int32)
        return Journey(reached, taken, observations, nodes, certainty, self.surprises - surprises)

    def _most_informative(self) -> int:
        """The action with the lowest expected conditional entropy of the node given the next observation.

        In expectation that is H(node) - H(observation) of the belief after the action. Only actions that the
        map knows at the likely nodes are tried. Ties are broken at random, so that an agent whom no single
        action helps walks on.
        """
        moved = self._model.after_each_action(self.belief)  # (A, V)
        shown = self._model.shows(moved)  # (A, O)
        entropy = _entropy(moved) - _entropy(shown)  # (A,)
        known = self._model.known @ self.belief  # (A,)
        entropy[known < known.max() / 2] = np.inf
        return int(self._rng.choice(np.flatnonzero(entropy <= entropy.min() + _ENTROPY_TOLERANCE)))

    def _is_lost(self, policy: Policy) -> bool:
        """Whether the agent walks too long already since it was sure of its node, or since it got its goal."""
        found = self.certainty >= self.sure or policy.goals != self._heading
        if found or self._walked > 2 * self._patience:
            self._heading, self._walked = policy.goals, 0
            self._patience = _TOO_LONG * policy.expected_cost(self.belief)
        return self._walked > self._patience

    def _take_suggestion(self, node: int) -> None:
        likelihood = np.full(len(self.belief), (1 - self.trust) / len(self.belief))
        likelihood[node] += self.trust
        self.belief = self.belief * likelihood
        self.belief /= self.belief.sum()

    def _move_expected(self, action: int) -> None:
        """Move the expected node along the map, and remember the edge if the agent was at its source."""
        if self._expected < 0:
            return
        target = int(self._next_node[self._expected, action])
        if target not in (-1, self._expected) and self.where() == self._expected:
            self._recent.append((self._expected, target))
        if target < 0 and self.certainty >= self.sure:
            self._recent.clear()  # it took an action that the map does not know: no edge was wrong
        self._expected = target

    def _compare_with_expected(self) -> None:
        """Once the agent is sure of its node: penalise the recent edges if it is not the expected one."""
        if self.certainty < self.sure or self.where() == self._expected:
            return
        if self._expected >= 0 or self._recent:
            self.surprises += 1
            self._penalise_recent_edges()
        self._recent.clear()
        self._expected = self.where()

    def _penalise_recent_edges(self) -> None:
        for source, target in set(self._recent):
            self._penalty[self._graph.edges_between(source, target)] += _EDGE_PENALTY
        self._trees.clear()

    def _delay_action(self, before: Floats, action: int) -> None:
        """A surprise: one of the likely moves is not as on the map."""
        self.surprises += 1
        self._delay[:, action] += _EDGE_PENALTY * before
        self._policies.clear()

    def _policy_to(self, goal: Goal, avoid: Iterable[int | str]) -> Policy:
        goals, forbidden = goal_nodes(self.map, goal), avoided_observations(self.map, avoid)
        if (goals, forbidden) not in self._policies:
            found = find_policy(self.map, goals, forbidden, penalty=self._delay)
            if forbidden and found.action[self.where()] < 0:  # around it there is no way
                found = find_policy(self.map, goals, penalty=self._delay)
            self._policies[goals, forbidden] = found
        return self._policies[goals, forbidden]

    def _paths_to(self, goal: Goal, avoid: Iterable[int | str]) -> ShortestPathTree:
        goals, forbidden = goal_nodes(self.map, goal), avoided_observations(self.map, avoid)
        if (goals, forbidden) not in self._trees:
            self._trees[goals, forbidden] = ShortestPathTree(self._graph, goals, forbidden, self._penalty)
        return self._trees[goals, forbidden]

    def _check_action(self, action: int) -> int:
        if not 0 <= action < self.map.num_actions:
            raise NotOnMap(f"`action` must be in [0, {self.map.num_actions}), got {action}")
        return action


def _entropy(probabilities: Floats) -> Floats:
    """(A,) the entropy of each row, in nats; the rows sum to one."""
    safe = np.maximum(probabilities, 1e-300)
    entropy: Floats = -(probabilities * np.log(safe)).sum(axis=1)
    return entropy
