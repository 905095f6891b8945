"""Speed of plans, of the navigator and of the bounds of NormGED, compared with networkx in the same run.

python -m benchmarks.planning
"""

from __future__ import annotations

import sys
import time

import networkx
import numpy as np

from cogmap.environments import AliasedRoom
from cogmap.environments.table import from_tables
from cogmap.evaluation.ged import edit_distance, map_graph, true_map, world_graph
from cogmap.planning.navigator import Navigator
from cogmap.planning.shortest_paths import Problem, solve_many
from cogmap.planning.steppers import TableStepper
from cogmap.records import CognitiveMap, TableWorld

from ._timing import best_seconds

LARGE_SIDE = 316  # 99,856 nodes
REPEATS = 5


def grid(side: int) -> TableWorld:
    """A plain square grid, larger than `AliasedRoom` allows."""
    cells = np.arange(side * side).reshape(side, side)
    padded = np.pad(cells, 1, mode="edge")
    moves = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
    return from_tables(np.stack([move.ravel() for move in moves], axis=1), np.zeros(side * side, int))


def random_problems(cognitive_map: CognitiveMap, count: int) -> list[Problem]:
    ends = np.random.default_rng(0).integers(cognitive_map.num_nodes, size=(count, 2)).tolist()
    return [Problem(start, goal) for start, goal in ends]


def plans(cognitive_map: CognitiveMap, count: int) -> tuple[float, float]:
    """Seconds per plan over `count` problems between random nodes: ours, and networkx."""
    problems = random_problems(cognitive_map, count)
    solve_many(cognitive_map, problems[:1])  # the graph is made once for a map, not once for a plan
    ours = best_seconds(lambda: solve_many(cognitive_map, problems), REPEATS) / count
    graph = networkx.DiGraph(
        zip(cognitive_map.edge_source.tolist(), cognitive_map.edge_target.tolist(), strict=True)
    )

    def by_networkx() -> None:
        for problem in problems:
            networkx.shortest_path(graph, problem.start, problem.goal)

    return ours, best_seconds(by_networkx, 2) / count


def navigator_step() -> float:
    """Seconds per step in closed loop; half of the steps are for localisation."""
    world = AliasedRoom()
    navigator = Navigator(true_map(world))
    rng = np.random.default_rng(0)
    steps, spent = 0, 0.0
    for start, goal in rng.integers(world.num_positions, size=(50, 2)).tolist():
        stepper = TableStepper(world, start)
        navigator.reset()
        navigator.observe(None, stepper.observation)
        began = time.process_time()
        steps += len(navigator.walk_to(goal, stepper, 400))
        spent += time.process_time() - began
    return spent / steps


def ged_bounds() -> float:
    """Seconds for a 15x20 room and a map with duplicate nodes and wrong edges."""
    world = AliasedRoom()
    right, rng = true_map(world), np.random.default_rng(0)
    position = np.arange(world.num_positions, dtype=np.int32)
    position[rng.choice(world.num_positions, 30, replace=False)] = rng.integers(world.num_positions, size=30)
    return best_seconds(lambda: edit_distance(map_graph(right, position), world_graph(world)), REPEATS)


def report(name: str, value: float, limit: float, unit: str = "ms") -> bool:
    print(f"  {name:52s} {value:9.3f} {unit} (limit {limit:g} {unit})")
    return value < limit


def main() -> bool:
    """Print the table; true if every row is within its limit."""
    print("planning, processor time, best of a few tries")
    small, _ = plans(true_map(AliasedRoom()), 1000)
    large, by_networkx = plans(true_map(grid(LARGE_SIDE)), 40)
    good = report("a plan on 300 nodes, in a batch of 1000", 1000 * small, 0.1)
    good &= report(f"a plan on {LARGE_SIDE**2} nodes", 1000 * large, 5)
    ratio = by_networkx / large
    print(
        f"  networkx.shortest_path there {1000 * by_networkx:.0f} ms: {ratio:.0f} times as long (at least 25)"
    )
    good &= ratio >= 25
    good &= report("a step of the navigator on 300 nodes", 1000 * navigator_step(), 3)
    good &= report("the bounds of NormGED of a 15x20 room", ged_bounds(), 1, "s")
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
