"""The navigator in closed loop: it reaches its goals with the true map, with wrong maps, and after being moved."""

import dataclasses

import gymnasium
import numpy as np
import pytest
from small_maps import damaged, map_from_edges

from cogmap.environments.chance import with_slip
from cogmap.environments.cube import AliasedCube
from cogmap.environments.oracle import optimal_distances
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import maze_from_text, torus
from cogmap.errors import BadConfig, BadWorld, NoPath, NotOnMap
from cogmap.evaluation.chance import true_chance_map
from cogmap.evaluation.ged import true_map
from cogmap.planning.navigator import Navigator
from cogmap.planning.shortest_paths import Showing
from cogmap.planning.steppers import GymStepper, TableStepper

WORLDS = {
    "room": AliasedRoom(15, 20, 4),
    "resampling room": AliasedRoom(6, 8, 4, bump="resample"),
    "cube": AliasedCube(6, 12),
    "torus with doors": torus(8, 9, one_way_doors=20),
    "maze": maze_from_text("abab\nb##v\nabab"),
}


def journeys(world, cognitive_map, count, rng, max_steps=1000):
    """Goals tried, and how the journeys ended: (journey, whether the agent truly is at the goal)."""
    navigator = Navigator(cognitive_map, rng)
    for _ in range(count):
        stepper = TableStepper(world, int(rng.integers(world.num_positions)))
        goal = int(rng.integers(world.num_positions))
        navigator.reset()
        navigator.observe(None, stepper.observation)
        journey = navigator.walk_to(goal, stepper, max_steps)
        yield journey, stepper.position == goal


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
def test_all_goals_are_reached_from_random_starts(world):
    ends = list(journeys(world, true_map(world), 200, np.random.default_rng(0)))
    assert all(journey.reached and there for journey, there in ends)
    assert all(journey.certainty[-1] >= 0.9 for journey, _ in ends)
    # Localisation takes some steps in addition to the path itself.
    assert np.mean([len(journey) for journey, _ in ends]) < optimal_distances(world).mean() + 10


def test_once_sure_it_takes_a_shortest_path():
    world = AliasedRoom(6, 8)
    distances = optimal_distances(world)
    for journey, _ in journeys(world, true_map(world), 50, np.random.default_rng(1)):
        sure = int((journey.certainty >= 0.9).argmax())
        assert (journey.certainty[sure:] >= 0.9).all()
        assert len(journey) - sure == distances[journey.nodes[sure], journey.nodes[-1]]


def test_goals_are_reached_despite_wrong_and_missing_edges():
    world = AliasedRoom(15, 20)
    rng = np.random.default_rng(2)
    wrong_map = damaged(true_map(world), 30, 30, rng)
    ends = list(journeys(world, wrong_map, 60, rng))
    assert np.mean([there for _, there in ends]) >= 0.95
    assert sum(journey.surprises for journey, _ in ends) > 0


def test_an_edge_that_does_not_exist_is_penalised_and_then_avoided():
    # The map has a shortcut 0 -> 5 that the world does not have: there action 1 stays.
    ring = [(node, 0, (node + 1) % 6) for node in range(6)]
    cognitive_map = map_from_edges([*ring, (0, 1, 5)], [0, 1, 2, 3, 4, 5])
    world_next = {(node, 0): (node + 1) % 6 for node in range(6)} | {(0, 1): 0}
    position = 0

    def step(action):
        nonlocal position
        position = world_next[position, action]
        return position

    navigator = Navigator(cognitive_map)
    navigator.observe(None, 0)
    journey = navigator.walk_to(5, step, 40)
    assert journey.reached
    assert position == 5
    assert journey.surprises >= 1
    assert (journey.actions == 1).sum() <= 6


def test_an_agent_that_was_moved_localises_itself_again():
    world = AliasedRoom(15, 20)
    navigator = Navigator(true_map(world), np.random.default_rng(3))
    rng = np.random.default_rng(4)
    for _ in range(20):
        start, elsewhere, goal = (int(place) for place in rng.choice(300, 3, replace=False))
        stepper = TableStepper(world, start)
        navigator.reset()
        navigator.observe(None, stepper.observation)
        for action in rng.integers(4, size=40):
            navigator.observe(int(action), stepper(int(action)))
        assert navigator.where() == stepper.position
        stepper.position = elsewhere
        journey = navigator.walk_to(goal, stepper, 400)
        assert journey.reached
        assert stepper.position == goal


def test_certainty_is_shared_between_nodes_that_fit_the_history():
    # Two rooms that differ only at their ends: 0 1 2 | 3 4 5, the ends show 0 and 3.
    twins = map_from_edges(
        [(0, 0, 1), (1, 0, 2), (3, 0, 4), (4, 0, 5), (2, 0, 0), (5, 0, 3)], [1, 1, 0, 1, 1, 3]
    )
    navigator = Navigator(twins)
    navigator.observe(None, 1)
    assert navigator.certainty == pytest.approx(0.25, abs=0.01)
    assert navigator.goal_probability([0, 1, 3, 4]) > 0.95
    navigator.observe(0, 1)
    assert navigator.certainty == pytest.approx(0.5, abs=0.02)
    navigator.observe(0, 3)
    assert navigator.where() == 5
    assert navigator.certainty > 0.9


def test_the_most_informative_action_is_taken_before_the_agent_is_sure():
    # Nodes 0 and 1 show the same. After action 0 they still do, action 1 distinguishes them.
    helpful = map_from_edges(
        [(0, 0, 2), (1, 0, 3), (2, 0, 0), (3, 0, 1), (0, 1, 4), (1, 1, 5), (4, 0, 0), (5, 0, 1)],
        [0, 0, 1, 1, 2, 3],
    )
    for seed in range(10):
        navigator = Navigator(helpful, np.random.default_rng(seed))
        navigator.observe(None, 0)
        assert navigator.next_action(2) == 1


def test_a_suggestion_resolves_what_observations_cannot():
    twins = map_from_edges([(0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 0, 2)], [0, 1, 0, 1])
    navigator = Navigator(twins)
    navigator.observe(None, 0)
    assert navigator.certainty < 0.6
    navigator.observe(0, 1, suggestion=3)
    assert navigator.where() == 3
    assert navigator.certainty > 0.9
    navigator.observe(0, 0, suggestion=-1)
    assert navigator.where() == 2


def test_observations_are_avoided_where_that_is_possible():
    both = map_from_edges([(0, 0, 1), (1, 0, 3), (0, 1, 2), (2, 0, 4), (4, 0, 3)], [0, 1, 2, 3, 4])
    navigator = Navigator(both)
    navigator.observe(None, 0)
    assert navigator.plan(3).nodes.tolist() == [0, 1, 3]
    assert navigator.plan(3, avoid=[1]).nodes.tolist() == [0, 2, 4, 3]
    assert navigator.plan(3, avoid=[1, 4]).nodes.tolist() == [0, 1, 3]
    assert navigator.plan(Showing(4), avoid=[4]).nodes.tolist() == [0, 2, 4]
    assert navigator.next_action(3, avoid=[1]) == 1
    assert navigator.next_action(0) is None


def test_through_a_gymnasium_environment():
    class Corridor(gymnasium.Env):
        """Five cells in a row; the middle three look alike."""

        observation_space = gymnasium.spaces.Discrete(3)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.cell = int(self.np_random.integers(5))
            return self.seen(), {}

        def step(self, action):
            self.cell = min(max(self.cell + (1 if action else -1), 0), 4)
            return self.seen(), 0.0, False, False, {}

        def seen(self):
            return {0: 0, 4: 2}.get(self.cell, 1)

    steps = [
        (cell, action, min(max(cell + (1 if action else -1), 0), 4)) for cell in range(5) for action in (0, 1)
    ]
    corridor = map_from_edges(steps, [0, 1, 1, 1, 2], observation_labels=("left", "plain", "right"))
    names = ("left", "plain", "right")
    for seed in range(10):
        stepper = GymStepper(Corridor(), index_of=names.__getitem__, seed=seed)
        navigator = Navigator(corridor, np.random.default_rng(seed))
        navigator.observe(None, stepper.observation)
        assert navigator.walk_to(2, stepper, 60).reached
        assert stepper.environment.cell == 2


def test_bad_input():
    line = map_from_edges([(0, 0, 1), (1, 0, 2)], [0, 1, 2])
    navigator = Navigator(line)
    with pytest.raises(NotOnMap, match="must have observed something before it walks"):
        navigator.walk_to(2, lambda action: 0)
    with pytest.raises(NotOnMap, match="`observation` must be an observation of the map, 0 to 2, got 9"):
        navigator.observe(None, 9)
    navigator.observe(None, 2)
    with pytest.raises(NotOnMap, match=r"`action` must be in \[0, 1\), got 4"):
        navigator.observe(4, 1)
    with pytest.raises(NoPath, match="no path on the map leads from node 2 to node 0"):
        navigator.next_action(0)
    with pytest.raises(NoPath, match="no path on the map leads from node 2 to node 0"):
        navigator.plan(0)
    with pytest.raises(BadConfig, match="`sure` must be between 0 and 1, both excluded, got 1"):
        Navigator(line, sure=1)
    with pytest.raises(BadWorld, match=r"`position` must be in \[0, 12\), got 12"):
        TableStepper(torus(3, 4), 12)


def test_on_a_map_with_chance_it_follows_a_policy_and_arrives():
    world = with_slip(AliasedRoom(6, 8), 0.2)
    found, rng = true_chance_map(world), np.random.default_rng(5)
    navigator = Navigator(found, rng)
    assert navigator.by_chance
    for _ in range(20):
        stepper = TableStepper(world, int(rng.integers(48)), rng)
        goal = int(rng.integers(48))
        navigator.reset()
        navigator.observe(None, stepper.observation)
        assert navigator.walk_to(goal, stepper, 600).reached


def test_what_is_ruled_out_is_not_believed():
    navigator = Navigator(map_from_edges([(0, 0, 1), (1, 0, 0)], [0, 0]))
    navigator.observe(None, 0)
    navigator.rule_out(0)
    assert navigator.belief.tolist() == [0, 1]


def test_an_action_that_does_not_do_what_the_map_says_is_tried_less():
    # By the map action 0 leads from 0 to the goal 1 nine times in ten; in the world it stays. Action 1 goes by 2.
    found = map_from_edges(
        [(0, 0, 1, 900), (0, 0, 3, 100), (0, 1, 2, 1000), (2, 0, 1, 1000), (3, 0, 0, 1000), (1, 0, 0, 1000)],
        [0, 1, 2, 3],
        edge_probability=np.array([0.9, 0.1, 1, 1, 1, 1]),
    )
    found = dataclasses.replace(found, node_support=np.full(4, 1000))
    world, position = {(0, 0): 0, (0, 1): 2, (2, 0): 1, (3, 0): 0, (1, 0): 0}, 0

    def step(action):
        nonlocal position
        position = world.get((position, action), position)
        return position

    navigator = Navigator(found)
    navigator.observe(None, 0)
    journey = navigator.walk_to(1, step, 30)
    assert journey.reached
    assert position == 1
    assert journey.surprises >= 1


def test_an_agent_that_waits_to_be_told_where_it_is_looks_around_in_the_end():
    """Nodes 0 and 1 look alike. Action 0 leads from 0 to the goal, and from 1 far away; action 1 the other way round.

    Action 2 stays, and costs less than a guess if the agent knew its node one step later. Only action 3 tells.
    """
    far = 8
    edges = [(0, 0, 2), (1, 1, 2), (0, 1, 5), (1, 0, 5), (0, 2, 0), (1, 2, 1), (0, 3, 3), (1, 3, 4)]
    edges += [(3, 0, 0), (4, 0, 1), (2, 0, 2)]
    edges += [(5 + step, 0, 6 + step) for step in range(far)] + [(5 + far, 0, 2)]
    table = {(source, action): target for source, action, target in edges}
    shows = [0, 0, 1, 2, 3, *[4] * (far + 1)]
    slips = [(2, 1, 2), (2, 1, 0), (2, 2, 1)]  # so that there is chance on the map
    found = map_from_edges(
        [(*edge, 1000) for edge in edges + slips],
        shows,
        edge_probability=np.array([1.0] * len(edges) + [0.5, 0.5, 1]),
    )
    navigator = Navigator(dataclasses.replace(found, node_support=np.full(len(shows), 1000)))
    assert navigator.by_chance
    position = 1

    def step(action):
        nonlocal position
        position = table[position, action]
        return shows[position]

    navigator.observe(None, 0)
    journey = navigator.walk_to(2, step, 40)
    assert journey.reached
    assert journey.actions[0] == 2
    assert 3 in journey.actions
    assert len(journey) < 16
