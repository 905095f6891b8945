"""Which nodes are places, and which are passing states of mind.

An agent that does not know yet where it is uses codes of its own for that, and never comes back to them; one that
sees a place through noise may use another code there, but never because the map leads to it. So what lasts is what
the map leads to from where the walks end up.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csgraph

from cogmap.maps.counts import Counts, Whole
from cogmap.records import Booleans

_SURPRISE = 0.1  # of the steps in a part; places are not entered by accident more often


def lasting(flows: Counts, next_node: Whole) -> Booleans:
    """(V,): nodes that clear edges `next_node` (V, A) reach from the parts of the map that are homes."""
    nodes = len(next_node)
    if nodes == 0 or not len(flows.count):
        return np.ones(nodes, dtype=bool)
    source, action = np.nonzero(next_node >= 0)
    edges = (np.ones(len(source)), (source, next_node[source, action]))
    graph = coo_array(edges, shape=(nodes, nodes)).tocsr()
    _, part = csgraph.connected_components(graph, directed=True, connection="strong")
    return reach(next_node, _homes(flows, next_node, part)[part])


def _homes(flows: Counts, next_node: Whole, part: Whole) -> Booleans:
    """(parts,): strongly connected parts where walks end up, not those they only pass through.

    Finding out where one is leads out of a part without a clear edge, and never back; so no more may leave
    so than come in. Nor may a part be entered against clear edges alone, as a place seen through noise is.
    Where no part is such, the one with the most steps has to do.
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
    """(V,): what edges `next_node` (V, A) lead to from any of `starts` (V,), these included."""
    reached = starts.copy()
    frontier: Whole = np.flatnonzero(starts)
    while len(frontier):
        targets = next_node[frontier]
        found = np.unique(targets[targets >= 0])
        frontier = found[~reached[found]]
        reached[frontier] = True
    return reached
