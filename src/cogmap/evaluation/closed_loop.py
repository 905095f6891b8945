"""Goals reached in the world itself: a navigator with a learned map, put down anywhere, sent somewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cogmap.environments.egocentric.renderer import open_renderer
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.errors import NoPath
from cogmap.planning.navigator import Navigator
from cogmap.planning.steppers import PixelStepper, TableStepper
from cogmap.records import CognitiveMap, Integers, TableWorld
from cogmap.walks.quantize import ViewQuantizer

LONGEST = 400  # actions before an attempt is given up


def goals_reached(
    cognitive_map: CognitiveMap, world: TableWorld, place: Integers, goals: int, rng: np.random.Generator
) -> float:
    """The share of `goals` at which the agent says that it is there, and is.

    `place` (V,) is the position that each node stands for: the referee knows it, the agent sees observations only.
    """
    return _share(cognitive_map, lambda start: TableStepper(world, start), world, place, goals, rng)


def goals_reached_from_pixels(
    cognitive_map: CognitiveMap,
    room: EgocentricRoom,
    quantizer: ViewQuantizer,
    place: Integers,
    goals: int,
    rng: np.random.Generator,
) -> float:
    """The same in a 3D room, whose views are rendered as the agent walks: it is given images and nothing else."""
    with open_renderer(room) as renderer:
        step = lambda start: PixelStepper(room, renderer.view, quantizer, start)  # noqa: E731
        return _share(cognitive_map, step, room, place, goals, rng)


def _share(
    cognitive_map: CognitiveMap,
    put_down: Callable[[int], TableStepper],
    world: TableWorld,
    place: Integers,
    goals: int,
    rng: np.random.Generator,
) -> float:
    if cognitive_map.num_nodes == 0:
        return 0.0
    reached = 0
    for _ in range(goals):
        stepper = put_down(int(rng.integers(world.num_positions)))
        goal = int(rng.integers(cognitive_map.num_nodes))
        reached += _reaches(cognitive_map, stepper, goal, rng) and stepper.position == place[goal]
    return reached / goals


def _reaches(cognitive_map: CognitiveMap, stepper: TableStepper, goal: int, rng: np.random.Generator) -> bool:
    """Whether the agent believes to have come to the goal."""
    navigator = Navigator(cognitive_map, rng)
    navigator.observe(None, stepper.observation)
    try:
        return navigator.walk_to(goal, stepper, LONGEST).reached
    except NoPath:  # an outcome: its map is in pieces
        return False
