"""Maps of logs that nothing was tuned to: sample a log, learn it with default options, compare the map with the truth.

python scripts/map_trials.py [NAME ...] [--seeds 3] [--minutes 5] [--out results/bench/maps.csv]

Names: small, mid, sticky, slip, torus, noise, and those of the shipped machines followed by :60 or :400, the length of
their logs (200,000 steps in all). Truth is used only to score. Rows are appended to --out.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import cogmap
from cogmap.environments.machines import MachineWorld, load_machine, machine_of_world, score_machine
from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.evaluation.places import is_exact, true_places
from cogmap.experiments.commits import current_commit
from cogmap.experiments.csv_rows import append_row
from cogmap.maps.machine import machine_of_map
from cogmap.records import Truth, Walks
from cogmap.walks.sample import Agent, add_noise, sample_walks

SMALL_ROOM, ROOM, LARGE_ROOM = (6, 8), (8, 10), (15, 20)
STEPS = 200_000  # in all logs of a machine


def log_of(name: str, seed: int) -> tuple[Walks, Truth]:
    rng = np.random.default_rng(1000 + seed)
    machine, colon, length = name.partition(":")
    if colon:
        world = MachineWorld(load_machine(machine))
        return sample_walks(world, STEPS // int(length), int(length), rng)
    if name == "torus":
        return sample_walks(torus(7, 9, 3, one_way_doors=12, seed=seed), 1024, 400, rng)
    sides, walks, steps = {
        "small": (SMALL_ROOM, 64, 200),
        "mid": (LARGE_ROOM, 256, 400),
        "sticky": (ROOM, 512, 400),
        "slip": (ROOM, 1024, 400),
        "noise": (ROOM, 1024, 400),
    }[name]
    agent = Agent(slip=0.2 if name == "slip" else 0.0, sticky=0.8 if name == "sticky" else 0.0)
    sampled, truth = sample_walks(AliasedRoom(*sides, 4, seed=seed), walks, steps, rng, agent)
    return (add_noise(sampled, 0.1, rng) if name == "noise" else sampled), truth


def scored(name: str, run: cogmap.Run, walks: Walks, truth: Truth) -> dict[str, object]:
    """The map against the world: places, purity and exactness; of a machine its states and wrong moves."""
    found = run.map
    places = true_places(found, walks, truth, run.encode(walks)[0])
    row: dict[str, object] = {
        "nodes": found.num_nodes,
        "positions": len(np.unique(truth.positions)),
        "purity": round(places.purity, 4),
        "located": round(places.located, 4),
        "exact": is_exact(found, places.position, truth.world),
    }
    if ":" in name:
        machine, true = machine_of_map(found), machine_of_world(truth.world)
        score = score_machine(machine.next_state, machine.output - 1, true, machine.initial)
        row |= {"exact": score.exact, "states": machine.num_states, "true_states": score.states}
        row |= {"wrong_moves": score.wrong_moves, "unknown_moves": score.unknown_moves}
    return row


COLUMNS = (
    *("log", "seed", "minutes", "steps", "model", "map", "nodes", "positions", "purity", "located", "exact"),
    *("states", "true_states", "wrong_moves", "unknown_moves", "warnings", "seconds", "commit"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["small", "mid", "sticky", "slip", "torus", "noise"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    for name in args.names:
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            walks, truth = log_of(name, seed)
            started = time.perf_counter()
            run = cogmap.learn(walks, minutes=args.minutes, quiet=True)
            row = {"log": name, "seed": seed, "minutes": args.minutes, "steps": int(walks.lengths.sum())}
            row |= {"model": run.map.model_accuracy, "map": round(run.map.explained, 4)}
            row |= scored(name, run, walks, truth) | {"warnings": len(run.map.warnings)}
            row |= {"seconds": round(time.perf_counter() - started), "commit": current_commit()}
            row["model"] = None if row["model"] is None else round(float(row["model"]), 4)
            print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
            if args.out is not None:
                append_row(args.out, dict.fromkeys(COLUMNS) | row)


if __name__ == "__main__":
    main()
