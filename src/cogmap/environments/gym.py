"""Every world as a `gymnasium.Env`."""

from __future__ import annotations

from typing import Any

import numpy as np

from cogmap.errors import BadWorld, MissingExtra
from cogmap.records import TableWorld

try:
    import gymnasium
except ImportError as error:
    raise MissingExtra('Gymnasium must be installed for this: pip install "cogmap[gym]"') from error


class WorldEnv(gymnasium.Env[np.int64, np.int64]):
    """A world to walk in: the agent sees an observation, never its position.

    goal: the position at which an episode ends with reward 1; without one there is no reward and no end.
    max_steps: actions after which an episode is cut off; None is never.

    An illegal action stays in place; `info["action_mask"]` tells which are legal, as `Discrete.sample` takes.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 the class attribute is Gymnasium's own contract

    def __init__(self, world: TableWorld, goal: int | None = None, max_steps: int | None = None) -> None:
        if goal is not None and not 0 <= goal < world.num_positions:
            raise BadWorld(f"`goal` must be a position in [0, {world.num_positions}), got {goal}")
        if max_steps is not None and max_steps < 1:
            raise BadWorld(f"`max_steps` must be at least 1, got {max_steps}")
        self.world = world
        self.goal = goal
        self.max_steps = max_steps
        self.observation_space = gymnasium.spaces.Discrete(world.num_observations)
        self.action_space = gymnasium.spaces.Discrete(world.num_actions)
        self.position = 0  # the truth, for whoever evaluates
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Start at a random position, or at `options["position"]`."""
        super().reset(seed=seed)
        start = (options or {}).get("position")
        if start is not None and not 0 <= start < self.world.num_positions:
            raise BadWorld(f"`position` must be in [0, {self.world.num_positions}), got {start}")
        self.position = int(self.np_random.integers(self.world.num_positions) if start is None else start)
        self._steps = 0
        return self._see()

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise BadWorld(f"`action` must be an integer in [0, {self.world.num_actions}), got {action!r}")
        if self.world.legal_actions()[self.position, action]:
            self.position = int(self.world.next_position[self.position, action])
        self._steps += 1
        arrived = self.position == self.goal
        seen, info = self._see()
        return seen, float(arrived), arrived, self._steps == self.max_steps, info

    def _see(self) -> tuple[np.int64, dict[str, Any]]:
        mask = self.world.legal_actions()[self.position].astype(np.int8)  # (A,)
        return np.int64(self.world.observation[self.position]), {"action_mask": mask}
