"""Which nodes are recurrent places, and which are transient states of the model.

A model that has not localised itself yet uses other codes, to which it never returns. With noisy observations it may
use another code at a place, but not because an edge of the map leads there. So the recurrent nodes are those that edges
reach from the components in which the walks end.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csgraph

from cogmap.maps.counts import Counts, Whole
from cogmap.records import Booleans

_SURPRISE = 0.1  # of the steps in a component: entries against clear edges, at the most


def lasting(flows: Counts, next_node: Whole) -> Booleans:
    """(V,) nodes that clear edges `next_node` (V, A) reach from the recurrent components."""
    nodes = len(next_node)
    if nodes == 0 or not len(flows.count):
        return np.ones(nodes, dtype=bool)
    source, action = np.nonzero(next_node >= 0)
    edges = (np.ones(len(source)), (source, next_node[source, action]))
    graph = coo_array(edges, shape=(nodes, nodes)).tocsr()
    _, part = csgraph.connected_components(graph, directed=True, connection="strong")
    return reach(next_node, _homes(flows, next_node, part)[part])


def _homes(flows: Counts, next_node: Whole, part: Whole) -> Booleans:
    """(components,) strongly connected components in which walks end, not those that they only pass through.

    When the model localises itself, its node leaves a component without a clear edge and never returns. So such exits
    must not outnumber entries. A component that is mostly entered against clear edges is noise. If no component
    qualifies, the one with the most steps is used.
    """
    parts = int(part.max()) + 1
    origin, target = part[flows.source], part[flows.target]
    across = origin != target
    odd = across & (next_node[flows.source, flows.action] != flows.target)
    taken, left = (_total(origin, flows.count, which, parts) for which in (np.ones_like(odd), odd))
    entered, surprised = (_total(target, flows.count, which, parts) for which in (across, odd))
    homes = (left <= 2 * entered + 3) & (surprised <= _SURPRISE * taken) & (taken > 0)
    if not homes.any():
        homes[taken.argmax()] = True
    return homes


def _total(part: Whole, count: Whole, which: Booleans, parts: int) -> Whole:
    return np.bincount(part[which], weights=count[which], minlength=parts)


def reach(next_node: Whole, starts: Booleans) -> Booleans:
    """(V,) nodes that edges `next_node` (V, A) reach from any of `starts` (V,), these included."""
    reached = starts.copy()
    frontier: Whole = np.flatnonzero(starts)
    while len(frontier):
        targets = next_node[frontier]
        found = np.unique(targets[targets >= 0])
        frontier = found[~reached[found]]
        reached[frontier] = True
    return reached
