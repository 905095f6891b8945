"""Time of the minimal map against steps and places, and beside a dense hidden Markov model on the same walks.

The dense model stands in for clone-structured graphs: the same expectation-maximisation as matrix products over all
states, with 120 clones for each of 4 observations. One round is timed on some walks and scaled to all of them; it is
linear in the walks. The official code took 18 s a round at this size (shared facts, another machine).

python -m benchmarks.map_building
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.hmm.counts import unique_codes
from cogmap.hmm.inference import expect
from cogmap.records import Codes, Walks
from cogmap.search.shortest import find_states
from cogmap.walks.sample import sample_walks

DENSE_WALKS = 64
CLONES = 120
ROUNDS = 10  # of the dense model, which the whole map should not take longer than


def coded_room(height: int, width: int, observations: int, walks: int, steps: int, seed: int = 0):
    """Walks and codes like those of a trained model: five a place, one in a hundred wrong."""
    rng = np.random.default_rng(seed)
    room = AliasedRoom(height, width, observations, seed=seed)
    sampled, truth = sample_walks(room, walks, steps, rng)
    wrong = rng.random(truth.positions.shape) < 0.01
    place = np.where(wrong, rng.integers(0, room.num_positions, wrong.shape), truth.positions)
    number = 5 * place + rng.integers(0, 5, place.shape)
    return sampled, Codes(number[:, :, None], sampled.lengths, 5 * room.num_positions), room.num_positions


def map_seconds(walks: Walks, codes: Codes) -> tuple[float, float, int]:
    """Processor time of the whole search, of one sparse pass over all walks, and the number of states."""
    _, index = unique_codes(codes)
    start = time.process_time()
    found = find_states(walks, [index])
    spent = time.process_time() - start
    start = time.process_time()
    expect(found.counts, walks)
    return spent, time.process_time() - start, found.num_states


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


def main() -> bool:
    """Print the tables; true if the map of 2048 walks takes less than ten dense rounds."""
    map_seconds(*coded_room(3, 4, 3, 20, 50)[:2])  # compile first
    walks, codes, _ = coded_room(15, 20, 4, 2048, 400)
    spent, one_pass, states = map_seconds(walks, codes)
    dense = dense_round(walks)
    print(
        f"2048 walks of 400 in a room of 300 places: {states} states in {spent:.1f} s, a sparse pass {one_pass:.2f} s"
    )
    print(
        f"  a dense round with {4 * CLONES} states takes {dense:.1f} s, {dense / one_pass:.0f} times a sparse pass"
    )
    print(f"  the whole map takes as long as {spent / dense:.2f} dense rounds (at most {ROUNDS})")
    print("   steps  places  states   map s  pass s")
    for height, width, number in (
        (10, 10, 250),
        (10, 10, 2500),
        (15, 20, 250),
        (15, 20, 2500),
        (30, 35, 2500),
    ):
        walks, codes, places = coded_room(height, width, 8, number, 400)
        seconds, one_pass, states = map_seconds(walks, codes)
        print(f"{number * 400:8d}  {places:6d}  {states:6d}  {seconds:6.1f}  {one_pass:6.2f}", flush=True)
    return spent < ROUNDS * dense


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
