"""True places of a map's nodes without a model: elimination by the side of the belief filter, as processor time.

python -m benchmarks true_places
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from cogmap.environments import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.planning.localise import estimated_nodes, track
from cogmap.walks.sample import sample_walks

MOST = 0.5  # of the filter's time, at 2,000 nodes
STEPS_A_NODE, STEPS = 40, 400


def seconds(work: Callable[[], object]) -> float:
    """The faster of two runs."""
    times = []
    for _ in range(2):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def compared(height: int, width: int) -> float:
    world = AliasedRoom(height, width)
    walks, _ = sample_walks(
        world, STEPS_A_NODE * world.num_positions // STEPS, STEPS, np.random.default_rng(0)
    )
    found, seen, done = true_map(world), walks.observations, walks.actions
    elimination = seconds(lambda: estimated_nodes(found, seen, done, walks.lengths))
    ratio = elimination / seconds(lambda: track(found, seen, done))
    told = f"{elimination:.3f} s, {ratio:.2f} of the filter's time"
    print(f"  {found.num_nodes:5d} nodes, {seen.size:6d} steps  {told}")
    return ratio


def main() -> bool:
    """Print the table; true if the last row is within its limit."""
    print("where an agent without a model was, by elimination")
    ratios = [compared(15, 20), compared(40, 50)]
    return ratios[-1] < MOST


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
