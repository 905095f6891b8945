"""Every world as a `gymnasium.Env`. Importing this module registers the worlds of `WORLDS` by name:

import gymnasium
import cogmap.environments.gym

env = gymnasium.make("cogmap/AliasedRoom-v0", height=6, width=8, goal=40, max_steps=200, render_mode="ansi")
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.chance import look, reward_of, take_step
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import BadWorld, MissingExtra
from cogmap.records import Integers, TableWorld, label_of

try:
    import gymnasium
except ImportError as error:
    raise MissingExtra('Gymnasium must be installed for this: pip install "cogmap[gym]"') from error

# The function that makes each registered world. To add one: `register_world("LearnedMap", "module:make")`.
WORLDS = {
    "AliasedRoom": "cogmap.environments.room:AliasedRoom",
    "AliasedCube": "cogmap.environments.cube:AliasedCube",
    "Torus": "cogmap.environments.table:torus",
    "Maze": "cogmap.environments.table:maze_from_text",
    "Streets": "cogmap.environments.streets:street_network",
    "EgocentricRoom": "cogmap.environments.egocentric.room:EgocentricRoom",
}
RENDER_MODES = ("rgb_array", "ansi")
CELL = 16  # pixels along the side of a position in a picture

Picture = NDArray[np.uint8]  # (H, W, 3)


class WorldEnv(gymnasium.Env[Any, np.int64]):
    """A world as an environment: the agent sees an observation, never its position.

    goal: the position at which an episode ends with reward 1; None is the world's own rewards, if any, and no end.
    max_steps: actions after which an episode is truncated; None is never.
    render_mode: "rgb_array" or "ansi", the world from above with the agent in it. It reveals the position, so it is
        for people, not for agents.
    views: in a 3D room, observe images (64, 64, 3) instead of their indices; "rgb_array" then shows them too.

    An illegal action stays in place. `info["action_mask"]` is the mask of legal actions for `Discrete.sample`.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 8}  # noqa: RUF012 Gymnasium's own contract

    def __init__(
        self,
        world: TableWorld,
        goal: int | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
        views: bool = False,
    ) -> None:
        if goal is not None and not 0 <= goal < world.num_positions:
            raise BadWorld(f"`goal` must be a position in [0, {world.num_positions}), got {goal}")
        if max_steps is not None and max_steps < 1:
            raise BadWorld(f"`max_steps` must be at least 1, got {max_steps}")
        if render_mode not in (None, *RENDER_MODES):
            raise BadWorld(f"`render_mode` must be None or one of {RENDER_MODES}, got {render_mode!r}")
        if views and not isinstance(world, EgocentricRoom):
            raise BadWorld(f"`views` must be False in a world without views, got {world.name!r}")
        self.world = world
        self.goal = goal
        self.max_steps = max_steps
        self.render_mode = render_mode
        self._views = world.views if views and isinstance(world, EgocentricRoom) else None  # (P, H, W, 3)
        self.observation_space: gymnasium.Space[Any] = (
            gymnasium.spaces.Discrete(world.num_observations)
            if self._views is None
            else gymnasium.spaces.Box(0, 255, self._views.shape[1:], np.uint8)
        )
        self.action_space = gymnasium.spaces.Discrete(world.num_actions)
        self.position = 0  # the truth, for evaluation
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start at one of the world's first positions, or at `options["position"]`."""
        super().reset(seed=seed)
        start = (options or {}).get("position")
        if start is not None and not 0 <= start < self.world.num_positions:
            raise BadWorld(f"`position` must be in [0, {self.world.num_positions}), got {start}")
        if start is None:
            chances = self.world.start_probability
            start = (
                self.np_random.integers(self.world.num_positions)
                if chances is None
                else self.np_random.choice(self.world.num_positions, p=chances / chances.sum())
            )
        self.position = int(start)
        self._steps = 0
        return self._see()

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise BadWorld(f"`action` must be an integer in [0, {self.world.num_actions}), got {action!r}")
        reward = 0.0
        if self.world.legal_actions()[self.position, action]:
            before = self.position
            self.position = take_step(self.world, before, int(action), self.np_random)
            if self.goal is None:
                reward = reward_of(self.world, before, int(action), self.position)
        self._steps += 1
        arrived = self.position == self.goal
        seen, info = self._see()
        return seen, float(arrived) or reward, arrived, self._steps == self.max_steps, info

    def render(self) -> Any:
        """A picture (H, W, 3) of bytes, or a text with one line per row of the world; None without a render mode."""
        match self.render_mode:
            case "rgb_array" if self._views is not None:
                return self._views[self.position].copy()
            case "rgb_array":
                return picture_from_above(self.world, self.position)
            case "ansi":
                return text_from_above(self.world, self.position)
        return None

    def _see(self) -> tuple[Any, dict[str, Any]]:
        mask = self.world.legal_actions()[self.position].astype(np.int8)  # (A,)
        if self._views is not None:
            return self._views[self.position].copy(), {"action_mask": mask}
        return np.int64(look(self.world, self.position, self.np_random)), {"action_mask": mask}


class RegisteredEnv(WorldEnv):
    """The class behind `gymnasium.make`. make: the function that returns the world. settings: its arguments."""

    def __init__(
        self,
        make: str,
        goal: int | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
        views: bool = False,
        **settings: Any,
    ) -> None:
        module, _, function = make.partition(":")
        world = getattr(import_module(module), function)(**settings)
        super().__init__(world, goal, max_steps, render_mode, views)


def register_world(name: str, make: str, **settings: Any) -> None:
    """Register `cogmap/NAME-v0` for `gymnasium.make`. make: "module:function" that returns the world."""
    if f"cogmap/{name}-v0" not in gymnasium.registry:
        gymnasium.register(
            f"cogmap/{name}-v0",
            entry_point="cogmap.environments.gym:RegisteredEnv",
            kwargs={"make": make, **settings},
        )


for _name, _make in WORLDS.items():
    register_world(_name, _make, **({"views": True} if _name == "EgocentricRoom" else {}))


def make_environment(env_id: str, settings: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Any registered Gymnasium environment. Raises `BadWorld` with a one-line reason if it cannot be made."""
    try:
        return gymnasium.make(_found(env_id), **settings)
    except (gymnasium.error.Error, ImportError, TypeError, ValueError) as problem:
        raise BadWorld(f"cannot make the environment {env_id!r}: {problem}") from problem


# Packages whose environments are found without the name of the module that registers them.
_PACKAGES = ("minigrid", "popgym", "ale_py", "miniworld", "babyai_text", "gym_minigrid")


def _found(env_id: str) -> str:
    """The name with the module that registers it, for packages that are installed; close names in an error."""
    if ":" in env_id or env_id in gymnasium.registry:
        return env_id
    for package in _PACKAGES:
        if find_spec(package) is not None:
            import_module(package)
            if env_id in gymnasium.registry:
                return env_id
    whole = [name for name in gymnasium.registry if name.endswith((f"-{env_id}", f"/{env_id}"))]
    if len(whole) == 1:
        return whole[0]
    near = get_close_matches(env_id, list(gymnasium.registry), n=1)
    if near and not env_id.rsplit("-v", 1)[-1].isdecimal() and near[0].startswith(env_id):
        return near[0]
    if near:
        raise BadWorld(f"there is no environment {env_id!r}: did you mean {near[0]!r}?")
    return env_id


def picture_from_above(world: TableWorld, position: int) -> Picture:
    """(H, W, 3): one square per position in the colour of its observation, with a dot at the agent's."""
    row, column = _cells(world)
    hues = [colorsys.hls_to_rgb(0.618 * seen % 1, 0.65, 0.6) for seen in range(world.num_observations)]
    cells = np.zeros((row.max() + 1, column.max() + 1, 3), dtype=np.uint8)
    cells[row, column] = (255 * np.array(hues)).astype(np.uint8)[world.observation]
    picture = cells.repeat(CELL, axis=0).repeat(CELL, axis=1)
    top, left = CELL * row[position] + CELL // 4, CELL * column[position] + CELL // 4
    picture[top : top + CELL // 2, left : left + CELL // 2] = 0
    return picture


def text_from_above(world: TableWorld, position: int) -> str:
    """The observation at each position, one line per row, with the agent's position in brackets."""
    row, column = _cells(world)
    seen = [str(label_of(world.observation_labels, index)) for index in world.observation.tolist()]
    width = max(map(len, seen))
    cells = np.full((row.max() + 1, column.max() + 1), " " * (width + 2), dtype=object)
    cells[row, column] = [f" {label:>{width}} " for label in seen]
    cells[row[position], column[position]] = f"[{seen[position]:>{width}}]"
    return "\n".join("".join(line).rstrip() for line in cells)


def _cells(world: TableWorld) -> tuple[Integers, Integers]:
    """(P,) and (P,): row and column of each position; all in one row if the world has no coordinates."""
    if world.coordinates is None:
        return np.zeros(world.num_positions, dtype=np.int32), np.arange(world.num_positions, dtype=np.int32)
    blocks = np.rint(world.coordinates)  # the corners of a street network lie off the grid, one per block
    places = blocks if len(np.unique(blocks[:, :2], axis=0)) == world.num_positions else world.coordinates
    row, column = (np.unique(places[:, axis], return_inverse=True)[1] for axis in (0, 1))
    return row.reshape(-1).astype(np.int32), column.reshape(-1).astype(np.int32)
