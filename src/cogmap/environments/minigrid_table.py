"""MiniGrid's rooms as tables (extra `gym`): what lies ahead of an agent that turns and goes forward.

A position is a cell with a heading. Walks continue where an episode would end, so that a goal is a cell like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cogmap.errors import MissingExtra
from cogmap.records import TableWorld

ACTIONS = ("left", "right", "forward")
State = tuple[int, int, int]  # column, row, heading


def minigrid_world(env_id: str = "MiniGrid-Empty-8x8-v0", view: int = 3, seed: int = 0) -> TableWorld:
    """The world of a MiniGrid environment in which nothing but the agent moves.

    view: cells along the side of the square ahead that the agent sees; it has no compass. seed: of the layout.
    """
    try:
        import gymnasium
        import minigrid  # noqa: F401  registers its environments
    except ImportError as error:
        raise MissingExtra('MiniGrid must be installed for this: pip install "cogmap[gym]"') from error
    env = gymnasium.make(env_id, agent_view_size=view, max_steps=1 << 30).unwrapped
    env.reset(seed=seed)
    first = _state(env)
    number, table, views = {first: 0}, [], []
    waiting = [first]
    for state in waiting:  # grows
        views.append(_place(env, state).gen_obs()["image"].tobytes())
        after = [_after(env, state, action) for action in range(len(ACTIONS))]
        for new in after:
            if new not in number:
                number[new] = len(number)
                waiting.append(new)
        table.append([number[new] for new in after])
    shown, observation = np.unique(np.array(views, dtype=object), return_inverse=True)
    return TableWorld(
        next_position=np.array(table, dtype=np.int32),
        observation=observation.reshape(-1).astype(np.int32),
        num_observations=len(shown),
        action_labels=ACTIONS,
        name="minigrid",
        start_probability=np.eye(len(waiting))[0],
    )


def _state(env: Any) -> State:
    column, row = env.agent_pos
    return int(column), int(row), int(env.agent_dir)


def _place(env: Any, state: State) -> Any:
    env.agent_pos, env.agent_dir = state[:2], state[2]
    return env


def _after(env: Any, state: State, action: int) -> State:
    _place(env, state).step(action)
    return _state(env)
