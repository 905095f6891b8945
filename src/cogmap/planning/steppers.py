"""Worlds for the navigator to walk in: functions from an action to the next observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.chance import look, take_step
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import BadWorld
from cogmap.records import TableWorld
from cogmap.walks.quantize import ViewQuantizer

Stepper = Callable[[int], int]


class TableStepper:
    """Walks in a table world. `position` is for the evaluation, the agent never reads it.

    rng: decides moves and observations in a world with chance.
    """

    def __init__(self, world: TableWorld, position: int, rng: np.random.Generator | None = None) -> None:
        if not 0 <= position < world.num_positions:
            raise BadWorld(f"`position` must be in [0, {world.num_positions}), got {position}")
        self.world = world
        self.position = position
        self._rng = np.random.default_rng(0) if rng is None else rng
        self._seen: int | None = None

    @property
    def observation(self) -> int:
        """The observation at the current position, the same until the next step."""
        if self._seen is None:
            self._seen = look(self.world, self.position, self._rng)
        return self._seen

    def __call__(self, action: int) -> int:
        self.position = take_step(self.world, self.position, action, self._rng)
        self._seen = None
        return self.observation


class PixelStepper(TableStepper):
    """Walks in a 3D room. Each view is rendered at the agent's pose and quantized to an observation."""

    def __init__(
        self,
        room: EgocentricRoom,
        view: Callable[[float, float, float], NDArray[np.uint8]],
        quantizer: ViewQuantizer,
        position: int,
    ) -> None:
        super().__init__(room, position)
        self._places = room.places()  # (P, 3)
        self._view, self._quantizer = view, quantizer

    @property
    def image(self) -> NDArray[np.uint8]:
        """(H, W, 3) the view at the current position."""
        return self._view(*self._places[self.position].tolist())

    @property
    def observation(self) -> int:
        return int(self._quantizer(self.image[None])[0])


class GymStepper:
    """Walks in a Gymnasium environment.

    index_of: maps an observation of the environment to its index or label on the map.
    action_of: maps an action of the map to an action of the environment, where the two differ.
    """

    def __init__(
        self,
        environment: Any,
        index_of: Callable[[Any], int | str] = int,
        action_of: Callable[[int], Any] = int,
        seed: int | None = None,
    ) -> None:
        self.environment = environment
        self._index_of = index_of
        self._action_of = action_of
        first, _ = environment.reset(seed=seed)
        self.observation = index_of(first)
        self.over = False

    def __call__(self, action: int) -> int | str:
        seen, _, terminated, truncated, _ = self.environment.step(self._action_of(action))
        self.over = bool(terminated or truncated)
        self.observation = self._index_of(seen)
        return self.observation
