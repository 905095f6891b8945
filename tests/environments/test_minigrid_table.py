"""The table of a MiniGrid room against MiniGrid itself."""

import numpy as np
import pytest

from cogmap.environments.minigrid_table import minigrid_world
from cogmap.environments.oracle import unreachable
from cogmap.walks.sample import sample_walks

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("minigrid")


def test_walks_in_the_table_are_those_of_the_environment():
    world = minigrid_world("MiniGrid-Empty-6x6-v0", view=3)
    assert world.num_positions == 4 * 4 * 4
    assert unreachable(world.next_position) is None
    walks, _ = sample_walks(world, 5, 80, np.random.default_rng(0))
    env = gymnasium.make("MiniGrid-Empty-6x6-v0", agent_view_size=3, max_steps=1000).unwrapped
    number: dict = {}
    for seen, done in zip(walks.observations.tolist(), walks.actions.tolist(), strict=True):
        views = [env.reset(seed=0)[0]["image"].tobytes()]
        views += [env.step(action)[0]["image"].tobytes() for action in done]
        for view, shown in zip(views, seen, strict=True):
            assert number.setdefault(view, shown) == shown
    assert len(set(number.values())) == len(number)
