"""Where on a map a walk may be, by elimination: start anywhere, drop what contradicts the next observation.

Much cheaper than the filter of `planning.belief` on a large map, since candidates vanish within a few steps. It
serves to say which true place each node stands for, over many walks; an agent's own belief always comes from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.evaluation.places import MERGED_SHARE
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Truth, Walks

_STEPS_A_NODE, _FEWEST_STEPS, _MOST_STEPS = 40, 5_000, 100_000  # that are read, of all walks together
_SETTLED = 20  # steps without a new candidate, after which those that are left are halves of one place
_FEW = 16  # more candidates than this say nothing
_SELDOM = 10  # a target with less than this part of the best one's support is taken for a mistake


class Moves:
    """Where each action leads from each node: every target that is not a mistake."""

    def __init__(self, found: CognitiveMap) -> None:
        move = found.edge_source.astype(np.int64) * found.num_actions + found.edge_action  # (E,)
        most = np.zeros(found.num_nodes * found.num_actions, dtype=np.int64)
        np.maximum.at(most, move, found.edge_support)
        kept = np.flatnonzero(found.edge_support.astype(np.int64) * _SELDOM >= most[move])
        kept = kept[np.argsort(move[kept], kind="stable")]
        self._target = found.edge_target[kept]
        self._first = np.searchsorted(move[kept], np.arange(len(most) + 1))  # (V * A + 1,)
        self._num_actions = found.num_actions
        count = np.diff(self._first)
        only = np.full(len(most), -1)
        only[count == 1] = self._target[self._first[:-1][count == 1]]
        self._only: list[int] = only.tolist()  # a list, since single entries of it are asked for

    def only(self, node: int, action: int) -> int:
        """The target of an action, -1 where there is none or more than one."""
        return self._only[node * self._num_actions + action]

    def after(self, nodes: NDArray[Any], action: int) -> NDArray[Any]:
        """All targets of an action from some nodes, each as often as it is one."""
        move = nodes * self._num_actions + action
        first, count = self._first[move], self._first[move + 1] - self._first[move]
        begins = np.cumsum(count) - count
        return self._target[np.repeat(first - begins, count) + np.arange(int(count.sum()))]


def place_visits(
    cognitive_map: CognitiveMap, walks: Walks, truth: Truth
) -> tuple[Integers, Integers, Floats]:
    """Nodes (R,), the true positions (R,) met there, and how often (R,), each pair once."""
    moves = Moves(cognitive_map)
    nodes, positions, weights = [], [], []
    for walk in _some_walks(walks, cognitive_map.num_nodes):
        length = int(walks.lengths[walk])
        seen, done = walks.observations[walk, :length], walks.actions[walk, : length - 1]
        for step, candidates in _candidates(cognitive_map, moves, seen, done):
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


def _some_walks(walks: Walks, num_nodes: int) -> Iterator[int]:
    """The first walks of the file, as many as it takes to come by every node some times."""
    enough = min(max(_STEPS_A_NODE * num_nodes, _FEWEST_STEPS), _MOST_STEPS)
    read = 0
    for walk, length in enumerate(walks.lengths.tolist()):
        if read and read + length > enough:
            return
        read += length
        yield walk


def _candidates(
    cognitive_map: CognitiveMap, moves: Moves, seen: Integers, done: Integers
) -> Iterator[tuple[int, NDArray[Any]]]:
    """The steps at which the nodes left are one, or halves of one place, and those nodes."""
    shown = cognitive_map.node_observation
    candidates, settled_at = np.flatnonzero(shown == seen[0]), _SETTLED
    for step, action in enumerate(done.tolist(), start=1):
        target = moves.only(candidates.item(), action) if len(candidates) == 1 else -1
        moved = np.array([target]) if target >= 0 else moves.after(candidates, action)
        left = moved[shown[moved] == seen[step]]
        if len(left) > 1:
            left = np.unique(left)
        if len(left) == 0:  # noise, a wrong edge or an unknown one: it may be anywhere
            left, settled_at = np.flatnonzero(shown == seen[step]), step + _SETTLED
        elif len(left) > len(candidates):
            settled_at = step + _SETTLED
        candidates = left
        if len(left) == 1 or (step >= settled_at and len(left) <= _FEW):
            yield step, left
