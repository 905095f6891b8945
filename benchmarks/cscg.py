"""A round of expectation-maximisation of clone-structured graphs, beside the same arithmetic as plain dense numpy.

The dense round is the official code's, written in numpy: transitions (A, K, K), at each step the block of the clones of
two observations, forward, backward and the counts. Both are timed on some of the walks and scaled to all. The
official numba code itself took about 18 s a round at this size, alone on another machine (`facts.md` of this project).

python -m benchmarks.cscg
"""

from __future__ import annotations

import sys
import time
import tracemalloc

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.maps.clones import PSEUDOCOUNT, CloneBlocks
from cogmap.records import Walks
from cogmap.walks.sample import sample_walks

HEIGHT, WIDTH, OBSERVATIONS, WALKS, STEPS, CLONES = 15, 20, 4, 375, 400, 120
DENSE_WALKS, OUR_WALKS = 4, 64  # that rounds are timed on
ROUNDS = (
    1,
    40,
)  # of ours that are timed: with random transitions, and when clones begin to find their places
LEAST_RATIO = 5.0


def dense_round(walks: Walks, moves: np.ndarray, counts: np.ndarray) -> None:
    """Expected counts of transitions under `moves` (A, K, K), as in the official code."""
    clone = np.arange(CLONES)
    for seen, done, length in zip(walks.observations, walks.actions, walks.lengths, strict=True):
        places = [slice(CLONES * shown, CLONES * (shown + 1)) for shown in seen[:length].tolist()]
        forward = np.empty((length, CLONES))
        forward[0] = 1 / len(clone)
        for step in range(1, length):
            message = moves[done[step - 1], places[step - 1], places[step]].T @ forward[step - 1]
            forward[step] = message / message.sum()
        backward = np.ones(CLONES)
        for step in range(length - 1, 0, -1):
            block = moves[done[step - 1], places[step - 1], places[step]]
            joint = forward[step - 1][:, None] * block * backward[None]
            counts[done[step - 1], places[step - 1], places[step]] += joint / joint.sum()
            backward = block @ backward
            backward /= backward.sum()


def dense_seconds(walks: Walks) -> tuple[float, int]:
    """Processor time of a dense round over all walks, and the most bytes that it holds."""
    states = CLONES * walks.num_observations
    tracemalloc.start()
    moves = np.random.default_rng(0).random((walks.num_actions, states, states))
    moves /= moves.sum(axis=2, keepdims=True)
    counts = np.zeros_like(moves)
    start = time.process_time()
    dense_round(walks.rows(slice(DENSE_WALKS)), moves, counts)
    spent = time.process_time() - start
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return spent * walks.num_walks / DENSE_WALKS, held


def our_seconds(walks: Walks) -> tuple[dict[int, float], int]:
    """Processor time of some of our rounds, and the bytes of transitions and counts."""
    CloneBlocks(walks, CLONES, 0).expected(walks.rows(slice(2)))  # compiles
    model, spent = CloneBlocks(walks, CLONES, 0), {}
    for done in range(1, max(ROUNDS) + 1):
        start = time.process_time()
        model.update(*model.expected(walks)[1:], PSEUDOCOUNT)
        if done in ROUNDS:
            spent[done] = (time.process_time() - start) * WALKS / OUR_WALKS
    return spent, model.nbytes


def main() -> bool:
    walks, _ = sample_walks(
        AliasedRoom(HEIGHT, WIDTH, OBSERVATIONS, seed=0), WALKS, STEPS, np.random.default_rng(0)
    )
    ours, bytes_held = our_seconds(walks.rows(slice(OUR_WALKS)))
    dense, dense_held = dense_seconds(walks)
    print(f"{HEIGHT}x{WIDTH} room, {OBSERVATIONS} observations, {CLONES} clones, {WALKS * STEPS:,} steps")
    print(f"  dense numpy, a round       {dense:8.2f} s   {dense_held / 1e6:7.1f} MB at the most")
    for done, spent in ours.items():
        print(f"  clone blocks, round {done:<3}    {spent:8.2f} s   {dense / spent:7.1f} times as fast")
    print(
        f"  clone blocks hold {bytes_held / 1e6:.1f} MB in transitions and counts, two dense tables 2 A x K x K = "
        f"{2 * 8 * 4 * (CLONES * OBSERVATIONS) ** 2 / 1e6:.1f} MB"
    )
    print("  official numba code, a round: about 18 s (facts.md, another machine, one thread, alone)")
    return min(dense / spent for spent in ours.values()) >= LEAST_RATIO


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
