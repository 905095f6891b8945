"""Worlds with chance: sample a log, learn it, compare map and policies with the truth.

python scripts/chance_trials.py [NAME ...] [--seed 0] [--minutes 6 | --steps N] [--runs FOLDER] [--remap]
    [--out results/chance.csv]

Names: slip10, slip20, slip30 and noise10, noise20 (rooms of 8x10 with 4 colours), lake (FrozenLake 8x8), cliff, taxi.
Logs have 1024 walks of 400 steps, scores are on 64 other walks. Truth is used only to score. Rows go to --out.
The search was made better on seed 0 of the rooms: another seed says more.
A run that is in --runs already is not trained again; --remap builds its map again, within --minutes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

import cogmap
from cogmap.environments.gym_tables import cliff_walking, frozen_lake, taxi
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation.chance import score_chance
from cogmap.evaluation.places import is_exact, true_places
from cogmap.experiments.commits import current_commit
from cogmap.experiments.csv_rows import append_row
from cogmap.records import ChanceWorld, TableWorld, Truth, Walks
from cogmap.tasks import TrainingData
from cogmap.tasks.places import build_maps
from cogmap.walks.sample import Agent, sample_walks

NAMES = ("slip10", "slip20", "slip30", "noise10", "noise20", "lake", "cliff", "taxi")
OTHERS = {"lake": frozen_lake, "cliff": cliff_walking, "taxi": taxi}


def world_of(name: str, seed: int) -> tuple[TableWorld, Agent]:
    """The world, and how the agent walks in it."""
    if name in OTHERS:
        return OTHERS[name](), Agent()
    room, share = AliasedRoom(8, 10, 4, seed=seed), int(name[-2:]) / 100
    return (noisy(room, share), Agent()) if name.startswith("noise") else (room, Agent(slip=share))


def noisy(world: TableWorld, share: float) -> ChanceWorld:
    """The world in which a share of the observations is replaced by random ones."""
    from cogmap.environments.chance import chance_world, moves_of, table_fields

    source, action, target, probability, reward = moves_of(world)
    sure = chance_world(world, source, action, target, probability, reward)
    seen = np.full((world.num_positions, world.num_observations), share / world.num_observations)
    seen[np.arange(world.num_positions), world.observation] += 1 - share
    moves = {
        each.name: getattr(sure, each.name) for each in fields(ChanceWorld) if each.name.startswith("move_")
    }
    return ChanceWorld(**table_fields(sure) | moves, observation_probability=seen)


def learned(folder: Path, walks: Walks, budget: dict[str, Any], remap: float | None) -> cogmap.Run:
    """remap: seconds for a new map of a run that is there already."""
    if not folder.exists():
        return cogmap.learn(walks, out=folder, quiet=True, **budget)
    run = cogmap.load_run(folder)
    if remap is not None:
        build_maps(run, TrainingData("places", walks, map_seconds=remap))
        run = cogmap.load_run(folder)
    return run


def row_of(name: str, seed: int, run: cogmap.Run, walks: Walks, truth: Truth) -> dict[str, object]:
    found = run.map
    places = true_places(found, walks, truth, run.encode(walks)[0])
    scores = score_chance(found, walks, truth, places.position, goals=200, seed=seed)
    return {
        "log": name,
        "seed": seed,
        "nodes": found.num_nodes,
        "positions": truth.world.num_positions,
        "exact": is_exact(found, places.position, truth.world),
        "located": places.located,
        "purity": places.purity,
    } | asdict(scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--steps", type=int, default=None, help="of training, on a crowded machine")
    parser.add_argument("--runs", type=Path, default=None)
    parser.add_argument("--remap", action="store_true")
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    budget = {"minutes": args.minutes} if args.steps is None else {"steps": args.steps}
    runs = Path(tempfile.mkdtemp()) if args.runs is None else args.runs
    for name in args.names:
        world, agent = world_of(name, args.seed)
        walks, _ = sample_walks(world, 1024, 400, np.random.default_rng([args.seed, 1]), agent)
        test, truth = sample_walks(world, 64, 400, np.random.default_rng([args.seed + 7, 1]), agent)
        started = time.perf_counter()
        remap = 60 * args.minutes if args.remap else None
        run = learned(runs / f"{name}-{args.seed}", walks, budget, remap)
        seconds = round(time.perf_counter() - started)
        row = row_of(name, args.seed, run, test, truth)
        row |= {"seconds": seconds, "commit": current_commit()}
        row = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
        print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
        if args.out is not None:
            append_row(args.out, row)


if __name__ == "__main__":
    main()
