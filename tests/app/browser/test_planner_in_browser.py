"""The page's planner, in a real browser, against the package's, on the same maps."""

import base64
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from report_material import ROOM, material, merged_map

from cogmap.environments.table import torus
from cogmap.errors import NoPath
from cogmap.evaluation.ged import true_map
from cogmap.planning.shortest_paths import solve
from cogmap.records import CognitiveMap, TableWorld
from cogmap.report.pictures import map_data

PLANNER = files("cogmap.report").joinpath("shared/planner.js").read_bytes()
SCRIPT = """
const [module, map, problems, done] = arguments;
import(module).then(({ makeTransitions, shortestPlan }) => {
  const edges = makeTransitions(map);
  done(problems.map(([start, goal, avoid]) => shortestPlan(map, edges, start, goal, new Set(avoid))));
}, (problem) => done(String(problem)));
"""


@pytest.fixture
def plans_of_the_page(browser):
    """Plans of the module itself, which needs no page around it."""
    browser.driver.get("about:blank")
    module = f"data:text/javascript;base64,{base64.b64encode(PLANNER).decode()}"

    def ask(found, problems):
        data = map_data(material(found, truth=None, reads=False))
        return browser.driver.execute_async_script(SCRIPT, module, data, problems)

    return ask


def one_way_world():
    """A ring that can be walked in one direction only, and an island."""
    ring = torus(1, 6).observation.size
    follow = (np.arange(ring) + 1) % ring
    return TableWorld(
        next_position=np.append(follow, ring)[:, None],
        observation=np.append(np.arange(ring) % 3, 0),
        num_observations=3,
    )


def guessing():
    """A room with every seventh move a guess."""
    found = true_map(ROOM)
    return replace(found, edge_guessed=np.arange(found.num_edges) % 7 == 0)


WORLDS = {
    "room": true_map(ROOM),
    "merged": merged_map(ROOM)[0],
    "one way": true_map(one_way_world()),
    "guessing": guessing(),
}


@pytest.mark.parametrize("name", WORLDS)
def test_plans_are_as_short_as_those_of_the_package_and_can_be_followed(name, plans_of_the_page):
    found = WORLDS[name]
    rng = np.random.default_rng(0)
    problems = [
        (
            *rng.integers(found.num_nodes, size=2).tolist(),
            rng.permutation(found.num_observations)[:avoided].tolist(),
        )
        for avoided in (0, 1, 2)
        for _ in range(60)
    ]
    for (start, goal, avoid), plan in zip(problems, plans_of_the_page(found, problems), strict=True):
        try:
            expected = solve(found, start, goal, avoid)
        except NoPath:
            assert plan is None
            continue
        assert len(plan["actions"]) == len(expected)
        assert (plan["nodes"][0], plan["nodes"][-1]) == (start, goal)
        assert_follows(found, plan)
        passed = set(found.node_observation[plan["nodes"][1:-1]].tolist())
        assert plan["dropped"] == bool(passed & set(avoid))
        assert plan["dropped"] == is_dropped(found, start, goal, avoid)


def assert_follows(found, plan):
    found = found.known()
    edges = set(
        zip(found.edge_source.tolist(), found.edge_action.tolist(), found.edge_target.tolist(), strict=True)
    )
    assert set(zip(plan["nodes"], plan["actions"], plan["nodes"][1:], strict=False)) <= edges


def is_dropped(found, start, goal, avoid):
    try:
        solve(found, start, goal, avoid, strict=True)
    except NoPath:
        return True
    return False


def test_of_two_actions_between_the_same_nodes_the_better_supported_is_taken(plans_of_the_page):
    found = CognitiveMap(
        kind="minimal",
        node_observation=np.array([0, 1]),
        node_support=np.array([1, 1]),
        edge_source=np.array([0, 0, 0, 0]),
        edge_action=np.array([0, 1, 2, 3]),
        edge_target=np.array([1, 1, 1, 0]),
        edge_support=np.array([3, 7, 7, 9]),
        code_tuples=np.arange(ROOM.num_positions)[:, None],
        code_node=np.zeros(ROOM.num_positions, dtype=np.int32),
        num_observations=4,
        num_actions=4,
        explained=1.0,
    )
    (there, stay, back) = plans_of_the_page(found, [(0, 1, []), (0, 0, [0]), (1, 0, [])])
    assert there == {"nodes": [0, 1], "actions": [1], "dropped": False}
    assert there["actions"] == solve(found, 0, 1).actions.tolist()
    assert stay == {"nodes": [0], "actions": [], "dropped": False}
    assert back is None
