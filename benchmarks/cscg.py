"""A round of expectation-maximisation of clone-structured graphs, beside the same arithmetic as plain dense numpy.

The dense round is the official code's, written in numpy: transitions (A, K, K), at each step the block of the clones of
two observations, forward, backward and the counts. Both are timed on some of the walks and scaled to all. Memory is
what numpy holds at the most in a round: transitions, their counts and what else is needed. The official numba code
itself took about 18 s a round at this size, alone on another machine (`facts.md` of this project).

python -m benchmarks.cscg
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

from cogmap.baselines.clone_blocks import CloneBlocks
from cogmap.baselines.cscg import PSEUDOCOUNT
from cogmap.environments.room import AliasedRoom
from cogmap.records import Walks
from cogmap.walks.sample import sample_walks

HEIGHT, WIDTH, OBSERVATIONS, WALKS, STEPS, CLONES = 15, 20, 4, 375, 400, 120
DENSE_WALKS, OUR_WALKS = 4, 64  # that rounds are timed on
# The rounds of ours that are timed: with random transitions, and when clones begin to find their places.
ROUNDS = (1, 40)
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

    def spent_on(some: Walks) -> float:
        states = CLONES * walks.num_observations
        moves = np.random.default_rng(0).random((walks.num_actions, states, states))
        moves /= moves.sum(axis=2, keepdims=True)
        counts = np.zeros_like(moves)
        start = time.process_time()
        dense_round(some, moves, counts)
        return time.process_time() - start

    seconds = spent_on(walks.rows(slice(DENSE_WALKS)))
    return seconds * walks.num_walks / DENSE_WALKS, _most_held(lambda: spent_on(walks.rows(slice(1))))


def our_seconds(walks: Walks) -> tuple[dict[int, float], int]:
    """Processor time of some of our rounds over all walks, and the most bytes that they hold."""

    def spent_on(some: Walks, rounds: int) -> list[float]:
        model, spent = CloneBlocks(walks, CLONES, 0), []
        for _ in range(rounds):
            start = time.process_time()
            model.update(*model.expected(some)[1:], PSEUDOCOUNT)
            spent.append(time.process_time() - start)
        return spent

    spent_on(walks.rows(slice(1)), 1)  # compiles
    held = _most_held(lambda: spent_on(walks.rows(slice(1)), 2))
    seconds = spent_on(walks.rows(slice(OUR_WALKS)), max(ROUNDS))
    return {done: seconds[done - 1] * walks.num_walks / OUR_WALKS for done in ROUNDS}, held


def _most_held(work: Callable[[], object]) -> int:
    """The most bytes that numpy holds during some work."""
    tracemalloc.start()
    work()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held


def main() -> bool:
    walks, _ = sample_walks(
        AliasedRoom(HEIGHT, WIDTH, OBSERVATIONS, seed=0), WALKS, STEPS, np.random.default_rng(0)
    )
    ours, held = our_seconds(walks)
    dense, dense_held = dense_seconds(walks)
    table = 4 * walks.num_actions * (CLONES * OBSERVATIONS) ** 2  # A x K x K in 32 bits
    print(f"{HEIGHT}x{WIDTH} room, {OBSERVATIONS} observations, {CLONES} clones, {WALKS * STEPS:,} steps")
    print(f"  dense numpy, a round       {dense:8.2f} s   {dense_held / 1e6:7.1f} MB at the most")
    for done, spent in ours.items():
        print(f"  clone blocks, round {done:<3}    {spent:8.2f} s   {dense / spent:7.1f} times as fast")
    print(f"  clone blocks, all rounds                {held / 1e6:7.1f} MB at the most")
    print(
        f"  dense A x K x K with its counts, 32 bits {2 * table / 1e6:6.1f} MB, 64 bits {4 * table / 1e6:.1f} MB"
    )
    print("  official numba code, a round: about 18 s (facts.md, another machine, one thread, alone)")
    return min(dense / spent for spent in ours.values()) >= LEAST_RATIO and held < 2 * table


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
