"""The ceiling of the paper's walks: its value, and its time on one thread.

python -m benchmarks.ceiling [rooms]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from cogmap.environments import AliasedCube, AliasedRoom
from cogmap.evaluation.prediction import ceiling
from cogmap.records import TableWorld
from cogmap.walks.sample import sample_walks

WALKS, STEPS, LIMIT = 2048, 400, 20.0  # seconds
WORLDS: dict[str, tuple[Callable[[int], TableWorld], float]] = {
    "room 15x20, O=4, stay": (lambda seed: AliasedRoom(seed=seed), 99.43),
    "room 15x20, O=4, resample": (lambda seed: AliasedRoom(bump="resample", seed=seed), 99.47),
    "room 15x20, O=12, stay": (lambda seed: AliasedRoom(observations=12, seed=seed), 99.65),
    "cube of edge 6, O=12": (lambda seed: AliasedCube(seed=seed), 99.69),
}


def measure(make: Callable[[int], TableWorld], rooms: int) -> tuple[list[float], float]:
    """The ceiling in each of `rooms` worlds, in %, and the seconds of the slowest."""
    found, slowest = [], 0.0
    for seed in range(rooms):
        world = make(seed)
        walks, _ = sample_walks(world, WALKS, STEPS, np.random.default_rng(seed))
        start = time.perf_counter()
        found.append(100 * ceiling(walks, world).accuracy)
        slowest = max(slowest, time.perf_counter() - start)
    return found, slowest


def main(rooms: int = 3) -> bool:
    """Print the table; true if every row is within its limits."""
    good = True
    print(f"ceiling of {WALKS} walks of {STEPS} steps, mean of {rooms} worlds (limit {LIMIT:.0f} s)")
    for name, (make, expected) in WORLDS.items():
        found, seconds = measure(make, rooms)
        good &= seconds < LIMIT and abs(np.mean(found) - expected) < 0.05
        print(f"  {name:28s} {np.mean(found):.2f} % (expected {expected})  {seconds:5.2f} s")
    return good


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:2])) else 1)
