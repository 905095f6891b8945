"""The figures that docs/paper_readings.md states about the paper's planning problems: no model, worlds only.

`python scripts/paper_readings.py` prints them, over ten rooms and ten cubes, in a minute or two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cogmap.environments.cube import AliasedCube
from cogmap.environments.oracle import optimal_distances, true_edges
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.planning import paper_problems, rollout_problems, score_rollouts
from cogmap.planning.rollouts import read_by_steps, roll_out
from cogmap.records import Integers, TableWorld, Truth, Walks
from cogmap.walks.sample import sample_walks

WORLDS, WALKS, STEPS, CONTEXT = 10, 2048, 400, 50


@dataclass
class Positions:
    at: Integers  # (R,)

    def rows(self, index: NDArray[np.integer]) -> Positions:
        return Positions(self.at[index])


class PerfectPredictor:
    """Finds the position by an exact filter over the context, and then follows every action in the world."""

    def __init__(self, world: TableWorld) -> None:
        self.world = world

    def begin(self, observations: Integers, actions: Integers) -> Positions:
        possible = self.world.observation == observations[:, :1]  # (R, P)
        for step in range(actions.shape[1]):
            row, position = np.nonzero(possible)
            possible = np.zeros_like(possible)
            possible[row, self.world.next_position[position, actions[row, step]]] = True
            possible &= self.world.observation == observations[:, step + 1, None]
        return Positions(possible.argmax(axis=1))

    def predict(self, state: Positions, actions: Integers) -> tuple[NDArray[np.float64], Positions]:
        at = self.world.next_position[state.at, actions]
        return np.eye(self.world.num_observations)[self.world.observation[at]], Positions(at)

    def advance(self, state: Positions, observations: Integers) -> Positions:
        return state

    def read(
        self, state: Positions, actions: Integers, observations: Integers
    ) -> tuple[NDArray[np.float64], Positions]:
        return read_by_steps(self, state, actions, observations)


def constrained_lengths(world: TableWorld, truth: Truth, rng: np.random.Generator) -> dict[str, float]:
    """Mean optimal lengths with one observation to avoid, drawn for each walk, by two readings of "when possible"."""
    start, goal = truth.positions[:, CONTEXT - 1], truth.positions[:, STEPS - CONTEXT - 1]
    avoid = rng.integers(world.num_observations, size=len(start))
    source, _, target = true_edges(world)
    free = optimal_distances(world)[start, goal]
    ours, fewest = free.copy(), free.copy()
    for seen in range(world.num_observations):
        asked = avoid == seen
        ours[asked] = optimal_distances(world, (seen,))[start[asked], goal[asked]]
        # A forbidden position costs more than any detour.
        cost = 1 + 1e6 * (world.observation[target] == seen)
        graph = csr_array((cost, (source, target)), shape=(world.num_positions,) * 2)
        fewest[asked] = dijkstra(graph)[start[asked], goal[asked]] % 1e6
    return {
        "no constraint": free.mean(),
        "around it, else the shortest of all (ours)": ours.mean(),
        "as few forbidden positions as possible": fewest.mean(),
    }


def rooms() -> Iterator[tuple[TableWorld, Walks, Truth]]:
    for seed in range(WORLDS):
        world = AliasedRoom(height=15, width=20, observations=4, seed=seed)
        yield world, *sample_walks(world, WALKS, STEPS, np.random.default_rng([seed, 3]))


def cubes() -> Iterator[tuple[TableWorld, Walks, Truth]]:
    for seed in range(WORLDS):
        world = AliasedCube(edge=6, observations=12, seed=seed)
        yield world, *sample_walks(world, WALKS, STEPS, np.random.default_rng([seed, 3]))


def shown(values: list[float]) -> str:
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean:.2f} ± {error:.2f} (from {min(values):.2f} to {max(values):.2f})"


def main() -> None:
    print(
        f"mean optimal length in {WORLDS} rooms of 15x20, {WALKS} problems each; the paper's 10.73 and 13.13 ± 0.23"
    )
    lengths = [constrained_lengths(world, truth, np.random.default_rng(0)) for world, _, truth in rooms()]
    for reading in lengths[0]:
        print(f"  {reading}: {shown([each[reading] for each in lengths])}")
    print(
        f"a perfect predictor that plans by rollouts, {WORLDS} worlds, 200 problems each: ImpFallback, RatioSP"
    )
    for name, worlds in (("room", rooms), ("cube", cubes)):
        for rollouts in (1, 10, 100):
            found = [perfect_rollouts(*each, rollouts) for each in worlds()]
            better, ratio = zip(*found, strict=True)
            print(f"  {name}, {rollouts} a problem: {np.mean(better):.1%}, {np.mean(ratio):.1f}", flush=True)


def perfect_rollouts(world: TableWorld, walks: Walks, truth: Truth, rollouts: int) -> tuple[float, float]:
    problems = paper_problems(walks, CONTEXT)
    found = roll_out(
        PerfectPredictor(world), rollout_problems(problems, walks), np.random.default_rng(0), rollouts
    )
    scores = score_rollouts(found, problems, truth).planning
    assert scores.ratio_sp is not None
    return scores.imp_fallback, scores.ratio_sp


if __name__ == "__main__":
    main()
