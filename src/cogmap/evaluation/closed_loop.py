"""Closed-loop evaluation: a navigator with a learned map walks in the world from random starts to random goals."""

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

MAX_STEPS = 400  # actions before an attempt counts as failed


def goals_reached(
    cognitive_map: CognitiveMap, world: TableWorld, place: Integers, goals: int, rng: np.random.Generator
) -> float:
    """The share of `goals` at which the agent is sure to be at the goal, and is.

    `place` (V,) is the position that each node stands for. Only the scores use it; the agent sees observations only.
    """
    return _success_rate(
        cognitive_map, lambda start: TableStepper(world, start, rng), world, place, goals, rng
    )


def goals_reached_from_pixels(
    cognitive_map: CognitiveMap,
    room: EgocentricRoom,
    quantizer: ViewQuantizer,
    place: Integers,
    goals: int,
    rng: np.random.Generator,
) -> float:
    """The same in a 3D room, whose views are rendered as the agent walks: it gets images and nothing else."""
    with open_renderer(room) as renderer:
        step = lambda start: PixelStepper(room, renderer.view, quantizer, start)  # noqa: E731
        return _success_rate(cognitive_map, step, room, place, goals, rng)


def _success_rate(
    cognitive_map: CognitiveMap,
    make_stepper: Callable[[int], TableStepper],
    world: TableWorld,
    place: Integers,
    goals: int,
    rng: np.random.Generator,
) -> float:
    if cognitive_map.num_nodes == 0:
        return 0.0
    reached = 0
    for _ in range(goals):
        stepper = make_stepper(int(rng.integers(world.num_positions)))
        goal = int(rng.integers(cognitive_map.num_nodes))
        reached += _reaches(cognitive_map, stepper, goal, rng) and stepper.position == place[goal]
    return reached / goals


def _reaches(cognitive_map: CognitiveMap, stepper: TableStepper, goal: int, rng: np.random.Generator) -> bool:
    """Whether the agent believes that it reached the goal."""
    navigator = Navigator(cognitive_map, rng)
    navigator.observe(None, stepper.observation)
    try:
        return navigator.walk_to(goal, stepper, MAX_STEPS).reached
    except NoPath:  # the map is not connected, which counts as a failure
        return False
