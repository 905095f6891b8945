"""From the codes of a history to the node of the map where the agent is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cogmap.errors import BadRun
from cogmap.records import CognitiveMap, Integers

# Comparisons held in memory at once: tuples asked about times tuples of the map.
_COMPARISONS_AT_ONCE = 4_000_000


def locate(cognitive_map: CognitiveMap, code_tuples: ArrayLike) -> Integers:
    """(R,) the node of each of R code tuples (R, M), or -1.

    A tuple of the map that stands for a place gives that place. Any other tuple takes the place of the
    tuple nearest in Hamming distance; of several as near, the one of the most visited node, then the first
    in lexicographic order. Where not even one code agrees there is nothing to go by and the answer is -1:
    with a single bottleneck that is every code that stands for no place.
    """
    asked = np.asarray(code_tuples)
    bottlenecks = cognitive_map.code_tuples.shape[1]
    if asked.ndim != 2 or asked.shape[1] != bottlenecks:
        raise BadRun(f"`code_tuples` must have shape (R, M) with M = {bottlenecks}, got {asked.shape}")
    unique, inverse = np.unique(asked, axis=0, return_inverse=True)  # (U, M), (R,)
    placed = cognitive_map.code_node >= 0
    known, known_node = cognitive_map.code_tuples[placed], cognitive_map.code_node[placed]
    nodes = _exact(unique, known, known_node)
    missing = np.flatnonzero(nodes < 0)
    if bottlenecks > 1 and missing.size and known.size:
        by_support = np.argsort(-cognitive_map.node_support[known_node].astype(np.int64), kind="stable")
        nodes[missing] = _nearest(unique[missing], known[by_support], known_node[by_support])
    return nodes[inverse.reshape(-1)].astype(np.int32)


def _exact(asked: NDArray[Any], known: Integers, known_node: Integers) -> NDArray[np.int64]:
    """(U,) the node of each tuple that is among the known ones, else -1."""
    nodes = np.full(len(asked), -1, dtype=np.int64)
    _, row = np.unique(np.concatenate([known, asked]), axis=0, return_inverse=True)
    node_of_row = np.full(row.max(initial=-1) + 1, -1, dtype=np.int64)
    row = row.reshape(-1)
    node_of_row[row[: len(known)]] = known_node
    nodes[:] = node_of_row[row[len(known) :]]
    return nodes


def _nearest(asked: NDArray[Any], known: Integers, known_node: Integers) -> NDArray[np.int64]:
    """(U,) the node of the first known tuple that agrees in the most codes, or -1 if none agrees in any."""
    nodes = np.empty(len(asked), dtype=np.int64)
    rows = max(1, _COMPARISONS_AT_ONCE // len(known))
    for first in range(0, len(asked), rows):
        some = asked[first : first + rows]
        agreeing = np.zeros((len(some), len(known)), dtype=np.uint8)
        for bottleneck in range(known.shape[1]):
            agreeing += some[:, bottleneck, None] == known[None, :, bottleneck]
        best = agreeing.argmax(axis=1)
        any_agrees = agreeing[np.arange(len(some)), best] > 0
        nodes[first : first + rows] = np.where(any_agrees, known_node[best], -1)
    return nodes
