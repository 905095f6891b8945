"""Gymnasium both ways: our worlds under its checker, and other people's environments recorded."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from room_views import needs_graphics

from cogmap.environments import (
    AliasedCube,
    AliasedRoom,
    maze_from_text,
    optimal_route,
    room_families,
    street_network,
    torus,
    with_slip,
    with_start,
)
from cogmap.environments.gym import CELL, WorldEnv, make_environment, picture_from_above, register_world
from cogmap.environments.gym import WORLDS as WORLDS_BY_NAME
from cogmap.errors import BadWalks, BadWorld
from cogmap.walks.record import record_walks, view_label

WORLDS = {
    "room": AliasedRoom(6, 8),
    "room, resample": AliasedRoom(6, 8, bump="resample"),
    "cube": AliasedCube(3),
    "torus": torus(one_way_doors=4),
    "maze": maze_from_text("aab\nb#v\naba"),
    "room of a family": room_families(5, 5)[0].room(0),
    "streets": street_network(40, 0.1),
    "slips": with_start(with_slip(AliasedRoom(6, 8), 0.3), 5),
}


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
def test_every_world_passes_the_checker(world):
    check_env(WorldEnv(world, goal=3, max_steps=50), skip_render_check=True)


REGISTERED = {
    "AliasedRoom": {"height": 6, "width": 8, "bump": "resample"},
    "AliasedCube": {"edge": 2},
    "Torus": {"one_way_doors": 4, "seed": 3},
    "Maze": {"drawing": "aab\nb#v\naba"},
    "Streets": {"corners": 40, "one_way": 0.2},
    "EgocentricRoom": {"height": 3, "width": 3, "textures": "painted"},
}


def test_every_registered_world_is_tested():
    assert set(REGISTERED) == set(WORLDS_BY_NAME)


@pytest.mark.parametrize("render_mode", [None, "rgb_array", "ansi"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_graphics if "Egocentric" in name else ()) for name in REGISTERED]
)
def test_a_registered_world_passes_the_checker_in_every_render_mode(name, render_mode):
    """Warnings are errors in our tests: the checker has none."""
    env = gymnasium.make(
        f"cogmap/{name}-v0", goal=3, max_steps=50, render_mode=render_mode, **REGISTERED[name]
    )
    check_env(env.unwrapped)
    env.reset(seed=0)
    for action in (0, 1, 0, 2):
        env.step(action)
    shown = env.render() if render_mode else None
    assert type(shown) is {None: type(None), "rgb_array": np.ndarray, "ansi": str}[render_mode]


def test_a_registered_world_is_the_world_of_its_settings():
    env = gymnasium.make("cogmap/AliasedRoom-v0", height=6, width=8, bump="resample", seed=5)
    expected = AliasedRoom(6, 8, bump="resample", seed=5)
    assert np.array_equal(env.unwrapped.world.observation, expected.observation)
    assert np.array_equal(env.unwrapped.world.legal, expected.legal)
    with pytest.raises(BadWorld, match="`render_mode` must be None or one of"):
        WorldEnv(expected, render_mode="human")
    with pytest.raises(BadWorld, match="`views` must be False in a world without views, got 'room'"):
        WorldEnv(expected, views=True)


def test_others_may_register_worlds():
    register_world("Ring", "cogmap.environments.table:from_tables", observation=[0, 1, 0])
    env = gymnasium.make("cogmap/Ring-v0", next_position=[[1], [2], [0]], render_mode="ansi")
    env.reset(options={"position": 0})
    assert [int(env.step(0)[0]) for _ in range(3)] == [1, 0, 0]
    assert env.render() == "[0] 1  0"


def test_what_is_drawn_from_above():
    env = WorldEnv(WORLDS["maze"], render_mode="ansi")
    env.reset(options={"position": 6})
    assert env.render().split("\n") == [" a  a  b", " b     v", " a [b] a"]
    picture = picture_from_above(WORLDS["maze"], 6)
    cells = picture[::CELL, ::CELL]  # (3, 3, 3) the upper left pixel of each cell
    alike = (cells.reshape(9, 1, 3) == cells.reshape(1, 9, 3)).all(axis=2)  # (9, 9)
    drawn = np.array(list("aabb#vaba"))
    assert np.array_equal(alike, drawn[:, None] == drawn)
    dotted = (picture != cells.repeat(CELL, axis=0).repeat(CELL, axis=1)).any(axis=2)
    assert np.unique(np.argwhere(dotted) // CELL, axis=0).tolist() == [[2, 1]]


@needs_graphics
def test_a_3d_room_shows_its_views():
    env = gymnasium.make("cogmap/EgocentricRoom-v0", **REGISTERED["EgocentricRoom"], render_mode="rgb_array")
    seen, _ = env.reset(seed=2)
    room = env.unwrapped.world
    assert np.array_equal(seen, room.views[env.unwrapped.position])
    assert np.array_equal(env.render(), seen)
    walks = record_walks(env, 3, 8, seed=1, same_place=False)
    assert 1 < walks.num_observations <= 24


def test_a_step_follows_the_tables():
    world = WORLDS["maze"]
    env = WorldEnv(world)
    for position, action in np.ndindex(*world.next_position.shape):
        env.reset(seed=0, options={"position": position})
        seen, reward, terminated, truncated, _ = env.step(np.int64(action))
        target = world.next_position[position, action]
        assert (env.position, seen) == (target, world.observation[target])
        assert (reward, terminated, truncated) == (0.0, False, False)


def test_the_optimal_route_reaches_the_goal_and_its_reward():
    world = WORLDS["room, resample"]
    env = WorldEnv(world, goal=40)
    env.reset(seed=0, options={"position": 2})
    outcomes = [env.step(action)[1:3] for action in optimal_route(world, 2, 40).actions]
    assert outcomes == [(0.0, False)] * (len(outcomes) - 1) + [(1.0, True)]


def test_an_illegal_action_stays_and_the_mask_says_so():
    env = WorldEnv(WORLDS["room, resample"])
    _, info = env.reset(seed=0, options={"position": 0})
    assert info["action_mask"].tolist() == [0, 1, 0, 1]  # up and left are walls
    env.step(np.int64(0))
    assert env.position == 0
    assert env.action_space.sample(mask=info["action_mask"]) in (1, 3)


def test_episodes_are_cut_off():
    env = WorldEnv(WORLDS["room"], max_steps=2)
    env.reset(seed=0)
    assert [env.step(np.int64(0))[3] for _ in range(2)] == [False, True]


def test_recording_our_own_world_gives_walks_in_it():
    world = WORLDS["room, resample"]
    env = WorldEnv(world)
    walks = record_walks(env, 20, 30, seed=4, same_place=False)
    again = record_walks(env, 20, 30, seed=4, same_place=False)
    assert np.array_equal(walks.observations, again.observations)
    assert np.array_equal(walks.actions, again.actions)
    assert (walks.num_observations, walks.num_actions) == (4, 4)
    possible = np.equal.outer(walks.observations[:, 0], world.observation)  # (B, P)
    for step in range(29):
        moved = np.zeros_like(possible)
        for walk, position in np.argwhere(possible):
            action = walks.actions[walk, step]
            if world.legal[position, action]:
                target = world.next_position[position, action]
                moved[walk, target] = world.observation[target] == walks.observations[walk, step + 1]
        possible = moved
    assert possible.any(axis=1).all()


def test_an_episode_that_ends_is_a_shorter_walk():
    walks = record_walks(WorldEnv(WORLDS["maze"], goal=0), 30, 40, seed=0, same_place=False)
    assert walks.lengths.min() < 40
    assert walks.lengths.max() == walks.num_steps


class Showing(gymnasium.Env):
    """A ring of four views in any space, with actions 5 and 6; it hands out the same array each time."""

    def __init__(self, space, views):
        self.observation_space, self.views = space, views
        self.action_space = gymnasium.spaces.Discrete(2, start=5)
        self.place = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self.views(self.place), {}

    def step(self, action):
        self.place = (self.place + {5: 1, 6: -1}[int(action)]) % 4
        return self.views(self.place), 0.0, False, False, {}


_buffer = np.zeros(2, np.int64)


def _overwritten(place):
    _buffer[:] = place
    return _buffer


SPACES = {
    "discrete": (gymnasium.spaces.Discrete(4, start=2), lambda place: np.int64(place + 2)),
    "multi-discrete": (gymnasium.spaces.MultiDiscrete([4, 4]), _overwritten),
    "box": (gymnasium.spaces.Box(0, 1, (2, 3), np.float32), lambda p: np.full((2, 3), p / 4, np.float32)),
    "dictionary": (
        gymnasium.spaces.Dict(
            {"image": gymnasium.spaces.Box(0, 9, (2,), np.uint8), "word": gymnasium.spaces.Text(5)}
        ),
        lambda place: {"image": np.array([place // 2, 0], np.uint8), "word": "ab"[place % 2]},
    ),
    "tuple": (
        gymnasium.spaces.Tuple((gymnasium.spaces.Discrete(2), gymnasium.spaces.MultiBinary(1))),
        lambda place: (place // 2, np.array([place % 2], np.int8)),
    ),
}


@pytest.mark.parametrize(("space", "views"), SPACES.values(), ids=SPACES.keys())
def test_any_kind_of_view_becomes_categorical(space, views):
    walks = record_walks(Showing(space, views), 5, 40, seed=1)
    place = np.cumsum(np.where(walks.actions == 0, 1, -1), axis=1) % 4  # (B, N - 1) where the ring's agent is
    place = np.concatenate([np.zeros((5, 1), int), place], axis=1)
    assert walks.num_observations == 4
    assert walks.num_actions == 2
    number = [walks.observations[place == at][0] for at in range(4)]
    assert sorted(number) == [0, 1, 2, 3]
    assert np.array_equal(walks.observations, np.array(number)[place])
    if walks.observation_labels:
        assert walks.observation_labels[number[2]] == view_label(views(2))


def test_actions_to_draw_from():
    env = Showing(*SPACES["discrete"])
    walks = record_walks(env, 3, 9, actions=[6])
    assert walks.num_actions == 1
    assert walks.action_labels == ("6",)
    assert walks.observations[0].tolist() == [0, 3, 2, 1, 0, 3, 2, 1, 0]


def test_minigrid_four_rooms():
    pytest.importorskip("minigrid")
    env = gymnasium.make("MiniGrid-FourRooms-v0", agent_view_size=3)
    left, right, forward = 0, 1, 2
    walks = record_walks(env, 4, 60, seed=7, actions=[left, right, forward])
    assert walks.num_actions == 3
    assert len(set(walks.observations[:, 0].tolist())) == 1  # the same place and start each time
    assert 5 < walks.num_observations < 60  # aliased: fewer views than steps
    # Turning left four times shows the first view again: the labels follow what is seen.
    seen, _ = env.reset(seed=7)
    first = view_label(seen)
    assert walks.observation_labels[walks.observations[0, 0]] == first
    turned = [view_label(env.step(left)[0]) for _ in range(4)]
    assert turned[3] == first
    assert first not in turned[:3]  # the direction is part of the view
    more = record_walks(env, 2, 9, seed=7, actions=[left, right], observation_labels=walks.observation_labels)
    assert more.observation_labels == walks.observation_labels


def test_a_name_without_its_family_is_found():
    pytest.importorskip("minigrid")
    assert make_environment("Empty-6x6-v0", {}).spec.id == "MiniGrid-Empty-6x6-v0"


@pytest.mark.filterwarnings("ignore:Maze environments have been shown:DeprecationWarning")
def test_popgym_labyrinth():
    labyrinth = pytest.importorskip("popgym.envs.labyrinth_explore")
    env = labyrinth.LabyrinthExplore(maze_dims=(10, 10))
    walks = record_walks(env, 3, 80, seed=0)
    assert walks.num_actions == 4
    assert (walks.lengths == 80).all()
    assert 8 < walks.num_observations < 240
    # The first view is that of reset, whatever comes after.
    assert len(set(walks.observations[:, 0].tolist())) == 1
    env.reset(seed=0)
    replayed = [view_label(env.step(int(action))[0]) for action in walks.actions[1]]
    assert [walks.observation_labels[seen] for seen in walks.observations[1, 1:]] == replayed


class Continuous(Showing):
    def __init__(self):
        super().__init__(*SPACES["discrete"])
        self.action_space = gymnasium.spaces.Box(0, 1, (1,))


class Stuck(Showing):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"action_mask": np.array([1, 0])}


def test_bad_recordings():
    env = Showing(*SPACES["box"])
    with pytest.raises(BadWalks, match="an environment must have discrete actions, got Box"):
        record_walks(Continuous(), 1, 5)
    with pytest.raises(BadWalks, match=r"`actions` must be distinct and from 5 to 6, got \[4\]"):
        record_walks(env, 1, 5, actions=[4])
    with pytest.raises(BadWalks, match=r"`actions` must be distinct and from 5 to 6, got \[5, 5\]"):
        record_walks(env, 1, 5, actions=[5, 5])
    with pytest.raises(BadWalks, match=r"`walks` \(=0\) must be at least 1 and `steps` \(=5\) at least 2"):
        record_walks(env, 0, 5)
    with pytest.raises(BadWalks, match="one of the 1 known ones"):
        record_walks(env, 1, 5, observation_labels=("other",))
    with pytest.raises(BadWalks, match=r"one of the actions \[6\] must be legal, got none at step 0"):
        record_walks(Stuck(*SPACES["box"]), 1, 5, actions=[6])


def test_bad_environments():
    with pytest.raises(BadWorld, match=r"`goal` must be a position in \[0, 48\), got 48"):
        WorldEnv(WORLDS["room"], goal=48)
    with pytest.raises(BadWorld, match="`max_steps` must be at least 1, got 0"):
        WorldEnv(WORLDS["room"], max_steps=0)
    env = WorldEnv(WORLDS["room"])
    env.reset(seed=0)
    with pytest.raises(BadWorld, match=r"`action` must be an integer in \[0, 4\), got 4"):
        env.step(4)
    with pytest.raises(BadWorld, match=r"`position` must be in \[0, 48\), got 99"):
        env.reset(options={"position": 99})


@pytest.mark.parametrize(
    ("module", "missing", "line"),
    [("environments.gym", "gymnasium", "cogmap[gym]"), ("walks.minari", "minari", "cogmap[data]")],
)
def test_a_missing_extra_names_the_line_that_installs_it(module, missing, line):
    script = f"""
import sys
sys.modules[{missing!r}] = None
from cogmap.errors import MissingExtra
try:
    import cogmap.{module}
except MissingExtra as error:
    print(error)
"""
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert f'pip install "{line}"' in printed


def test_corners_off_the_grid_are_drawn_one_per_block():
    world = street_network(40, 0.1, seed=2)
    shown = WorldEnv(world, render_mode="ansi")
    shown.reset(seed=0, options={"position": 7})
    text = shown.render()
    assert text.count("[") == 1
    assert len(text.split()) >= 40
    assert picture_from_above(world, 7).shape <= (10 * CELL, 10 * CELL, 3)


def test_a_world_with_chance_and_a_known_start_as_an_environment():
    env = WorldEnv(WORLDS["slips"])
    arrived = set()
    for seed in range(200):
        env.reset(seed=seed)
        assert env.position == 5
        env.step(1)
        arrived.add(env.position)
    assert arrived == {4, 5, 6, 13}  # intended downwards, and slips to both sides and against the wall
