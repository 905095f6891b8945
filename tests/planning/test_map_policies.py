"""Policies on maps against all policies of tiny maps, one by one."""

from itertools import product

import numpy as np
import pytest
from small_maps import map_from_edges

from cogmap.environments.policies import arriving_under, fewest_steps, surest
from cogmap.errors import BadConfig, NoPath, NotOnMap
from cogmap.planning.policies import chance_on, find_policy, moves_of_map
from cogmap.planning.shortest_paths import Showing, solve


def random_map(seed, nodes=4, actions=2):
    """A few moves with chance; some actions were never taken."""
    rng = np.random.default_rng(seed)
    edges = [
        (node, action, int(target), int(rng.integers(1, 5)))
        for node in range(nodes)
        for action in range(actions)
        if rng.random() < 0.8
        for target in rng.choice(nodes, rng.integers(1, 3), replace=False)
    ]
    return map_from_edges([*edges, (0, 0, 1, 1), (0, actions - 1, 0, 1)], list(range(nodes)))


def by_hand(found, policy, goal):
    """(V,) probability of arriving and (V,) expected steps if so, by following the chain for very long."""
    size = found.num_nodes
    chain = np.zeros((size, size))
    for edge in range(found.num_edges):
        if found.edge_action[edge] == policy[found.edge_source[edge]]:
            chain[found.edge_source[edge], found.edge_target[edge]] += found.edge_probability[edge]
    for node in range(size):
        if policy[node] < 0 or node in goal:
            chain[node] = np.eye(size)[node]
    arrived = np.isin(np.arange(size), goal).astype(float)
    steps, before = np.zeros(size), arrived
    for step in range(1, 4000):
        after = chain @ before
        steps += step * (after - before)
        before = after
    with np.errstate(invalid="ignore", divide="ignore"):
        return before, np.where(before > 1e-9, steps / before, np.inf)


def all_policies(found):
    allowed = moves_of_map(found).allowed
    return product(*([-1, *np.flatnonzero(row).tolist()] for row in allowed))


@pytest.mark.parametrize("seed", range(12))
def test_no_policy_arrives_more_surely_or_where_sure_sooner(seed):
    found = random_map(seed)
    goal = [3]
    try:
        best = find_policy(found, 3)
    except NoPath:
        best = None
    every = [by_hand(found, policy, goal) for policy in all_policies(found)]
    likeliest = np.max([arrival for arrival, _ in every], axis=0)
    if best is None:
        assert likeliest[:3].max() == 0
        return
    np.testing.assert_allclose(best.arrival, likeliest, atol=1e-6)
    sure = likeliest > 1 - 1e-9
    quickest = np.min([np.where(arrival > 1 - 1e-9, steps, np.inf) for arrival, steps in every], axis=0)
    np.testing.assert_allclose(best.steps[sure], quickest[sure], rtol=1e-6)
    arrival, steps = by_hand(found, best.action, goal)
    np.testing.assert_allclose(best.arrival, arrival, atol=1e-6)
    np.testing.assert_allclose(best.steps[arrival > 0], steps[arrival > 0], rtol=1e-5)
    assert best.action[3] == -1


# From 0 a short way past 1 (seen: 1) and a long way past 2 and 3 to the goal 4. Action 0 slips on the short way.
TWO_WAYS = map_from_edges(
    [(0, 0, 1, 3), (0, 0, 0, 1), (1, 0, 4), (0, 1, 2), (2, 0, 3), (3, 0, 4), (4, 0, 4), (4, 1, 0)],
    [0, 1, 2, 2, 3],
)


def test_what_is_forbidden_is_not_passed_and_what_is_costly_where_it_pays():
    free = find_policy(TWO_WAYS, 4)
    assert free.action[0] == 0
    assert free.steps[0] == pytest.approx(4 / 3 + 1)
    assert find_policy(TWO_WAYS, 4, avoid=[1]).action[0] == 1
    assert find_policy(TWO_WAYS, 4, costs={1: 0.5}).action[0] == 0
    assert find_policy(TWO_WAYS, 4, costs={1: 2}).action[0] == 1
    assert find_policy(TWO_WAYS, 4, costs={1: 2}).steps[0] == pytest.approx(3)
    assert find_policy(TWO_WAYS, Showing(3)).goals == (4,)
    assert find_policy(TWO_WAYS, [1, 4]).steps[0] == pytest.approx(4 / 3)


def test_a_discount_trades_sureness_for_speed():
    # Action 0 arrives at once half of the time and is lost otherwise; action 1 takes six steps for sure.
    long = [(node, 0, node + 1) for node in range(3, 7)] + [(7, 0, 1)]
    risky = map_from_edges([(0, 0, 1), (0, 0, 2), (0, 1, 3), (2, 0, 2), *long], list(range(8)))
    assert find_policy(risky, 1).action[0] == 1
    assert find_policy(risky, 1).arrival.tolist() == [1, 1, 0, 1, 1, 1, 1, 1]
    hasty = find_policy(risky, 1, discount=0.8)
    assert hasty.action[0] == 0
    assert hasty.value[0] == pytest.approx(0.5 * 0.8)
    assert hasty.arrival[0] == pytest.approx(0.5)
    assert find_policy(risky, 1, discount=0.95).action[0] == 1


def test_rewards_of_moves_are_collected():
    edges = [(0, 0, 1), (1, 0, 0), (0, 1, 2), (2, 0, 2)]
    paid = map_from_edges(edges, [0, 1, 2], edge_reward=np.array([0.0, 1.0, 3.0, 0.0]))
    patient, hasty = find_policy(paid, discount=0.9), find_policy(paid, discount=0.5)
    assert patient.action[0] == 0
    assert patient.value[0] == pytest.approx(0.9 / (1 - 0.81))
    assert hasty.action[0] == 1
    assert hasty.value[:2] == pytest.approx([3, 1 + 0.5 * 3])
    assert "value" in repr(patient)


def test_under_a_belief_the_action_is_the_best_on_average():
    policy = find_policy(TWO_WAYS, 4)
    assert policy.choose(np.array([1.0, 0, 0, 0, 0])) == 0
    assert policy.choose(np.array([0, 0, 0, 0, 1.0])) == -1
    # At node 2 and 3 only action 0 is known; at node 0 the loss by it is small.
    assert policy.choose(np.array([0.5, 0, 0.5, 0, 0])) == 0


def test_a_path_says_how_likely_it_is_to_be_walked():
    plan = solve(TWO_WAYS, 0, 4)
    assert plan.nodes.tolist() == [0, 1, 4]
    assert chance_on(TWO_WAYS, plan) == pytest.approx(0.75)
    assert chance_on(TWO_WAYS, solve(TWO_WAYS, 4, 4)) == 1


def test_ten_thousand_nodes():
    side = 100
    node = np.arange(side * side).reshape(side, side)
    edges = []
    for action, shifted in enumerate(
        [np.roll(node, 1, 0), np.roll(node, -1, 0), np.roll(node, 1, 1), np.roll(node, -1, 1)]
    ):
        for source, target in zip(node.ravel().tolist(), shifted.ravel().tolist(), strict=True):
            edges += [(source, action, target, 8), (source, action, source, 2)]
    policy = find_policy(map_from_edges(edges, [0] * side * side), 0)
    rows, columns = np.divmod(np.arange(side * side), side)
    distance = np.minimum(rows, side - rows) + np.minimum(columns, side - columns)
    np.testing.assert_allclose(policy.steps, distance / 0.8, rtol=1e-8)


def test_bad_input():
    with pytest.raises(NoPath, match="a goal must be within reach of some other node, no move leads to 0"):
        find_policy(map_from_edges([(0, 0, 1), (1, 0, 1)], [0, 1]), 0)
    with pytest.raises(BadConfig, match=r"`discount` must be at least 0 and below 1, .* got 1"):
        find_policy(map_from_edges([(0, 0, 0)], [0], edge_reward=np.ones(1)), discount=1)
    with pytest.raises(BadConfig, match="needs rewards, which the walks of this map did not have"):
        find_policy(TWO_WAYS)
    with pytest.raises(BadConfig, match="`costs` must be finite and at least 0, got -1 for 1"):
        find_policy(TWO_WAYS, 4, costs={1: -1})
    with pytest.raises(NotOnMap, match="`goal` must be a node of the map, 0 to 4, got 9"):
        find_policy(TWO_WAYS, 9)
    with pytest.raises(NotOnMap, match="`avoid` must be an observation of the map"):
        find_policy(TWO_WAYS, 4, avoid=["blue"])


def test_the_parts_agree():
    """`surest` and `fewest_steps` give what following their actions gives."""
    found = random_map(3)
    moves, goal = moves_of_map(found), np.array([False, False, False, True])
    likeliest = surest(moves, goal)
    np.testing.assert_allclose(arriving_under(moves, likeliest.action, goal)[0], likeliest.value, atol=1e-12)
    quickest = fewest_steps(moves, goal)
    sure = np.isfinite(quickest.value)
    steps = arriving_under(moves, quickest.action, goal)[1]
    np.testing.assert_allclose(steps[sure], quickest.value[sure], rtol=1e-9)
