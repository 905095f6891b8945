"""Walks as the agent, step by step: a bounded number of them, each kept until nobody asked for it in a while."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cogmap.app.asking import action_of, belief_answer, placed
from cogmap.app.limits import Limits
from cogmap.app.opened_map import OpenedMap
from cogmap.app.refusals import Refusal
from cogmap.errors import NotOnMap
from cogmap.records import Booleans, Floats, Integers, TableWorld

_DIGITS = 6

Trail = deque[tuple[int, int, int, float, int]]  # action, observation, node, certainty, position of each step


@dataclass(frozen=True, eq=False)
class Ground:
    """What an agent walks on: the true world, or the map itself where nobody knows the truth."""

    kind: str  # "true" or "map"
    next_place: Integers  # (P, A)
    observation: Integers  # (P,)
    legal: Booleans  # (P, A)


def true_ground(world: TableWorld) -> Ground:
    return Ground("true", world.next_position, world.observation, world.legal_actions())


def map_ground(opened: OpenedMap) -> Ground:
    """From node to node by the best supported edges; what no edge tells cannot be done."""
    return Ground("map", opened.next_node, opened.map.node_observation, opened.next_node >= 0)


@dataclass(eq=False)
class Journey:
    """One agent under way. Its belief is fed what it sees and does, never where it is."""

    id: str
    opened: OpenedMap
    ground: Ground
    origin: int
    position: int
    belief: Floats  # (V,)
    trail: Trail
    steps: int = 0
    surprise: float = 0.0
    used: float = 0.0  # when it was last asked for

    def step(self, action: int) -> None:
        """Do an action and take in what is seen then; nothing is changed if it cannot be done here."""
        if not self.ground.legal[self.position, action]:
            possible = ", ".join(map(str, self.legal())) or "nothing"
            raise Refusal(422, f"`action` must be possible here, {possible} is, got {action}")
        position = int(self.ground.next_place[self.position, action])
        seen = int(self.ground.observation[position])
        model = self.opened.belief
        expected = model.after_action(self.belief, action)
        likelihood = float(expected @ model.likelihood[seen])
        self.belief = model.after_seeing(expected, seen)
        self.position, self.steps, self.surprise = position, self.steps + 1, -float(np.log(likelihood))
        self._note(action)

    def begin(self) -> None:
        """The first observation, before any action."""
        self.belief = self.opened.belief.after_seeing(self.belief, self.observation)
        self._note(-1)

    @property
    def observation(self) -> int:
        return int(self.ground.observation[self.position])

    def legal(self) -> list[int]:
        actions: list[int] = np.flatnonzero(self.ground.legal[self.position]).tolist()
        return actions

    def _note(self, action: int) -> None:
        here = placed(self.belief)
        self.trail.append((action, self.observation, here["node"], here["certainty"], self.position))

    def answer(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "map": self.opened.kind,
            "revision": self.opened.revision,
            "world": self.ground.kind,
            "origin": self.origin,
            "position": self.position,
            "step": self.steps,
            "observation": self.observation,
            "legal": self.legal(),
            **placed(self.belief),
            "belief": belief_answer(self.belief),
        }

    def whole_answer(self) -> dict[str, Any]:
        actions, observations, nodes, certainty, positions = zip(*self.trail, strict=True)
        history = {
            "observations": observations,
            "actions": actions[1:],
            "nodes": nodes,
            "certainty": certainty,
            "positions": positions,
        }
        return {**self.answer(), "history": history}

    def step_answer(self) -> dict[str, Any]:
        return {**self.answer(), "surprise": round(self.surprise, _DIGITS)}


class Journeys:
    """All agents under way. The least recently used makes room for a new one."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._under_way: OrderedDict[str, Journey] = OrderedDict()

    def __len__(self) -> int:
        return len(self._under_way)

    def keep(self, journey: Journey) -> Journey:
        """A new agent, for which the least recently used one goes if need be."""
        self._forget_old()
        while len(self._under_way) >= self._limits.sessions:
            self._under_way.popitem(last=False)
        journey.used = self._clock()
        self._under_way[journey.id] = journey
        return journey

    def find(self, id: str) -> Journey:
        """The agent of this name, which is then the most recently used."""
        self._forget_old()
        journey = self._under_way.get(id)
        if journey is None:
            raise Refusal(404, "the walk must be one that was begun and not left alone for long, it is not")
        journey.used = self._clock()
        self._under_way.move_to_end(id)
        return journey

    def step(self, id: str, asked: Mapping[str, Any]) -> Journey:
        journey = self.find(id)
        expected = asked.get("step", journey.steps)
        if expected != journey.steps:
            raise Refusal(409, f"`step` must be where the walk is, at {journey.steps}, got {expected}")
        journey.step(action_of(journey.opened, asked["action"]))
        return journey

    def end(self, id: str) -> None:
        self.find(id)
        del self._under_way[id]

    def _forget_old(self) -> None:
        """Those at the front are the least recently used, so the first that is young ends the search."""
        oldest = self._clock() - self._limits.session_seconds
        while self._under_way and next(iter(self._under_way.values())).used < oldest:
            self._under_way.popitem(last=False)


def new_journey(
    opened: OpenedMap, world: TableWorld | None, asked: Mapping[str, Any], kept_steps: int
) -> Journey:
    """An agent at a given place or at one that is drawn; `actions` are done at once."""
    if opened.map.num_nodes == 0:
        raise NotOnMap("the map must have a node for this, it has none")
    ground = map_ground(opened) if world is None else true_ground(world)
    origin = _origin(ground, asked)
    trail: Trail = deque(maxlen=kept_steps)
    journey = Journey(
        secrets.token_urlsafe(12), opened, ground, origin, origin, opened.belief.uniform_prior(), trail
    )
    journey.begin()
    for action in [action_of(opened, action) for action in asked.get("actions", ())]:
        journey.step(action)
    return journey


def _origin(ground: Ground, asked: Mapping[str, Any]) -> int:
    places = len(ground.observation)
    position = asked.get("position")
    if position is None:
        return int(np.random.default_rng(asked.get("seed")).integers(places))
    if position >= places:
        what = "a position of the true world" if ground.kind == "true" else "a node of the map"
        raise NotOnMap(f"`position` must be {what}, 0 to {places - 1}, got {position}")
    return int(position)
