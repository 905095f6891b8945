"""Walks as the agent, step by step: a bounded number of sessions, each kept until it is not asked for in a while."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cogmap.app import schema
from cogmap.app.replay import estimate, estimated_node
from cogmap.app.security import Deadline, Limits, Refusal
from cogmap.app.shown_map import ShownMap
from cogmap.errors import NotOnMap
from cogmap.records import Booleans, Floats, Integers, TableWorld

_DIGITS = 6

Trail = deque[tuple[int, int, int, float, int]]  # action, observation, node, certainty, position of each step


@dataclass(frozen=True, eq=False)
class Ground:
    """What an agent walks on: the true world, or the map itself where the truth is not known."""

    kind: schema.Ground
    next_place: Integers  # (P, A)
    observation: Integers  # (P,)
    legal: Booleans  # (P, A)


def true_ground(world: TableWorld) -> Ground:
    return Ground("true", world.next_position, world.observation, world.legal_actions())


def map_ground(shown: ShownMap) -> Ground:
    """From node to node by the best supported edges; an action without an edge is not legal."""
    return Ground("map", shown.next_node, shown.map.node_observation, shown.next_node >= 0)


@dataclass(eq=False)
class Session:
    """One agent in progress. Its belief is given what it sees and does, never where it is."""

    id: str
    shown: ShownMap
    ground: Ground
    origin: int
    position: int
    belief: Floats  # (V,)
    trail: Trail
    steps: int = 0
    surprise: float = 0.0
    used: float = 0.0  # when it was last asked for

    def begin(self) -> None:
        """The first observation, before any action."""
        self.belief = self.shown.belief.after_seeing(self.belief, self.observation)
        self._note(-1)

    def step(self, action: int) -> None:
        """Take an action and the observation after it; nothing is changed if the action is not legal here."""
        if not self.ground.legal[self.position, action]:
            possible = ", ".join(map(str, self.legal())) or "nothing"
            raise Refusal(422, f"`action` must be possible here, {possible} is, got {action}")
        position = int(self.ground.next_place[self.position, action])
        seen = int(self.ground.observation[position])
        model = self.shown.belief
        expected = model.after_action(self.belief, action)
        likelihood = float(expected @ model.likelihood(seen))
        self.belief = model.after_seeing(expected, seen)
        self.position, self.steps, self.surprise = position, self.steps + 1, -float(np.log(likelihood))
        self._note(action)

    @property
    def observation(self) -> int:
        return int(self.ground.observation[self.position])

    def legal(self) -> list[int]:
        actions: list[int] = np.flatnonzero(self.ground.legal[self.position]).tolist()
        return actions

    def _note(self, action: int) -> None:
        node, certainty = estimated_node(self.belief)
        self.trail.append((action, self.observation, node, certainty, self.position))

    def state(self) -> schema.WalkState:
        return {
            "id": self.id,
            "map": self.shown.kind,
            "revision": self.shown.revision,
            "world": self.ground.kind,
            "origin": self.origin,
            "position": self.position,
            "step": self.steps,
            "observation": self.observation,
            "legal": self.legal(),
            **estimate(self.belief),
        }

    def walk_answer(self) -> schema.Walk:
        actions, observations, nodes, certainty, positions = (
            list(column) for column in zip(*self.trail, strict=True)
        )
        history: schema.History = {
            "observations": observations,
            "actions": actions[1:],
            "nodes": nodes,
            "certainty": certainty,
            "positions": positions,
        }
        return {**self.state(), "history": history}

    def step_answer(self) -> schema.Step:
        return {**self.state(), "surprise": round(self.surprise, _DIGITS)}


class Sessions:
    """All agents in progress, from any thread. The least recently used one makes room for a new one."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._kept: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, session: Session) -> Session:
        """Keep a new session; the least recently used one is dropped if there are too many."""
        with self._lock:
            self._drop_old()
            while len(self._kept) >= self._limits.sessions:
                self._kept.popitem(last=False)
            session.used = self._clock()
            self._kept[session.id] = session
        return session

    def find(self, id: str) -> Session:
        """The session of this name, which is then the most recently used one."""
        with self._lock:
            self._drop_old()
            session = self._kept.get(id)
            if session is None:
                rule = "the walk must be one that was begun and is still kept"
                raise Refusal(404, f"{rule}, got {id[:40]!r}")
            session.used = self._clock()
            self._kept.move_to_end(id)
        return session

    def step(self, id: str, asked: schema.StepRequest) -> Session:
        session = self.find(id)
        if asked.step is not None and asked.step != session.steps:
            raise Refusal(409, f"`step` must be where the walk is, at {session.steps}, got {asked.step}")
        session.step(session.shown.action_of(asked.action))
        return session

    def end(self, id: str) -> None:
        self.find(id)
        self._kept.pop(id, None)

    def _drop_old(self) -> None:
        """Those at the front are the least recently used, so the first young one ends the search."""
        oldest = self._clock() - self._limits.session_seconds
        while self._kept and next(iter(self._kept.values())).used < oldest:
            self._kept.popitem(last=False)


def new_session(
    shown: ShownMap, world: TableWorld | None, asked: schema.WalkRequest, kept_steps: int, until: Deadline
) -> Session:
    """An agent at a given place or at one that is drawn; its `actions` are taken at once."""
    shown.check_not_empty()
    ground = map_ground(shown) if world is None else true_ground(world)
    origin = _origin(ground, asked)
    trail: Trail = deque(maxlen=kept_steps)
    name = secrets.token_urlsafe(12)
    session = Session(name, shown, ground, origin, origin, shown.belief.prior, trail)
    session.begin()
    for action in [shown.action_of(action) for action in asked.actions]:
        until.check()
        session.step(action)
    return session


def _origin(ground: Ground, asked: schema.WalkRequest) -> int:
    places = len(ground.observation)
    if asked.position is None:
        return int(np.random.default_rng(asked.seed).integers(places))
    if asked.position >= places:
        what = "a position of the true world" if ground.kind == "true" else "a node of the map"
        raise NotOnMap(f"`position` must be {what}, 0 to {places - 1}, got {asked.position}")
    return asked.position
