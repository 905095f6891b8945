"""Goals reached in the world itself: a navigator with a learned map, put down anywhere, sent somewhere."""

from __future__ import annotations

import numpy as np

from cogmap.planning.navigator import Navigator
from cogmap.planning.steppers import TableStepper
from cogmap.records import CognitiveMap, Integers, TableWorld

LONGEST = 400  # actions before an attempt is given up


def goals_reached(
    cognitive_map: CognitiveMap, world: TableWorld, place: Integers, goals: int, rng: np.random.Generator
) -> float:
    """The share of `goals` at which the agent says that it is there, and is.

    `place` (V,) is the position that each node stands for: the referee knows it, the agent sees observations only.
    """
    if cognitive_map.num_nodes == 0:
        return 0.0
    reached = 0
    for _ in range(goals):
        stepper = TableStepper(world, int(rng.integers(world.num_positions)))
        goal = int(rng.integers(cognitive_map.num_nodes))
        navigator = Navigator(cognitive_map, rng)
        navigator.observe(None, stepper.observation)
        journey = navigator.walk_to(goal, stepper, LONGEST)
        reached += journey.reached and stepper.position == place[goal]
    return reached / goals
