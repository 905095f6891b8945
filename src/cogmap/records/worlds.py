"""Worlds as tables, and where an agent really was in one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks, BadWorld
from cogmap.records.fields import (
    SUM_TOLERANCE,
    Booleans,
    Floats,
    Integers,
    Labels,
    check_labels,
    check_range,
    read_only,
    take_integers,
    take_probabilities,
)


@dataclass(frozen=True, eq=False)
class TableWorld:
    """A deterministic world as tables: where each action leads from each position, and what is seen there."""

    next_position: Integers  # (P, A)
    observation: Integers  # (P,) in [0, num_observations)
    num_observations: int
    legal: Booleans | None = None  # (P, A) actions an agent may draw there; None is all of them
    coordinates: Floats | None = None  # (P, 2) or (P, 3) row, column(, heading or face), for pictures only
    observation_labels: Labels | None = None
    action_labels: Labels | None = None
    name: str = "table"
    start_probability: Floats | None = None  # (P,) of the position at which a walk starts; None is uniform

    def __post_init__(self) -> None:
        take_integers(self, "next_position", 2, BadWorld)
        take_integers(self, "observation", 1, BadWorld)
        positions, actions = self.next_position.shape
        if positions == 0 or actions == 0:
            raise BadWorld(f"a world needs a position and an action, got shape {self.next_position.shape}")
        if self.observation.shape != (positions,):
            raise BadWorld(
                f"`observation` must have shape (P,) = {(positions,)}, got {self.observation.shape}"
            )
        check_range("next_position", self.next_position, positions, BadWorld)
        check_range("observation", self.observation, self.num_observations, BadWorld)
        check_labels("observation_labels", self.observation_labels, self.num_observations, BadWorld)
        check_labels("action_labels", self.action_labels, actions, BadWorld)
        if self.legal is not None:
            legal = np.asarray(self.legal, dtype=bool)
            if legal.shape != (positions, actions):
                raise BadWorld(f"`legal` must have shape (P, A) = {(positions, actions)}, got {legal.shape}")
            if not legal.any(axis=1).all():
                stuck = int(np.flatnonzero(~legal.any(axis=1))[0])
                raise BadWorld(f"every position needs a legal action, position {stuck} has none")
            object.__setattr__(self, "legal", read_only(legal.copy()))
        if self.coordinates is not None:
            coordinates = np.asarray(self.coordinates, dtype=np.float64)
            if (
                coordinates.ndim != 2
                or coordinates.shape[0] != positions
                or coordinates.shape[1] not in (2, 3)
            ):
                raise BadWorld(f"`coordinates` must have shape (P, 2) or (P, 3), got {coordinates.shape}")
            object.__setattr__(self, "coordinates", read_only(coordinates.copy()))
        if self.start_probability is not None:
            take_probabilities(self, "start_probability", (positions,))

    @property
    def num_positions(self) -> int:
        return self.next_position.shape[0]

    @property
    def num_actions(self) -> int:
        return self.next_position.shape[1]

    def legal_actions(self) -> Booleans:
        """(P, A): `legal`, or all true where every action may be drawn everywhere."""
        return np.ones(self.next_position.shape, dtype=bool) if self.legal is None else self.legal


@dataclass(frozen=True, eq=False)
class ChanceWorld(TableWorld):
    """A world with chance in its moves and in what is seen.

    `next_position` and `observation` are the likeliest ones, so that whatever takes a `TableWorld` takes this one too.
    A move e leads from `move_source[e]` by `move_action[e]` to `move_target[e]` with `move_probability[e]`; those of
    one position and action sum to one. The record sorts them by source, action and target.
    """

    move_source: Integers = field(kw_only=True)  # (E,)
    move_action: Integers = field(kw_only=True)  # (E,)
    move_target: Integers = field(kw_only=True)  # (E,)
    move_probability: Floats = field(kw_only=True)  # (E,) above 0
    move_reward: Floats | None = field(default=None, kw_only=True)  # (E,) mean reward of the move
    observation_probability: Floats | None = field(default=None, kw_only=True)  # (P, O); None is no chance

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("move_source", "move_action", "move_target"):
            take_integers(self, name, 1, BadWorld)
        check_range("move_source", self.move_source, self.num_positions, BadWorld)
        check_range("move_action", self.move_action, self.num_actions, BadWorld)
        check_range("move_target", self.move_target, self.num_positions, BadWorld)
        self._sort_moves()
        self._check_moves()
        if self.observation_probability is not None:
            shape = (self.num_positions, self.num_observations)
            take_probabilities(self, "observation_probability", shape)
            _check_likeliest("observation", self.observation_probability, self.observation)

    @property
    def move_row(self) -> NDArray[np.int64]:
        """(E,): the number of each move's source and action, source * A + action, in ascending order."""
        return self.move_source.astype(np.int64) * self.num_actions + self.move_action

    def _sort_moves(self) -> None:
        moves = self.move_source.shape
        for name in ("move_action", "move_target", "move_probability", "move_reward"):
            array = getattr(self, name)
            if array is not None and np.shape(array) != moves:
                raise BadWorld(f"`{name}` must have shape (E,) = {moves}, got {np.shape(array)}")
        order = np.lexsort((self.move_target, self.move_action, self.move_source))
        for name in ("move_source", "move_action", "move_target"):
            object.__setattr__(self, name, read_only(getattr(self, name)[order]))
        for name in ("move_probability", "move_reward"):
            if getattr(self, name) is not None:
                array = np.asarray(getattr(self, name), dtype=np.float64)[order]
                if not np.isfinite(array).all():
                    raise BadWorld(f"`{name}` must be finite, got NaN or infinity")
                object.__setattr__(self, name, read_only(array))

    def _check_moves(self) -> None:
        if (self.move_probability <= 0).any():
            raise BadWorld(f"`move_probability` must be above 0, got {self.move_probability.min()}")
        row = self.move_row
        twice = np.flatnonzero((np.diff(row) == 0) & (np.diff(self.move_target) == 0))
        if twice.size:
            move = [
                int(column[twice[0]]) for column in (self.move_source, self.move_action, self.move_target)
            ]
            raise BadWorld(f"a source, action and target must be given once, got {tuple(move)} twice")
        total = np.bincount(row, self.move_probability, minlength=self.next_position.size)
        wrong = int(np.abs(total - 1).argmax())
        if abs(total[wrong] - 1) > SUM_TOLERANCE:
            place = divmod(wrong, self.num_actions)
            rule = "`move_probability` must sum to one for every position and action"
            raise BadWorld(f"{rule}, got {total[wrong]} for position {place[0]} and action {place[1]}")
        likeliest = np.zeros(self.next_position.size)
        np.maximum.at(likeliest, row, self.move_probability)
        given = self.move_target == self.next_position.ravel()[row]  # (E,)
        chance = np.bincount(row[given], self.move_probability[given], minlength=self.next_position.size)
        if (chance < likeliest - SUM_TOLERANCE).any():
            place = divmod(int((likeliest - chance).argmax()), self.num_actions)
            rule = "`next_position` must be a likeliest target"
            raise BadWorld(f"{rule}, it is not for position {place[0]} and action {place[1]}")


@dataclass(frozen=True, eq=False)
class Truth:
    """Where the agent really was. Only `evaluation` and `report` may hold one."""

    positions: Integers  # (B, N) in [0, P); 0 past a walk's length
    world: TableWorld

    def __post_init__(self) -> None:
        take_integers(self, "positions", 2, BadWalks)
        check_range("positions", self.positions, self.world.num_positions, BadWalks)


def _check_likeliest(name: str, probability: Floats, chosen: Integers) -> None:
    """Raise if `chosen` (P,) is not of the highest probability (P, O) in its row."""
    short = probability.max(axis=1) - probability[np.arange(len(chosen)), chosen]
    if (short > SUM_TOLERANCE).any():
        raise BadWorld(f"`{name}` must be a likeliest one, it is not for position {int(short.argmax())}")
