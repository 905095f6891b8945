"""FrozenLake, CliffWalking and Taxi against Gymnasium itself: its tables, its steps and its episodes."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium.envs.toy_text import CliffWalkingEnv, FrozenLakeEnv, TaxiEnv

from cogmap.environments.bayes import filter_walks
from cogmap.environments.check import check_environment
from cogmap.environments.gym_tables import cliff_walking, frozen_lake, taxi
from cogmap.environments.policies import best_policy
from cogmap.errors import BadWorld
from cogmap.walks.sample import sample_walks

WORLDS = {
    "lake 4x4": (lambda: frozen_lake("4x4"), lambda: FrozenLakeEnv(map_name="4x4", is_slippery=True)),
    "lake 8x8": (lambda: frozen_lake("8x8"), lambda: FrozenLakeEnv(map_name="8x8", is_slippery=True)),
    "firm lake": (
        lambda: frozen_lake("8x8", slippery=False),
        lambda: FrozenLakeEnv(map_name="8x8", is_slippery=False),
    ),
    "cliff": (cliff_walking, lambda: CliffWalkingEnv(is_slippery=True)),
    "firm cliff": (lambda: cliff_walking(slippery=False), lambda: CliffWalkingEnv(is_slippery=False)),
    "taxi": (taxi, lambda: TaxiEnv(is_rainy=True)),
    "taxi in the sun": (lambda: taxi(rainy=False), lambda: TaxiEnv(is_rainy=False)),
}


@pytest.fixture(params=WORLDS.values(), ids=WORLDS.keys())
def pair(request):
    return request.param[0](), request.param[1]()


def states_of(env):
    """Gymnasium's number of each of our positions: the states that occur, in their order. By a plain search."""
    met = set(np.flatnonzero(env.initial_state_distrib).tolist())
    queue, ends = list(met), set()
    for state in queue:
        if state in ends:
            continue
        for outcomes in env.P[state].values():
            for _, target, _, end in outcomes:
                ends |= {int(target)} if end else set()
                if int(target) not in met:
                    met.add(int(target))
                    queue.append(int(target))
    return sorted(met), ends


def test_the_tables_are_gymnasiums(pair):
    world, env = pair
    states, ends = states_of(env)
    number = {state: position for position, state in enumerate(states)}
    assert world.num_positions == len(states)
    table = np.zeros((len(states), world.num_actions, len(states)))
    reward = np.zeros_like(table)
    start = np.asarray(env.initial_state_distrib)[states]
    for state in states:
        for action, outcomes in env.P[state].items():
            if state in ends:
                table[number[state], action] = start
                continue
            for chance, target, gain, _ in outcomes:
                table[number[state], action, number[int(target)]] += chance
                reward[number[state], action, number[int(target)]] += chance * gain
    found = np.zeros_like(table)
    found[world.move_source, world.move_action, world.move_target] = world.move_probability
    assert np.allclose(found, table)
    gained = np.zeros_like(table)
    gained[world.move_source, world.move_action, world.move_target] = (
        world.move_probability * world.move_reward
    )
    assert np.allclose(gained, reward)
    assert np.allclose(world.start_probability, start)


def test_the_rules_of_worlds_hold(pair):
    world, _ = pair
    check_environment(world)
    assert len(world.observation_labels) == world.num_observations < world.num_positions


def test_walks_continue_past_the_ends_of_episodes(pair):
    world, env = pair
    states, ends = states_of(env)
    walks, truth = sample_walks(world, 200, 200, np.random.default_rng(0))
    at_end = np.isin(np.array(states)[truth.positions[:, :-1]], sorted(ends))
    assert at_end.any()
    after = truth.positions[:, 1:][at_end]
    assert (world.start_probability[after] > 0).all()
    assert (walks.observations == world.observation[truth.positions]).all()
    assert np.isfinite(filter_walks(walks, world).mean_log_loss)


def test_the_lake_shows_letters():
    world = frozen_lake("4x4")
    shown = "".join(world.observation_labels[seen] for seen in world.observation)
    assert shown == "SFFFFHFHFFFHHFFG"
    assert world.coordinates[6].tolist() == [1, 2]


def test_the_cliff_shows_what_adjoins():
    world = cliff_walking(slippery=False)
    seen = {
        tuple(at): world.observation_labels[o]
        for at, o in zip(world.coordinates, world.observation, strict=True)
    }
    assert seen[0, 0] == "wall N-W"
    assert seen[0, 5] == "wall N"
    assert seen[1, 5] == "free"
    assert seen[2, 5] == "cliff S"
    assert seen[2, 0] == "wall W"
    assert seen[3, 0] == "wall S-W, cliff E"
    assert seen[3, 11] == "wall E-S, cliff W"
    assert (3, 5) not in seen  # nobody stands there: the fall ends at the start


def test_the_taxi_shows_walls_passenger_and_goal():
    """A wall is where a sure move stays, whatever the drawing says."""
    world, env = taxi(rainy=False), TaxiEnv(is_rainy=False)
    states, _ = states_of(env)
    for position, state in enumerate(states):
        _, _, passenger, goal = env.decode(state)
        words = world.observation_labels[world.observation[position]].split(", ")
        assert words[1:] == [f"passenger {'RGYB*'[passenger]}", f"to {'RGYB'[goal]}"]
        sides = {"N": 1, "E": 2, "S": 0, "W": 3}
        blocked = [side for side, action in sides.items() if env.P[state][action][0][1] == state]
        assert words[0] == f"wall {'-'.join(blocked) or 'none'}"


def test_what_a_move_intends_is_its_likeliest_target():
    slips, sure = cliff_walking(), cliff_walking(slippery=False)
    chance = np.zeros((38, 4, 38))
    chance[slips.move_source, slips.move_action, slips.move_target] = slips.move_probability
    tied = np.isclose(
        np.take_along_axis(chance, sure.next_position[..., None], 2)[..., 0], chance.max(axis=2)
    )
    assert (slips.next_position == sure.next_position)[tied].all()
    assert tied.mean() > 0.8


def test_the_best_policy_earns_in_gymnasium_what_it_promises():
    """Discounted returns of 3000 episodes of the slippery lake; five standard errors, as the seed is fixed."""
    world, env, discount = frozen_lake("4x4"), FrozenLakeEnv(map_name="4x4", is_slippery=True), 0.95
    policy = best_policy(world, discount)
    returns = []
    env.reset(seed=0)
    for _ in range(3000):
        state, _ = env.reset()
        total, weight, over = 0.0, 1.0, False
        while not over:
            state, gain, over, _, _ = env.step(int(policy.action[state]))
            total, weight = total + weight * gain, weight * discount
        # What follows the end of an episode is a move to the start, and all of it again.
        returns.append(total + weight * discount * policy.value[0])
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - policy.value[0]) < 5 * error
    assert policy.value[0] > 0.2


def test_another_size():
    with pytest.raises(BadWorld, match='`size` must be "4x4" or "8x8", got \'5x5\''):
        frozen_lake("5x5")
