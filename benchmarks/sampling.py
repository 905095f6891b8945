"""Sampled steps per second, compared with a plain loop over steps in the same run, on one thread.

python -m benchmarks.sampling
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.records import TableWorld
from cogmap.walks.sample import sample_walks

WALKS, STEPS = 2048, 400
PLAIN_WALKS = 20  # enough for a stable time per step
MIN_STEPS_A_SECOND, MIN_RATIO = 5e6, 100
REPEATS = 9


def numpy_loop(world: TableWorld, walks: int) -> None:
    """A plain loop over steps with the world's arrays and a numpy generator."""
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
    """The fastest plain Python: lists and the standard library's generator, without arrays."""
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


def best_times(works: Sequence[Callable[[], object]]) -> list[float]:
    """Processor time of the best of a few tries each, in turns, so that other load affects all of them."""
    best = [float("inf")] * len(works)
    for _ in range(REPEATS):
        for index, work in enumerate(works):
            start = time.process_time()
            work()
            best[index] = min(best[index], time.process_time() - start)
    return best


def steps_a_second(world: TableWorld) -> list[float]:
    """Ours, the loop over arrays, the loop over lists."""
    works = [
        lambda: sample_walks(world, WALKS, STEPS, np.random.default_rng(0)),
        lambda: numpy_loop(world, PLAIN_WALKS),
        lambda: list_loop(world, PLAIN_WALKS),
    ]
    walks = (WALKS, PLAIN_WALKS, PLAIN_WALKS)
    return [count * STEPS / spent for count, spent in zip(walks, best_times(works), strict=True)]


def main() -> bool:
    """Print the table; true if every row is within its limits."""
    print(f"sampling {WALKS} walks of {STEPS} steps in a 15x20 room, processor time, best of {REPEATS}")
    good = True
    for bump in ("stay", "resample"):
        ours, arrays, lists = steps_a_second(AliasedRoom(bump=bump))
        good &= ours >= MIN_STEPS_A_SECOND and ours / arrays >= MIN_RATIO
        print(
            f"  {bump:9s} {ours / 1e6:5.1f} million steps/s (at least {MIN_STEPS_A_SECOND / 1e6:g}), "
            f"{ours / arrays:4.0f} times as fast as a loop over numpy arrays (at least {MIN_RATIO}), "
            f"{ours / lists:3.0f} times as fast as a loop over lists"
        )
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
