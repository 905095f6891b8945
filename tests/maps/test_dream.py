"""The map as a world and as an environment."""

from dataclasses import replace

import numpy as np
import pytest
from edgeless_maps import edgeless_map

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from cogmap.environments.chance import from_probabilities, moves_of, with_slip  # noqa: E402
from cogmap.environments.room import AliasedRoom  # noqa: E402
from cogmap.errors import BadWorld  # noqa: E402
from cogmap.evaluation.ged import true_map  # noqa: E402
from cogmap.maps.dream import world_of_map  # noqa: E402


def map_of(world, **fields):
    source, action, target, probability, reward = moves_of(world)
    return replace(
        true_map(world),
        edge_source=source,
        edge_action=action,
        edge_target=target,
        edge_support=np.ones(len(source), dtype=int),
        edge_probability=probability,
        edge_imagined=None,
        edge_reward=reward,
        **fields,
    )


def test_the_world_of_the_true_map_is_the_world():
    world = with_slip(AliasedRoom(3, 4, 3, patch=0), 0.2)
    dreamed = world_of_map(map_of(world))
    for mine, theirs in zip(moves_of(dreamed)[:4], moves_of(world)[:4], strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert np.array_equal(dreamed.observation, world.observation)


def test_what_was_never_done_is_not_legal_and_stays():
    world = AliasedRoom(3, 4, 3, patch=0)
    found = map_of(world)
    kept = (found.edge_source != 5) | (found.edge_action != 2)
    edges = ("edge_source", "edge_action", "edge_target", "edge_support", "edge_probability")
    torn = replace(found, **{name: getattr(found, name)[kept] for name in edges}, edge_imagined=None)
    dreamed = world_of_map(torn)
    assert not dreamed.legal[5, 2]
    assert dreamed.legal.sum() == 47
    assert dreamed.next_position[5, 2] == 5


@pytest.mark.parametrize("goal", [None, 3])
def test_gymnasium_finds_no_fault(goal):
    seen = np.full((12, 3), 0.1)
    world = with_slip(AliasedRoom(3, 4, 3, patch=0), 0.2)
    seen[np.arange(12), world.observation] = 0.8
    node, observation = np.nonzero(seen)
    found = map_of(
        world, seen_node=node, seen_observation=observation, seen_probability=seen[node, observation]
    )
    env = found.to_gymnasium(goal=goal, max_steps=20)
    check_env(env, skip_render_check=True)
    assert env.observation_space.n == 3
    drawn = [env.reset(seed=number)[0] for number in range(200)]
    assert set(drawn) == {0, 1, 2}


def test_rewards_of_moves_are_paid():
    moves = np.zeros((2, 1, 2))
    moves[0, 0, 1] = moves[1, 0, 0] = 1
    rewards = np.zeros((2, 1, 2))
    rewards[0, 0, 1] = 2.5
    env = map_of(from_probabilities(moves, np.arange(2), rewards=rewards)).to_gymnasium()
    env.reset(options={"position": 0})
    assert [env.step(0)[1] for _ in range(4)] == [2.5, 0, 2.5, 0]


def test_an_empty_map_is_no_world():
    with pytest.raises(BadWorld, match="must have at least one node to be a world, got 0"):
        edgeless_map([]).to_gymnasium()
