"""The navigator in MiniGrid's four rooms with a view of three by three cells, through Gymnasium."""

import gymnasium
import numpy as np
import pytest

from cogmap.evaluation.ged import true_map
from cogmap.planning.navigator import Navigator
from cogmap.planning.steppers import GymStepper
from cogmap.records import TableWorld

minigrid_wrappers = pytest.importorskip("minigrid.wrappers")


class FourRooms(gymnasium.Wrapper):
    """Always the same rooms; `reset` puts the agent anywhere in them."""

    def __init__(self):
        super().__init__(
            gymnasium.make("MiniGrid-FourRooms-v0", agent_view_size=3, max_steps=10**6).unwrapped
        )
        self.env.reset(seed=1)
        grid = self.env.grid
        cells = [(x, y) for x in range(grid.width) for y in range(grid.height)]
        self.poses = [
            (*cell, heading)
            for cell in cells
            if grid.get(*cell) is None or grid.get(*cell).can_overlap()
            for heading in range(4)
        ]

    def put(self, pose):
        self.env.agent_pos, self.env.agent_dir = tuple(pose[:2]), pose[2]

    def pose(self):
        return (*(int(axis) for axis in self.env.agent_pos), int(self.env.agent_dir))

    def seen(self):
        return self.env.gen_obs()["image"].tobytes()

    def reset(self, *, seed=None, options=None):
        self.put(self.poses[np.random.default_rng(seed).integers(len(self.poses))])
        return self.seen(), {}

    def step(self, action):
        self.env.step(action)
        return self.seen(), 0.0, False, False, {}


def explored(rooms):
    """The rooms as a table, and its views, by trying every action everywhere."""
    index = {pose: number for number, pose in enumerate(rooms.poses)}
    table, views = np.zeros((len(index), 3), dtype=int), []
    for pose, number in index.items():
        for action in range(3):
            rooms.put(pose)
            if action == 0:
                views.append(rooms.seen())
            rooms.step(action)
            table[number, action] = index[rooms.pose()]
    names = sorted(set(views))
    return index, names, table, np.array([names.index(view) for view in views])


def places(table, shown):
    """(P,) a number for each pose, the same for poses that no walk can distinguish."""
    block = shown
    while True:
        _, finer = np.unique(np.column_stack([block, block[table]]), axis=0, return_inverse=True)
        if finer.max() == block.max():
            return finer.reshape(-1)
        block = finer.reshape(-1)


def test_goals_in_four_rooms_are_reached():
    rooms = FourRooms()
    index, names, table, shown = explored(rooms)
    place = places(table, shown)
    first = np.unique(place, return_index=True)[1]
    world = TableWorld(place[table[first]], shown[first], len(names))
    navigator = Navigator(true_map(world), np.random.default_rng(0))
    assert len(names) < world.num_positions / 4  # most poses share their view
    for seed in range(12):
        stepper = GymStepper(rooms, index_of=names.index, seed=seed)
        goal = int(place[np.random.default_rng(100 + seed).integers(len(place))])
        navigator.reset()
        navigator.observe(None, stepper.observation)
        journey = navigator.walk_to(goal, stepper, 600)
        assert journey.reached
        assert place[index[rooms.pose()]] == goal
