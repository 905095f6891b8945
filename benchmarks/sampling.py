"""Walks a second, beside a plain loop over steps in the same run, on one thread.

python -m benchmarks.sampling
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.records import TableWorld
from cogmap.walks.sample import sample_walks

WALKS, STEPS = 2048, 400
PLAIN_WALKS = 20  # enough for a steady time a step
MIN_STEPS_A_SECOND, MIN_RATIO = 5e6, 100
REPEATS = 9


def numpy_loop(world: TableWorld, walks: int) -> None:
    """As one writes it first: the world's arrays and a numpy generator, a step at a time."""
    rng = np.random.default_rng(0)
    observations, positions = np.empty((walks, STEPS), int), np.empty((walks, STEPS), int)
    actions = np.empty((walks, STEPS - 1), int)
    legal = [np.flatnonzero(row) for row in world.legal_actions()]
    for walk in range(walks):
        position = rng.integers(world.num_positions)
        for step in range(STEPS):
            positions[walk, step] = position
            observations[walk, step] = world.observation[position]
            if step < STEPS - 1:
                action = legal[position][rng.integers(len(legal[position]))]
                actions[walk, step] = action
                position = world.next_position[position, action]


def list_loop(world: TableWorld, walks: int) -> None:
    """As fast as plain Python goes: lists and the standard library's generator, no array anywhere."""
    rng = random.Random(0)
    after, seen = world.next_position.tolist(), world.observation.tolist()
    legal = [np.flatnonzero(row).tolist() for row in world.legal_actions()]
    for _ in range(walks):
        position = rng.randrange(len(seen))
        positions, observations, actions = [position], [seen[position]], []
        for _ in range(STEPS - 1):
            actions.append(rng.choice(legal[position]))
            position = after[position][actions[-1]]
            positions.append(position)
            observations.append(seen[position])


def seconds_a_step(work: Callable[[], object], walks: int) -> float:
    """Processor time of the best of a few tries, so that other work on the machine counts little."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) / (walks * STEPS)


def main() -> bool:
    """Print the table; true if every row is within its limits."""
    print(f"sampling {WALKS} walks of {STEPS} steps in a 15x20 room, processor time, best of {REPEATS}")
    good = True
    for world in (AliasedRoom(), AliasedRoom(bump="resample")):
        bump = "stay" if world.legal is None else "resample"
        ours = seconds_a_step(lambda w=world: sample_walks(w, WALKS, STEPS, np.random.default_rng(0)), WALKS)
        plain = seconds_a_step(lambda w=world: numpy_loop(w, PLAIN_WALKS), PLAIN_WALKS)
        lists = seconds_a_step(lambda w=world: list_loop(w, PLAIN_WALKS), PLAIN_WALKS)
        good &= 1 / ours >= MIN_STEPS_A_SECOND and plain / ours >= MIN_RATIO
        print(
            f"  {bump:9s} {1e-6 / ours:6.1f} million steps/s (at least {MIN_STEPS_A_SECOND / 1e6:g}), "
            f"{plain / ours:5.0f} times a loop over numpy arrays (at least {MIN_RATIO}), "
            f"{lists / ours:4.0f} times a loop over lists"
        )
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
