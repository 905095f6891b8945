"""Which nodes are places, and which are passing states of mind."""

from __future__ import annotations

import numpy as np

from cogmap.maps.counts import Counts
from cogmap.records import Booleans, Integers

_SURPRISE = 0.1  # of a node's steps; places are not entered by accident more often


def lasting(flows: Counts, next_node: Integers, tries: Integers) -> Booleans:
    """(V,): nodes to keep.

    What can be reached from where the walks spend their time lasts. Any other node lasts only if most of what
    was tried from it leads clearly to nodes that last, and if what led into it was not expected to lead
    elsewhere: an agent that does not know where it is has no clear next place, and a place seen through
    noise is only ever entered instead of another. `next_node` and `tries` are (V, A).
    """
    nodes = len(next_node)
    if nodes == 0:
        return np.zeros(0, dtype=bool)
    expected = next_node[flows.source, flows.action] == flows.target
    reached, kept = _reached(flows, next_node), np.ones(nodes, dtype=bool)
    while True:
        follows = expected & kept[flows.target]
        explained = np.bincount(flows.source[follows], weights=flows.count[follows], minlength=nodes)
        odd = ~expected & kept[flows.source] & (flows.source != flows.target)
        surprise = np.bincount(flows.target[odd], weights=flows.count[odd], minlength=nodes)
        taken = tries.sum(axis=1)
        sound = (3 * explained >= 2 * taken) & (explained > 0) & (surprise <= _SURPRISE * taken)
        still = kept & (reached | sound)
        if np.array_equal(still, kept):
            return kept
        kept = still


def _reached(flows: Counts, next_node: Integers) -> Booleans:
    """(V,): nodes that clear edges reach from the strongly connected part where most steps are."""
    from scipy import sparse
    from scipy.sparse import csgraph

    nodes = len(next_node)
    source, action = np.nonzero(next_node >= 0)
    edges = (np.ones(len(source)), (source, next_node[source, action]))
    graph = sparse.coo_array(edges, shape=(nodes, nodes)).tocsr()
    _, part = csgraph.connected_components(graph, directed=True, connection="strong")
    busy = np.bincount(part[flows.source], weights=flows.count, minlength=part.max() + 1).argmax()
    start = int(np.flatnonzero(part == busy)[0])
    reached = np.zeros(nodes, dtype=bool)
    reached[csgraph.breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached
