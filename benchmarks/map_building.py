"""Time and memory of the minimal map against steps and places, and beside a dense hidden Markov model.

The dense model stands in for clone-structured graphs: the same expectation-maximisation as matrix products over all
states, with 120 clones for each of 4 observations. One round is timed on some walks and scaled to all of them; it is
linear in the walks. The official code took 18 s a round at this size (shared facts, another machine).

python -m benchmarks.map_building [--out results/bench]

Each size has a process of its own, so that its memory is its own. Writes map_building.csv and map_building.png.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cogmap.environments.room import AliasedRoom
from cogmap.experiments.commits import current_commit
from cogmap.experiments.csv_rows import write_csv
from cogmap.hmm.counts import unique_codes
from cogmap.hmm.inference import expect
from cogmap.records import Codes, Truth, Walks
from cogmap.report.style import save_figure, styled
from cogmap.search.account import Account
from cogmap.search.description import likeliest_targets
from cogmap.search.shortest import find_states
from cogmap.walks.sample import sample_walks

DENSE_WALKS = 64
CLONES = 120
ROUNDS = 10  # of the dense model, which the whole map should not take longer than


# Height and width of a room, and walks of 400 steps in it: steps at 300 places, then places.
SIZES = (
    *((15, 20, walks) for walks in (250, 2_500, 25_000)),
    *((10, 10, 2_500), (40, 50, 2_500), (70, 72, 5_000), (100, 100, 10_000)),
)
COLUMNS = ("steps", "places", "states", "exact", "map_seconds", "pass_seconds", "memory_mb", "commit")


def coded_room(
    height: int, width: int, observations: int, walks: int, steps: int, codes: int = 5, seed: int = 0
):
    """Walks and codes like those of a trained model: several a place, one in a hundred wrong; and the truth."""
    rng = np.random.default_rng(seed)
    room = AliasedRoom(height, width, observations, seed=seed)
    sampled, truth = sample_walks(room, walks, steps, rng)
    wrong = rng.random(truth.positions.shape) < 0.01
    place = np.where(wrong, rng.integers(0, room.num_positions, wrong.shape), truth.positions)
    number = codes * place + rng.integers(0, codes, place.shape)
    return sampled, Codes(number[:, :, None], sampled.lengths, codes * room.num_positions), truth


def map_seconds(walks: Walks, codes: Codes) -> tuple[float, float, Account]:
    """Processor time of the whole search and of one sparse pass over all walks, and what was found."""
    _, index = unique_codes(codes)
    start = time.process_time()
    found = find_states(walks, [index])
    spent = time.process_time() - start
    start = time.process_time()
    expect(found.counts, walks)
    return spent, time.process_time() - start, found


def is_exact(found: Account, truth: Truth) -> bool:
    """Whether states and places are one to one, and every move leads to the state of its place."""
    places, states = truth.world.num_positions, found.num_states
    pair, steps = np.unique(found.found.path.astype(np.int64) * places + truth.positions, return_counts=True)
    place = np.full(states, -1)
    order = np.argsort(steps, kind="stable")  # the last write is where most steps of a state are
    place[pair[order] // places] = pair[order] % places
    if states != places or len(np.unique(place)) != places:
        return False
    return bool((place[likeliest_targets(found.counts)] == truth.world.next_position[place]).all())


def measured(size: tuple[int, int, int]) -> dict[str, Any]:
    """A row of the table, in a process of its own."""
    map_seconds(*coded_room(3, 4, 3, 20, 50)[:2])  # compile first
    height, width, number = size
    walks, codes, truth = coded_room(height, width, 8, number, 400, codes=2)
    spent, one_pass, found = map_seconds(walks, codes)
    return {
        "steps": 400 * number,
        "places": height * width,
        "states": found.num_states,
        "exact": is_exact(found, truth),
        "map_seconds": round(spent, 2),
        "pass_seconds": round(one_pass, 3),
        "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "commit": current_commit(),
    }


def dense_round(walks: Walks) -> float:
    """Processor time of one round with every state at every step, for all walks."""
    states = CLONES * walks.num_observations
    rng = np.random.default_rng(0)
    moves = rng.random((walks.num_actions, states, states), dtype=np.float32)
    moves /= moves.sum(axis=2, keepdims=True)
    shows = np.repeat(np.arange(walks.num_observations), CLONES)
    some = walks.rows(slice(DENSE_WALKS))
    start = time.process_time()
    forward = np.empty((some.num_steps, DENSE_WALKS, states), dtype=np.float32)
    belief = np.full((DENSE_WALKS, states), 1 / states, dtype=np.float32)
    for step in range(some.num_steps):
        if step:
            belief = np.einsum("bi,bij->bj", belief, moves[some.actions[:, step - 1]], optimize=True)
        belief = belief * (shows == some.observations[:, step, None])
        belief /= belief.sum(axis=1, keepdims=True)
        forward[step] = belief
    counts, after = np.zeros_like(moves), np.ones((DENSE_WALKS, states), dtype=np.float32)
    for step in range(some.num_steps - 2, -1, -1):
        ahead = after * (shows == some.observations[:, step + 1, None])
        for action in range(some.num_actions):
            rows = np.flatnonzero(some.actions[:, step] == action)
            if len(rows):
                value = ahead[rows] @ moves[action].T
                share = forward[step][rows] / (forward[step][rows] * value).sum(axis=1, keepdims=True)
                counts[action] += share.T @ ahead[rows] * moves[action]
                after[rows] = value / value.max(axis=1, keepdims=True)
    return (time.process_time() - start) * walks.num_walks / DENSE_WALKS


def beside_dense() -> bool:
    """Whether the map of 2048 walks takes less than ten dense rounds."""
    map_seconds(*coded_room(3, 4, 3, 20, 50)[:2])  # compile first
    walks, codes, _ = coded_room(15, 20, 4, 2048, 400)
    spent, one_pass, found = map_seconds(walks, codes)
    dense = dense_round(walks)
    print(f"2048 walks of 400 in a room of 300 places: {found.num_states} states in {spent:.1f} s,")
    print(f"  a sparse pass {one_pass:.2f} s, a dense round with {4 * CLONES} states {dense:.1f} s")
    print(f"  the whole map takes as long as {spent / dense:.2f} dense rounds (at most {ROUNDS})", flush=True)
    return spent < ROUNDS * dense


@styled
def cost_by_size(rows: list[dict[str, Any]]) -> Figure:
    """Seconds against steps at one number of places, and against places with the steps that they need."""
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    by_steps = [row for row in rows if row["places"] == 300]
    by_places = sorted(rows[len(by_steps) :], key=lambda row: int(row["places"]))
    for axis, size, drawn in ((left, "steps", by_steps), (right, "places", by_places)):
        axis.loglog([row[size] for row in drawn], [row["map_seconds"] for row in drawn], "o-")
        axis.set_xlabel(
            size + (" in a room of 300 places" if size == "steps" else ", 400 steps or more for each")
        )
        axis.grid(visible=True)
    left.set_ylabel("seconds of one processor")
    return figure


def save(rows: list[dict[str, Any]], out: Path) -> None:
    write_csv(out / "map_building.csv", COLUMNS, rows)
    save_figure(cost_by_size(rows), out / "map_building.png")


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    fast = beside_dense()
    rows = []
    for size in SIZES:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows.append(pool.apply(measured, (size,)))
        print(" ".join(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
        if args.out is not None:
            save(rows, args.out)
    return fast


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
