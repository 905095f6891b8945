"""Places that were split in two: nodes with the same observation and mostly the same successors.

Smoothing uses later steps too. If an edge of a node is wrong, walks that take it fit another node better, and one place
may become two nodes that differ in that edge only. Whether two such nodes are one place is not decided here: the caller
merges them, smooths again, and keeps what explains the walks better.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cogmap.maps.counts import Whole
from cogmap.maps.minimise import spread
from cogmap.maps.survey import Survey, survey
from cogmap.records import Walks


def join_halves(walks: Walks, steps: Whole) -> Whole | None:
    """Steps (B, N) with nodes that may be one place merged; None if there are none."""
    view = survey(walks, steps)
    first, second = _pairs(view)
    if not first.size:
        return None
    size = (view.num_nodes, view.num_nodes)
    alike = coo_array((np.ones(len(first)), (first, second)), shape=size)
    return spread(connected_components(alike, directed=False)[1], steps)


def _pairs(view: Survey) -> tuple[Whole, Whole]:
    """Pairs of nodes with the same observation and the same successor for at least half of the actions."""
    first, second = _candidates(view)
    same = (view.next_node[first] == view.next_node[second]) & (view.next_node[first] >= 0)  # (pairs, A)
    halves = 2 * same.sum(axis=1) >= view.next_node.shape[1]
    return first[halves], second[halves]


def _candidates(view: Survey) -> tuple[Whole, Whole]:
    """Pairs of nodes with the same observation and one successor in common."""
    pairs = set()
    for action in range(view.next_node.shape[1]):
        nodes = np.flatnonzero(view.next_node[:, action] >= 0)
        key = view.sees[nodes] * np.int64(view.num_nodes) + view.next_node[nodes, action]
        order = np.argsort(key, kind="stable")
        nodes, key = nodes[order], key[order]
        for reach in range(1, 4):  # of many nodes with a common successor, some pairs are enough
            alike = key[reach:] == key[:-reach]
            pairs |= set(zip(nodes[:-reach][alike].tolist(), nodes[reach:][alike].tolist(), strict=True))
    table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
