"""Counts and maps of a 15x20 room's codes, compared with a plain loop over the same steps, on one thread.

Counts are the distinct tuples in order, the rank of each step's tuple, and the transitions between tuples.

python -m benchmarks.maps
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.hmm.counts import Counts, count_transitions, unique_codes
from cogmap.maps.build import build_map
from cogmap.maps.paper import hamming_clusters
from cogmap.records import Codes, CognitiveMap, Walks
from cogmap.report.layout import layout_map
from cogmap.walks.sample import sample_walks

from ._timing import best_seconds

WALKS, STEPS = 2048, 400
PLAIN_WALKS = 20  # enough for a stable time per step
MIN_RATIO = 100
MAX_GROWTH = 2.6  # of the time for twice as many walks
MAX_HAMMING_SECONDS = 5.0
TUPLES = 100_000

Row = dict[str, str | float | bool]


def room_codes(bottlenecks: int, rng: np.random.Generator) -> tuple[Codes, Walks]:
    """Codes like those of a trained model: five per place, one in a hundred wrong, and random flips if M > 1."""
    room = AliasedRoom(height=15, width=20, observations=4)
    walks, truth = sample_walks(room, WALKS, STEPS, rng)
    wrong = rng.random(truth.positions.shape) < 0.01
    place = np.where(wrong, rng.integers(0, 300, wrong.shape), truth.positions)
    number = 5 * place + rng.integers(0, 5, place.shape)
    if bottlenecks == 1:
        return Codes(number[:, :, None], walks.lengths, 1500), walks
    tables = rng.integers(0, 1000, (bottlenecks, 1500))
    codes = np.stack([table[number] for table in tables], axis=-1)
    codes = np.where(rng.random(codes.shape) < 0.02, rng.integers(0, 1000, codes.shape), codes)
    return Codes(codes, walks.lengths, 1000), walks


def plain_counts(
    codes: Codes, walks: Walks, rows: int
) -> tuple[list[object], list[list[int]], dict[object, int]]:
    """The same counts by plain loops over walks, steps and bottlenecks."""
    distinct: set[object] = set()
    for walk in range(rows):
        for step in range(STEPS):
            distinct.add(tuple(codes.codes[walk, step, m] for m in range(codes.bottlenecks)))
    tuples = sorted(distinct)  # type: ignore[type-var]
    number = {code: rank for rank, code in enumerate(tuples)}
    index = [[0] * STEPS for _ in range(rows)]
    counts: dict[object, int] = defaultdict(int)
    for walk in range(rows):
        for step in range(STEPS):
            code = tuple(codes.codes[walk, step, m] for m in range(codes.bottlenecks))
            index[walk][step] = number[code]
            if step:
                counts[index[walk][step - 1], walks.actions[walk, step - 1], number[code]] += 1
    return tuples, index, counts


def sparse_counts(codes: Codes, walks: Walks, rows: int = WALKS) -> Counts:
    some = Codes(codes.codes[:rows], codes.lengths[:rows], codes.num_codes)
    tuples, index = unique_codes(some)
    return count_transitions(index, walks.actions[:rows], len(tuples), walks.num_actions)


def count_rows(codes: Codes, walks: Walks) -> list[Row]:
    name = f"counts, M={codes.bottlenecks}"
    spent = best_seconds(lambda: sparse_counts(codes, walks), 7)
    half = best_seconds(lambda: sparse_counts(codes, walks, WALKS // 2), 7)
    plain = best_seconds(lambda: plain_counts(codes, walks, PLAIN_WALKS)) * WALKS / PLAIN_WALKS
    counts = sparse_counts(codes, walks)
    what = f"{counts.num_codes} codes, {len(counts.count)} transitions, {spent * 1000:.0f} ms"
    times = f"{what}; {plain / spent:.0f} times as fast as a plain loop (at least {MIN_RATIO})"
    growth = f"{spent / half:.2f} times as long for twice the walks (at most {MAX_GROWTH})"
    return [
        {"name": name, "value": plain / spent, "good": plain / spent >= MIN_RATIO, "text": times},
        {"name": name, "value": spent / half, "good": spent / half <= MAX_GROWTH, "text": growth},
    ]


def map_rows(codes: Codes, walks: Walks) -> list[Row]:
    rows: list[Row] = []
    for kind in ("minimal", "paper"):
        start = time.process_time()
        found = build_map(codes, walks, kind=kind)
        spent = time.process_time() - start
        text = f"{len(found.code_tuples)} codes to {found.num_nodes} nodes in {spent:.2f} s"
        good = kind == "paper" or found.num_nodes == 300
        rows.append(
            {"name": f"{kind} map, M={codes.bottlenecks}", "value": spent, "good": good, "text": text}
        )
    return rows


def hamming_row(rng: np.random.Generator) -> Row:
    tuples = np.unique(rng.integers(0, 40, (TUPLES + 3000, 4)), axis=0)[:TUPLES]
    spent = best_seconds(lambda: hamming_clusters(tuples, 0.25))
    text = f"{len(tuples)} tuples in {spent:.2f} s (at most {MAX_HAMMING_SECONDS:g})"
    return {"name": "Hamming, M=4", "value": spent, "good": spent <= MAX_HAMMING_SECONDS, "text": text}


def layout_row() -> Row:
    spent = best_seconds(lambda: layout_map(_grid_map(30, 40), polished=0))
    return {
        "name": "layout",
        "value": spent,
        "good": True,
        "text": f"1200 nodes by scaling alone in {spent:.2f} s",
    }


def _grid_map(height: int, width: int) -> CognitiveMap:
    table = AliasedRoom(height=height, width=width, observations=4).next_position
    places, actions = table.shape
    source, action = np.divmod(np.arange(places * actions), actions)
    ones = np.ones(places * actions, dtype=np.int32)
    return CognitiveMap(
        kind="minimal",
        node_observation=np.zeros(places, dtype=np.int32),
        node_support=ones[:places],
        edge_source=source.astype(np.int32),
        edge_action=action.astype(np.int32),
        edge_target=table.ravel(),
        edge_support=ones,
        code_tuples=np.arange(places, dtype=np.int32)[:, None],
        code_node=np.arange(places, dtype=np.int32),
        num_observations=1,
        num_actions=actions,
        explained=1.0,
    )


def run() -> list[Row]:
    rng = np.random.default_rng(0)
    rows = [hamming_row(rng), layout_row()]
    for bottlenecks in (1, 4):
        codes, walks = room_codes(bottlenecks, rng)
        rows += count_rows(codes, walks) + map_rows(codes, walks)
    return rows


def main() -> bool:
    """Print the table; true if every row is within its limits."""
    print(f"maps of {WALKS} walks of {STEPS} steps in a 15x20 room, processor time")
    rows = run()
    for row in rows:
        print(f"  {row['name']:18s} {row['text']}{'' if row['good'] else '   OUTSIDE ITS LIMIT'}")
    return all(row["good"] for row in rows)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
