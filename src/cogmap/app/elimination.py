"""Where on a map a walk may be, by elimination: start anywhere, drop what contradicts the next observation.

Much cheaper than the filter of `planning.belief` on a large map, since candidates vanish within a few steps. It
serves to say which true place each node stands for, over many walks; an agent's own belief always comes from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Truth, Walks

_STEPS_READ = 100_000  # of all walks together: a second
_SETTLED = 20  # steps after which candidates that are still several are halves of one place
_FEW = 16  # more candidates than this say nothing

MERGED_SHARE = 0.9  # as in the report: elsewhere on more than a tenth of its steps stands for several places


def place_visits(
    cognitive_map: CognitiveMap, next_node: Integers, walks: Walks, truth: Truth
) -> tuple[Integers, Integers, Floats]:
    """Nodes (R,), the true positions (R,) met there, and how often (R,), each pair once."""
    nodes, positions, weights = [], [], []
    for walk in _some_walks(walks):
        length = int(walks.lengths[walk])
        seen, done = walks.observations[walk, :length], walks.actions[walk, : length - 1]
        for step, candidates in _candidates(cognitive_map, next_node, seen, done):
            nodes.append(candidates)
            positions.append(np.full(len(candidates), truth.positions[walk, step]))
            weights.append(np.full(len(candidates), 1 / len(candidates)))
    if not nodes:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)
    places = truth.world.num_positions
    keys = np.concatenate(nodes).astype(np.int64) * places + np.concatenate(positions)
    cells, which = np.unique(keys, return_inverse=True)
    counts = np.bincount(which.reshape(-1), weights=np.concatenate(weights)).astype(np.float64)
    return (cells // places).astype(np.int32), (cells % places).astype(np.int32), counts


def main_places(
    nodes: Integers, positions: Integers, counts: Floats, num_nodes: int
) -> tuple[Integers, Booleans]:
    """(V,) the position where each node was met most often, -1 if never; (V,) whether it stands for several."""
    rising = np.argsort(counts, kind="stable")  # the last write is the most frequent
    position, most = np.full(num_nodes, -1, dtype=np.int32), np.zeros(num_nodes)
    position[nodes[rising]] = positions[rising]
    most[nodes[rising]] = counts[rising]
    total = np.bincount(nodes, weights=counts, minlength=num_nodes)
    return position, most < MERGED_SHARE * total


def _some_walks(walks: Walks) -> Iterator[int]:
    """The first walks of the file, as many as can be read in the time."""
    read = 0
    for walk, length in enumerate(walks.lengths.tolist()):
        if read and read + length > _STEPS_READ:
            return
        read += length
        yield walk


def _candidates(
    cognitive_map: CognitiveMap, next_node: Integers, seen: Integers, done: Integers
) -> Iterator[tuple[int, NDArray[Any]]]:
    """The steps at which the nodes left are one, or halves of one place, and those nodes."""
    shown = cognitive_map.node_observation
    candidates, settled_at = np.flatnonzero(shown == seen[0]), _SETTLED
    for step in range(1, len(seen)):
        moved = next_node[candidates, done[step - 1]]
        candidates = moved[(moved >= 0) & (shown[moved] == seen[step])]
        if len(candidates) > 1:
            candidates = np.unique(candidates)
        elif len(candidates) == 0:  # noise, a wrong edge or an unknown one: it may be anywhere
            candidates, settled_at = np.flatnonzero(shown == seen[step]), step + _SETTLED
        if len(candidates) == 1 or (step >= settled_at and len(candidates) <= _FEW):
            yield step, candidates
