"""Shortest paths: properties against networkx and the oracle, one-way doors, constraints, errors."""

from dataclasses import replace

import networkx
import numpy as np
import pytest
from small_maps import map_from_edges

from cogmap.environments.oracle import optimal_distances
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import NoPath, NotOnMap
from cogmap.evaluation.ged import true_map
from cogmap.planning import shortest_paths
from cogmap.planning.shortest_paths import Problem, Showing, solve, solve_many, transition_graph
from cogmap.records import Plan


def random_map(rng, nodes=30, edges=70, observations=4):
    rows = np.stack(
        [rng.integers(nodes, size=edges), rng.integers(3, size=edges), rng.integers(nodes, size=edges)],
        axis=1,
    )
    support = rng.integers(1, 9, size=(edges, 1))
    found = map_from_edges(
        [tuple(row) for row in np.hstack([rows, support])],
        rng.integers(observations, size=nodes).tolist(),
        observations,
    )
    return replace(found, kind="paper")  # an action may lead to several nodes


def networkx_length(cognitive_map, start, goals, forbidden=()):
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(cognitive_map.num_nodes))
    graph.add_edges_from(zip(cognitive_map.edge_source, cognitive_map.edge_target, strict=True))
    inner = np.flatnonzero(np.isin(cognitive_map.node_observation, list(forbidden)))
    graph.remove_nodes_from(set(inner.tolist()) - {start, *goals})
    lengths = []
    for goal in goals:
        # A path may end at another goal that shows a forbidden colour, but not pass through it.
        part = graph.subgraph(set(graph) - (set(inner.tolist()) - {start, goal}))
        if networkx.has_path(part, start, goal):
            lengths.append(networkx.shortest_path_length(part, start, goal))
    return min(lengths, default=None)


def check_steps(cognitive_map, plan):
    """Every action is the best supported one between its nodes, and every observation its node's."""
    table = {}
    for source, action, target, support in zip(
        cognitive_map.edge_source,
        cognitive_map.edge_action,
        cognitive_map.edge_target,
        cognitive_map.edge_support,
        strict=True,
    ):
        table.setdefault((int(source), int(target)), {}).setdefault(int(action), []).append(int(support))
    for source, action, target in zip(plan.nodes[:-1], plan.actions, plan.nodes[1:], strict=True):
        choices = table[int(source), int(target)]
        assert max(choices[int(action)]) == max(max(support) for support in choices.values())
    assert plan.observations.tolist() == cognitive_map.node_observation[plan.nodes].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_lengths_agree_with_networkx(seed):
    rng = np.random.default_rng(seed)
    cognitive_map = random_map(rng)
    problems, expected = [], []
    for _ in range(120):
        start, goal = (int(node) for node in rng.integers(30, size=2))
        avoid = tuple(int(seen) for seen in np.flatnonzero(rng.random(4) < 0.3))
        strict = bool(rng.random() < 0.5)
        problems.append(Problem(start, goal, avoid, strict))
        length = networkx_length(cognitive_map, start, [goal], avoid)
        if length is None and not strict:
            length = networkx_length(cognitive_map, start, [goal])
        expected.append(length)
    outcomes = solve_many(cognitive_map, problems)
    assert [len(outcome) if isinstance(outcome, Plan) else None for outcome in outcomes] == expected
    for problem, outcome in zip(problems, outcomes, strict=True):
        if isinstance(outcome, Plan):
            assert (outcome.nodes[0], outcome.nodes[-1]) == (problem.start, problem.goal)
            check_steps(cognitive_map, outcome)
        else:
            assert isinstance(outcome, NoPath)


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_of_several_goals_is_taken(seed):
    rng = np.random.default_rng(seed)
    cognitive_map = random_map(rng)
    for _ in range(60):
        start, *goals = rng.choice(30, size=4, replace=False).tolist()
        avoid = (int(rng.integers(4)),)
        expected = networkx_length(cognitive_map, start, goals, avoid)
        if expected is None:
            with pytest.raises(NoPath):
                solve(cognitive_map, start, goals, avoid, strict=True)
        else:
            plan = solve(cognitive_map, start, goals, avoid, strict=True)
            assert len(plan) == expected
            assert plan.nodes[-1] in goals


@pytest.mark.parametrize("world", [AliasedRoom(6, 8), torus(5, 7, one_way_doors=8)], ids=["room", "torus"])
def test_plans_on_the_true_map_are_optimal_in_the_world(world):
    cognitive_map = true_map(world)
    for avoid in ((), (2,)):
        distances = optimal_distances(world, avoid)
        pairs = [(start, goal) for start in range(world.num_positions) for goal in range(world.num_positions)]
        plans = solve_many(cognitive_map, [Problem(start, goal, avoid) for start, goal in pairs])
        for (start, goal), plan in zip(pairs, plans, strict=True):
            position = start
            for action in plan.actions:
                position = world.next_position[position, action]
            assert position == goal
            assert len(plan) == distances[start, goal]


def test_a_one_way_door_is_passed_one_way():
    ring = map_from_edges([(0, 0, 1), (1, 0, 2), (2, 0, 0)], [0, 1, 2])
    assert solve(ring, 0, 1).nodes.tolist() == [0, 1]
    assert solve(ring, 1, 0).nodes.tolist() == [1, 2, 0]


def test_the_best_supported_action_is_taken_and_self_loops_are_not():
    forked = map_from_edges([(0, 0, 0, 99), (0, 1, 1, 3), (0, 2, 1, 8), (1, 0, 1, 50)], [0, 0])
    assert solve(forked, 0, 1).actions.tolist() == [2]


def test_start_equal_to_goal_is_a_plan_without_actions():
    plan = solve(map_from_edges([(0, 0, 1)], [0, 1]), 1, 1, avoid=[1], strict=True)
    assert (plan.actions.tolist(), plan.nodes.tolist(), plan.observations.tolist()) == ([], [1], [1])


def test_avoid_when_possible_and_strictly():
    # 0 -> 1 -> 3 is short and passes colour 1; 0 -> 2 -> 4 -> 3 goes round.
    both = map_from_edges([(0, 0, 1), (1, 0, 3), (0, 1, 2), (2, 0, 4), (4, 0, 3)], [1, 1, 0, 1, 0], 3)
    assert solve(both, 0, 3).nodes.tolist() == [0, 1, 3]
    assert solve(both, 0, 3, avoid=[1], strict=True).nodes.tolist() == [0, 2, 4, 3]
    only = map_from_edges([(0, 0, 1), (1, 0, 2)], [0, 1, 0])
    assert solve(only, 0, 2, avoid=[1]).nodes.tolist() == [0, 1, 2]
    with pytest.raises(NoPath, match="no path that avoids 1 on the map leads from node 0 to node 2"):
        solve(only, 0, 2, avoid=[1], strict=True)


def test_goals_and_constraints_by_label():
    named = map_from_edges(
        [(0, 0, 1), (1, 0, 2), (0, 1, 3), (3, 1, 2)],
        [0, 1, 2, 3],
        observation_labels=("red", "green", "blue", "grey"),
        action_labels=("east", "south"),
    )
    assert solve(named, 0, Showing("blue"), avoid=["green"]).nodes.tolist() == [0, 3, 2]
    assert solve(named, 0, Showing(2), avoid="grey").nodes.tolist() == [0, 1, 2]
    assert solve(named, 0, 2).action_labels == ("east", "south")


def test_errors_state_the_rule_and_the_value():
    named = map_from_edges([(0, 0, 1)], [0, 1], 3, observation_labels=("red", "green", "blue"))
    with pytest.raises(
        NotOnMap, match=r"`avoid` must be an observation.*knows red, green, blue; got 'purple'"
    ):
        solve(named, 0, 1, avoid=["purple"])
    with pytest.raises(NotOnMap, match="`avoid` must be an observation of the map, 0 to 2, got 7"):
        solve(named, 0, 1, avoid=[7])
    with pytest.raises(NotOnMap, match="`goal` must be a node of the map, 0 to 1, got 5"):
        solve(named, 0, 5)
    with pytest.raises(NotOnMap, match="`start` must be a node of the map, 0 to 1, got -1"):
        solve(named, -1, 1)
    with pytest.raises(NotOnMap, match="no node shows 'blue'"):
        solve(named, 0, Showing("blue"))
    with pytest.raises(NotOnMap, match="at least one node"):
        solve(named, 0, [])
    with pytest.raises(NoPath, match="no path on the map leads from node 1 to node 0"):
        solve(named, 1, 0)


def test_many_keeps_the_order_and_reports_each_failure_in_its_place():
    line = map_from_edges([(0, 0, 1), (1, 0, 2)], [0, 1, 2])
    outcomes = solve_many(line, [Problem(2, 0), Problem(0, 2), Problem(-1, 2), Problem(0, 1)])
    assert [type(outcome) for outcome in outcomes] == [NoPath, Plan, NotOnMap, Plan]
    assert outcomes[1].nodes.tolist() == [0, 1, 2]
    assert outcomes[3].nodes.tolist() == [0, 1]


def test_a_plan_on_a_minimal_map_counts_on_the_likeliest_target_only():
    """Action 0 leads from 0 to 1, and once in five times slips to 2; the other way to 2 is longer."""
    found = map_from_edges([(0, 0, 1, 8), (0, 0, 2, 2), (1, 1, 3), (3, 0, 2)], [0, 1, 2, 3], 4)
    assert solve(found, 0, 2).nodes.tolist() == [0, 1, 3, 2]


def test_searches_that_are_kept_change_no_plan_and_are_not_too_many(monkeypatch):
    found = random_map(np.random.default_rng(0))
    problems = [Problem(start, goal) for start in range(30) for goal in (3, 7)]
    lengths = [len(one) if isinstance(one, Plan) else None for one in solve_many(found, problems)]
    monkeypatch.setattr(shortest_paths, "_MOST_SEARCHED", 4 * found.num_nodes)
    few = random_map(np.random.default_rng(0))
    again = [solve_many(few, [problem])[0] for problem in problems]
    assert [len(one) if isinstance(one, Plan) else None for one in again] == lengths
    assert 1 <= len(transition_graph(few)._searches) <= 4


def test_another_thread_may_drop_what_is_kept():
    graph = transition_graph(random_map(np.random.default_rng(0)))

    class Forgetful(dict):
        def __setitem__(self, key, value):
            pass

    graph._search_graphs, graph._searches = Forgetful(), Forgetful()
    assert graph.search(0, frozenset({1})).path((0,)).tolist() == [0]
