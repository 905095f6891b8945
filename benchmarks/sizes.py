"""Cost against size: steps drawn and counted, nodes planned on, walks encoded at once, plans at once.

python -m benchmarks.sizes
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from benchmarks._report import Figure, report
from benchmarks._timing import best_seconds
from benchmarks.planning import grid, random_problems
from benchmarks.training import base_config

from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.ged import true_map
from cogmap.hmm.counts import count_transitions
from cogmap.models.inference import encode_and_predict
from cogmap.models.tdb import make_model
from cogmap.planning.shortest_paths import solve_many
from cogmap.training.config import preset_configs
from cogmap.walks.sample import sample_walks

UNIT = "µs each"


def figure(what: str, size: int, seconds: float, of: int) -> Figure:
    """The cost of one of `of` things, when there are `size`."""
    found = Figure(what, 1e6 * seconds / of, UNIT, size=size)
    print(f"  {what:32s} {size:>10,}  {found.value:10.3f} {UNIT}", flush=True)
    return found


def steps_drawn_and_counted() -> list[Figure]:
    room, found = AliasedRoom(), []
    for walks in (25, 250, 2500):
        steps = 400 * walks
        drawn, truth = sample_walks(room, walks, 400, np.random.default_rng(0))
        rng = np.random.default_rng(0)
        seconds = best_seconds(lambda walks=walks, rng=rng: sample_walks(room, walks, 400, rng))  # type: ignore[misc]
        found.append(figure("steps drawn", steps, seconds, steps))
        seconds = best_seconds(lambda t=truth, d=drawn: count_transitions(t.positions, d.actions, 300, 4))  # type: ignore[misc]
        found.append(figure("steps counted", steps, seconds, steps))
    return found


def nodes_planned_on() -> list[Figure]:
    found = []
    for side in (10, 32, 100, 316):
        cognitive_map = true_map(grid(side))
        problems = random_problems(cognitive_map, 20)
        solve_many(cognitive_map, problems[:1])
        seconds = best_seconds(lambda m=cognitive_map, p=problems: solve_many(m, p))  # type: ignore[misc]
        found.append(figure("a plan, by nodes", side**2, seconds, 20))
    return found


def plans_at_once() -> list[Figure]:
    cognitive_map, found = true_map(AliasedRoom()), []
    for count in (1, 10, 100, 1000):
        problems = random_problems(cognitive_map, count)
        solve_many(cognitive_map, problems[:1])
        seconds = best_seconds(lambda p=problems: solve_many(cognitive_map, p))  # type: ignore[misc]
        found.append(figure("a plan, by plans at once", count, seconds, count))
    return found


def walks_encoded_at_once() -> list[Figure]:
    found = []
    for encoder in ("gru", "transformer"):
        for count in (1, 16, 256):
            walks, _ = sample_walks(AliasedRoom(), count, 200, np.random.default_rng(0))
            torch.manual_seed(0)
            model = make_model(preset_configs("fast", base_config(walks, encoder=encoder))[0])
            seconds = best_seconds(
                lambda m=model, w=walks: encode_and_predict(m, w.observations, w.actions), 2
            )  # type: ignore[misc]
            found.append(figure(f"a step encoded ({encoder})", count, seconds, 200 * count))
    return found


def main() -> bool:
    print("cost against size, processor time")
    figures = [*steps_drawn_and_counted(), *nodes_planned_on(), *plans_at_once(), *walks_encoded_at_once()]
    return report("sizes", figures)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
