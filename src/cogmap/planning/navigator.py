"""An agent that finds out where it is on the map, walks to a goal, and copes when the world disagrees."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from cogmap.errors import BadConfig, NotOnMap
from cogmap.planning.localise import belief_model
from cogmap.planning.shortest_paths import (
    Goal,
    Ways,
    avoided_observations,
    check_node,
    goal_nodes,
    observation_index,
    plan_along,
    roads_of,
)
from cogmap.records import CognitiveMap, Floats, Integers, Plan

# When the agent finds itself elsewhere than it reckoned, a road among the last few was wrong. It cannot
# tell which, so each becomes this much longer; the wrong one is blamed again and again and then avoided.
_SUSPECTS = 8
_BLAME = 2.0

# Actions whose expected uncertainty is this close (in nats) to the lowest are as good.
_AS_INFORMATIVE = 0.01


@dataclass(frozen=True, eq=False)
class Journey:
    """What happened on the way to a goal."""

    reached: bool  # the agent believes that it is there
    actions: Integers  # (L,)
    observations: Integers  # (L + 1,) what was seen, the start included
    nodes: Integers  # (L + 1,) where the agent believed to be
    certainty: Floats  # (L + 1,) how sure it was of that
    surprises: int  # times the agent found itself elsewhere than planned, and planned anew

    def __len__(self) -> int:
        return self.actions.shape[0]


class Navigator:
    """Fed one action and observation at a time, it knows where it is, how sure it is, and what to do next.

    sure: the certainty from which the agent trusts its place: below it looks around, above it walks.
    slip, noise: how often the world may stray from the map, see `belief_model`.
    trust: how often a place suggested from outside, by the codes of a model say, is right.
    """

    def __init__(
        self,
        cognitive_map: CognitiveMap,
        rng: np.random.Generator | None = None,
        sure: float = 0.9,
        slip: float = 0.01,
        noise: float = 0.01,
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
        self._roads = roads_of(cognitive_map)
        self._shows = np.eye(cognitive_map.num_observations)[cognitive_map.node_observation]  # (V, O)
        self._next_node = likeliest_targets(cognitive_map)  # (V, A), -1 where unknown
        self._ways: dict[tuple[tuple[int, ...], frozenset[int]], Ways] = {}
        self._blame = np.zeros(len(self._roads.source))  # (R,) extra length of each road
        self.forget()

    def forget(self) -> None:
        """Be anywhere again, as after being picked up; what was learnt about wrong roads is kept."""
        self.belief: Floats = self._model.ignorance()  # (V,)
        self.surprises = 0
        self.last_observation: int | None = None
        self._reckoned = -1  # the node where the agent should be by the map; -1 before it was ever sure
        self._trail: deque[tuple[int, int]] = deque(maxlen=_SUSPECTS)  # last reckoned (source, target)

    def observe(self, action: int | None, observation: int | str, suggestion: int | None = None) -> None:
        """Take in an action and what was seen after it; no action for the first observation.

        suggestion: the node that something else, such as a model's codes, takes this to be; -1 is ignored.
        """
        count, labels = self.map.num_observations, self.map.observation_labels
        seen = observation_index(observation, count, labels)
        if action is not None:
            self._reckon(self._check_action(action))
            self.belief = self._model.after_action(self.belief, action)
        self.belief = self._model.after_seeing(self.belief, seen)
        if suggestion is not None and suggestion >= 0:
            self._heed(check_node(self.map, suggestion, "suggestion"))
        self.last_observation = seen
        self._compare_with_reckoning()

    def where(self) -> int:
        """The likeliest node."""
        return int(self.belief.argmax())

    @property
    def certainty(self) -> float:
        """The probability of that node."""
        return float(self.belief.max())

    def arrival(self, goal: Goal) -> float:
        """The probability of being at the goal."""
        return float(self.belief[list(goal_nodes(self.map, goal))].sum())

    def next_action(self, goal: Goal, avoid: Iterable[int | str] = ()) -> int | None:
        """What to do to get to the goal, or None when the agent is there and sure of it.

        While it is not sure where it is, the action from which it expects to learn most. Then the first
        step of a shortest path, around `avoid` where that is possible; NoPath if there is no path.
        """
        if self.arrival(goal) >= self.sure:
            return None
        if self.certainty < self.sure:
            return self._most_informative()
        return self._way_to(goal, avoid).first_action(self.where(), goal)

    def plan(self, goal: Goal, avoid: Iterable[int | str] = ()) -> Plan:
        """The path that the agent would take from where it believes to be."""
        return plan_along(self.map, self._way_to(goal, avoid).path(self.where(), goal))

    def walk_to(
        self,
        goal: Goal,
        step: Callable[[int], int | str],
        max_steps: int = 1000,
        avoid: Iterable[int | str] = (),
        suggest: Callable[[], int] | None = None,
    ) -> Journey:
        """Walk until the agent is sure to be at the goal, or for `max_steps`.

        step: does an action in the world and gives what is seen then. The first observation must have
            been given to `observe` already.
        suggest: called after each step, the node that something else takes this to be.
        """
        if self.last_observation is None:
            raise NotOnMap("the navigator must have observed something before it walks, got nothing yet")
        avoid = (avoid,) if isinstance(avoid, str) else tuple(avoid)
        actions: list[int] = []
        beliefs = [(self.last_observation, self.where(), self.certainty)]
        surprises = self.surprises
        while len(actions) < max_steps and (action := self.next_action(goal, avoid)) is not None:
            self.observe(action, step(action), None if suggest is None else suggest())
            actions.append(action)
            beliefs.append((self.last_observation, self.where(), self.certainty))
        observations, nodes, certainty = (np.array(column) for column in zip(*beliefs, strict=True))
        reached = self.arrival(goal) >= self.sure
        took = np.array(actions, dtype=np.int32)
        return Journey(reached, took, observations, nodes, certainty, self.surprises - surprises)

    def _most_informative(self) -> int:
        """The action after which the agent expects to know best where it is.

        The expected entropy after moving and seeing is H(node) - H(observation) of the moved belief. Only
        actions that the map knows at the likely nodes are tried. Equals are drawn from, so that an agent
        whom no single step can help goes for a walk.
        """
        moved = self._model.after_each_action(self.belief)  # (A, V)
        shown = moved @ self._shows  # (A, O)
        uncertainty = _entropy(moved) - _entropy(shown)  # (A,)
        known = self._model.known @ self.belief  # (A,)
        uncertainty[known < known.max() / 2] = np.inf
        return int(self._rng.choice(np.flatnonzero(uncertainty <= uncertainty.min() + _AS_INFORMATIVE)))

    def _heed(self, node: int) -> None:
        support = np.full_like(self.belief, (1 - self.trust) / len(self.belief))
        support[node] += self.trust
        self.belief = self.belief * support
        self.belief /= self.belief.sum()

    def _reckon(self, action: int) -> None:
        """Move the reckoned node by the map, remembering the road while the agent believes in it."""
        if self._reckoned < 0:
            return
        target = int(self._next_node[self._reckoned, action])
        if target not in (-1, self._reckoned) and self.where() == self._reckoned:
            self._trail.append((self._reckoned, target))
        if target < 0 and self.certainty >= self.sure:
            self._trail.clear()  # it left the map with open eyes: no road is to blame
        self._reckoned = target

    def _compare_with_reckoning(self) -> None:
        """Once sure of a place: was it to be expected? If not, blame the roads that led astray."""
        if self.certainty < self.sure or self.where() == self._reckoned:
            return
        if self._reckoned >= 0 or self._trail:
            self.surprises += 1
            self._blame_trail()
        self._trail.clear()
        self._reckoned = self.where()

    def _blame_trail(self) -> None:
        for source, target in set(self._trail):
            self._blame[self._roads.between(source, target)] += _BLAME
        self._ways.clear()

    def _way_to(self, goal: Goal, avoid: Iterable[int | str]) -> Ways:
        goals, forbidden = goal_nodes(self.map, goal), avoided_observations(self.map, avoid)
        if (goals, forbidden) not in self._ways:
            self._ways[goals, forbidden] = Ways(self._roads, goals, forbidden, self._blame)
        return self._ways[goals, forbidden]

    def _check_action(self, action: int) -> int:
        if not 0 <= action < self.map.num_actions:
            raise NotOnMap(f"`action` must be in [0, {self.map.num_actions}), got {action}")
        return action


def likeliest_targets(cognitive_map: CognitiveMap) -> Integers:
    """(V, A) where each action leads from each node by its best supported edge, -1 where unknown."""
    targets = np.full((cognitive_map.num_nodes, cognitive_map.num_actions), -1, dtype=np.int32)
    rising = np.argsort(cognitive_map.edge_support, kind="stable")
    source, action = cognitive_map.edge_source[rising], cognitive_map.edge_action[rising]
    targets[source, action] = cognitive_map.edge_target[rising]
    return targets


def _entropy(probabilities: Floats) -> Floats:
    """(A,) in nats, of each row; the rows sum to one."""
    safe = np.maximum(probabilities, 1e-300)
    entropy: Floats = -(probabilities * np.log(safe)).sum(axis=1)
    return entropy
