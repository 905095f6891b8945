"""Logs of the kinds that people have, learned as a new user would, and their maps compared with the truth.

python scripts/own_logs.py [NAME ...] [--seeds 3] [--minutes 3] [--out results/bench/own-logs.csv] [--keep FOLDER]

Each log of examples/logs.py is written as words, `cogmap learn FILE --out RUN --minutes 3` learns it without any other
option, and the map is compared with the world: places that the walks can distinguish and visit, moves that they made.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import cogmap
from cogmap.experiments.commits import current_commit
from cogmap.experiments.csv_rows import append_row
from cogmap.planning.localise import estimated_nodes
from cogmap.records import Integers, Truth, Walks
from cogmap.walks.views import ViewWalks

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import logs

STEPS = {
    "vending": 5_000,
    "vending_answers": 5_000,
    "robot": 11_000,
    "minigrid": 20_000,
    "fourrooms": 60_000,
    "one_walk": 20_000,
}


def distinguishable(walks: Walks, truth: Truth) -> Integers:
    """(P,) the class of each position: no moves that the walks made distinguish two positions of one class."""
    group = np.asarray(truth.world.observation).astype(np.int64)
    legal = truth.world.legal_actions()
    while True:
        after = np.where(legal, group[truth.world.next_position], -1)
        finer = np.unique(np.column_stack([group, after]), axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max() == group.max():
            return finer
        group = finer


def true_moves(truth: Truth, group: Integers) -> dict[tuple[int, int], int]:
    """Where each offered action leads from each class of positions, whether or not the walks took it there."""
    position, action = np.nonzero(truth.world.legal_actions())
    after = group[truth.world.next_position[position, action]]
    return dict(zip(zip(group[position].tolist(), action.tolist(), strict=True), after.tolist(), strict=True))


def compared(run: cogmap.Run, walks: Walks, truth: Truth) -> dict[str, object]:
    """The map against the classes of positions that the walks visit, and the moves between them."""
    found, group = run.map, distinguishable(walks, truth)
    if isinstance(walks, ViewWalks):
        walks = run.categorical(walks)
    mask = walks.step_mask()
    places = group[truth.positions]
    visited = np.unique(places[mask])
    codes, _ = run.encode(walks)
    nodes = estimated_nodes(found, walks.observations, walks.actions, walks.lengths, codes)
    known = mask & (nodes >= 0)
    table = np.zeros((found.num_nodes, len(group)))
    np.add.at(table, (nodes[known], places[known]), 1)
    place_of = np.where(table.any(axis=1), table.argmax(axis=1), -1) if found.num_nodes else np.zeros(0, int)
    purity = float(table.max(axis=1, initial=0).sum() / max(known.sum(), 1))
    moves = {
        (int(a), int(b)): int(c)
        for a, b, c in zip(
            places[:, :-1][mask[:, 1:]], walks.actions[mask[:, 1:]], places[:, 1:][mask[:, 1:]], strict=True
        )
    }
    likeliest = found.deterministic()
    on_map = {
        (int(place_of[a]), int(b)): int(place_of[c])
        for a, b, c in zip(likeliest.edge_source, likeliest.edge_action, likeliest.edge_target, strict=True)
    }
    true = true_moves(truth, group)
    wrong = sum(true.get(move, -2) != target for move, target in on_map.items())
    covered = len(np.unique(place_of[place_of >= 0]))
    row: dict[str, object] = {
        "nodes": found.num_nodes,
        "places": len(visited),
        "covered": covered,
        "purity": round(purity, 4),
        "wrong_moves": wrong,
        "missing_moves": len(set(moves) - set(on_map)),
        "moves": len(moves),
    }
    row["exact"] = found.num_nodes == len(visited) == covered and not wrong and not row["missing_moves"]
    return row


def learned(file: Path, out: Path, minutes: float) -> tuple[float, str]:
    """Seconds that `cogmap learn` took, and what it printed."""
    began = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "cogmap",
        "learn",
        str(file),
        "--out",
        str(out),
        "--minutes",
        str(minutes),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return time.perf_counter() - began, done.stdout + done.stderr


def trial(name: str, seed: int, minutes: float, folder: Path) -> dict[str, object]:
    kind = "npz" if name == "camera" else "csv" if seed % 2 else "jsonl"
    file, out = folder / f"{name}-{seed}.{kind}", folder / f"{name}-{seed}"
    walks, truth = logs.KINDS[name](seed, STEPS.get(name, 10_000))
    logs.write(file, (walks, truth))
    seconds, printed = learned(file, out, minutes)
    row: dict[str, object] = {
        "log": name,
        "seed": seed,
        "steps": int(walks.lengths.sum()),
        "seconds": round(seconds),
    }
    (folder / f"{name}-{seed}.txt").write_text(printed)
    try:
        run = cogmap.load_run(out)
        read = cogmap.load_walks(file)
        row |= {
            "model": run.map.model_accuracy,
            "map": round(run.map.explained, 4),
            "warnings": len(run.map.warnings),
        }
        row |= compared(run, read, cogmap.load_truth(file, read))
    except cogmap.CogmapError as error:
        row |= {"error": str(error)}
    return row


COLUMNS = (
    *("log", "seed", "steps", "seconds", "model", "map", "warnings", "nodes", "places", "covered", "purity"),
    *("wrong_moves", "missing_moves", "moves", "exact", "error", "commit"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(logs.KINDS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--keep", type=Path, default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            for name in args.names:
                row = trial(name, seed, args.minutes, folder) | {"commit": current_commit()}
                print(json.dumps(row), flush=True)
                if args.out is not None:
                    append_row(args.out, dict.fromkeys(COLUMNS) | row)


if __name__ == "__main__":
    main()
