"""Gymnasium both ways: every world as a `gymnasium.Env`, and walks recorded from anybody's environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cogmap.environments.views import padded_walks, view_label, walks_from_views
from cogmap.errors import BadWalks, BadWorld, MissingExtra
from cogmap.records import Labels, TableWorld, Walks

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


def record_walks(
    env: gymnasium.Env[Any, Any],
    walks: int,
    steps: int,
    seed: int = 0,
    actions: Sequence[int] | None = None,
    same_place: bool = True,
    observation_labels: Labels | None = None,
    rng: np.random.Generator | None = None,
) -> Walks:
    """Random walks of at most `steps` observations in any environment with discrete actions.

    Discrete observations stay the numbers they are. Any other view is known by its `view_label`; wrap the
    environment to show less or more of it. An episode that ends early gives a shorter walk. Where `info`
    has an `action_mask`, only legal actions are drawn.

    actions: the environment's actions to draw from, which become 0, 1, ...; None is all of them.
    same_place: reset with the same seed before every walk, so that a place made at random stays the same;
        without it only the first reset is seeded.
    observation_labels: number views as an earlier recording did; a view it never had is an error.
    rng: draws the actions; None is a generator of `seed`, which always resets the environment.
    """
    offered = _offered_actions(env.action_space, actions)
    if walks < 1 or steps < 2:
        raise BadWalks(f"`walks` (={walks}) must be at least 1 and `steps` (={steps}) at least 2")
    rng = np.random.default_rng(seed) if rng is None else rng
    seeds = [seed if walk == 0 or same_place else None for walk in range(walks)]
    episodes = [_episode(env, steps, reset_seed, offered, rng) for reset_seed in seeds]
    views = [seen for seen, _ in episodes]
    taken = [done for _, done in episodes]
    action_labels = None if actions is None else tuple(str(action) for action in actions)
    space = env.observation_space
    if not isinstance(space, gymnasium.spaces.Discrete):
        return walks_from_views(views, taken, len(offered), observation_labels, action_labels)
    return padded_walks(
        [np.array(row) - int(space.start) for row in views],
        [np.array(row) for row in taken],
        num_observations=int(space.n),
        num_actions=len(offered),
        action_labels=action_labels,
    )


def _offered_actions(space: gymnasium.Space[Any], actions: Sequence[int] | None) -> list[int]:
    """The environment's own numbers of the actions to draw from."""
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise BadWalks(f"an environment must have discrete actions, got {space}")
    every = range(int(space.start), int(space.start + space.n))
    if actions is None:
        return list(every)
    if not actions or len(set(actions)) < len(actions) or not set(actions) <= set(every):
        raise BadWalks(
            f"`actions` must be different ones of {every.start} to {every.stop - 1}, got {list(actions)}"
        )
    return list(actions)


def _episode(
    env: gymnasium.Env[Any, Any], steps: int, seed: int | None, offered: list[int], rng: np.random.Generator
) -> tuple[list[Any], list[int]]:
    """What was seen, and the indices into `offered` of what was done, up to `steps` views."""
    first = int(env.action_space.start)  # type: ignore[attr-defined]
    # Views are named at once: an environment may show the same array again, with other content.
    know = int if isinstance(env.observation_space, gymnasium.spaces.Discrete) else view_label
    seen, info = env.reset(seed=seed)
    views: list[Any] = [know(seen)]
    taken: list[int] = []
    while len(views) < steps:
        mask = info.get("action_mask")
        legal = [index for index, action in enumerate(offered) if mask is None or mask[action - first]]
        if not legal:
            raise BadWalks(f"one of the actions {offered} must be legal, none is at step {len(taken)}")
        taken.append(int(rng.choice(legal)))
        seen, _, terminated, truncated, info = env.step(offered[taken[-1]])
        views.append(know(seen))
        if terminated or truncated:
            break
    return views, taken
