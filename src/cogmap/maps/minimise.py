"""The minimal map: as few nodes as explain what followed what, one for every place that can be told apart.

`refine` splits codes that behave differently. What it leaves is mended here, again and again until nothing
changes: blocks that no certain place leads to are dissolved (they stand for "I do not know yet", or for a
place seen through noise), nodes that explain more as one are merged, and every code joins the node that its
neighbours vote for. No position is ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.maps.attach import attach
from cogmap.maps.counts import Counts, Sightings
from cogmap.maps.evidence import UNKNOWN, Leaders, leaders
from cogmap.maps.refine import refine
from cogmap.records import Booleans, Integers

_ROUNDS = 12


@dataclass(frozen=True, eq=False)
class Places:
    """The nodes that codes were merged into, and where each action leads."""

    code_node: Integers  # (J,) UNKNOWN for codes that stand for no one place
    next_node: Integers  # (V, A) UNKNOWN where nothing clear follows
    sees: Integers  # (V,) the observation seen most often
    flows: Counts  # transitions between nodes


def minimise(counts: Counts, seen: Sightings) -> Places:
    code_node = refine(counts, seen)
    for _ in range(_ROUNDS):
        before = code_node
        places = summarise(counts, seen, code_node)
        kept = lasting(places)
        code_node = keep_nodes(code_node, kept)
        places = summarise(counts, seen, code_node)
        code_node = compose(code_node, merge_twins(places))
        places = summarise(counts, seen, code_node)
        code_node = attach(counts, seen, code_node, places.next_node, places.sees)
        code_node = keep_nodes(code_node, np.ones(len(places.sees), dtype=bool))
        if np.array_equal(code_node, before):
            break
    return summarise(counts, seen, code_node)


def summarise(counts: Counts, seen: Sightings, code_node: Integers) -> Places:
    """Pool the counts of codes over their nodes."""
    nodes = int(code_node.max(initial=-1)) + 1
    flows = pool(counts, code_node, nodes)
    lead = flow_leaders(flows)
    next_node = lead.clear_column().reshape(nodes, counts.num_actions)
    known = code_node[seen.code] >= 0
    shape = (nodes, seen.num_observations)
    sees = leaders(code_node[seen.code[known]], seen.observation[known], seen.count[known], shape).column
    return Places(code_node, next_node, sees, flows)


def pool(counts: Counts, code_node: Integers, nodes: int) -> Counts:
    """Counts between nodes; steps from or to a code without a node are left out."""
    from scipy import sparse

    source, target = code_node[counts.source], code_node[counts.target]
    keep = (source >= 0) & (target >= 0)
    row = source[keep] * np.int64(counts.num_actions) + counts.action[keep]
    shape = (nodes * counts.num_actions, max(nodes, 1))
    table = sparse.coo_array((counts.count[keep].astype(np.int64), (row, target[keep])), shape=shape).tocsr()
    table.sort_indices()
    row = np.repeat(np.arange(shape[0]), np.diff(table.indptr))
    source, action = np.divmod(row, counts.num_actions)
    return Counts(source, action, table.indices, table.data, nodes, counts.num_actions)


def flow_leaders(flows: Counts) -> Leaders:
    """Where each action leads from each node, rows (node, action)."""
    row = flows.source * flows.num_actions + flows.action
    shape = (flows.num_codes * flows.num_actions, max(flows.num_codes, 1))
    return leaders(row, flows.target, flows.count, shape)


def keep_nodes(code_node: Integers, kept: Booleans) -> Integers:
    """Codes of nodes that are not kept, or that have lost their last code, lose their node; the rest close ranks."""
    used = np.zeros(len(kept), dtype=bool)
    used[code_node[code_node >= 0]] = True
    kept = kept & used
    return compose(code_node, np.where(kept, np.cumsum(kept) - 1, UNKNOWN))


def compose(code_node: Integers, number: Integers) -> Integers:
    """The new number of each code's node."""
    if not len(number):
        return code_node
    return np.where(code_node >= 0, number[code_node], UNKNOWN).astype(np.int32)


def lasting(places: Places) -> Booleans:
    """(V,): nodes that are places, not passing states of mind.

    What can be reached from where the walks spend their time lasts. Any other node lasts only if everything
    tried from it leads clearly to a node that lasts, and if what led into it was not expected to lead
    elsewhere, as it is where a place is seen through noise.
    """
    flows, next_node = places.flows, places.next_node
    nodes = flows.num_codes
    if nodes == 0:
        return np.zeros(0, dtype=bool)
    kept, reached = np.ones(nodes, dtype=bool), _reached(flows, next_node)
    support = np.bincount(flows.target, weights=flows.count, minlength=nodes)
    surprising = (next_node[flows.source, flows.action] != flows.target) & (flows.source != flows.target)
    tries = np.bincount(
        flows.source * flows.num_actions + flows.action, weights=flows.count, minlength=next_node.size
    ).reshape(next_node.shape)
    while True:
        clear = (next_node >= 0) & kept[next_node]
        settled = (clear | (tries < 4)).all(axis=1) & clear.any(axis=1)
        odd = surprising & kept[flows.source]
        surprise = np.bincount(flows.target[odd], weights=flows.count[odd], minlength=nodes)
        still = kept & (reached | (settled & (surprise <= 0.1 * support)))
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


def merge_twins(places: Places) -> Integers:
    """(V,): new node numbers after merging pairs that explain more steps as one node than as two."""
    return np.arange(places.flows.num_codes)
