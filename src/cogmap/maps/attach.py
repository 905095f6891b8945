"""Which node each code stands for, by what leads into it, what it leads to, and what is seen there."""

from __future__ import annotations

import numpy as np

from cogmap.maps.counts import Counts, Sightings
from cogmap.maps.evidence import UNKNOWN
from cogmap.records import Integers

_TELLING = 16  # an action that leads to a node from more nodes than these tells little about where it was taken


def attach(
    counts: Counts, seen: Sightings, code_node: Integers, next_node: Integers, sees: Integers
) -> Integers:
    """The node of each code (J,) by vote, UNKNOWN where no node has more than half of the votes.

    Every step into a code votes for the node that its own source and action lead to in `next_node` (V, A);
    every step out of it for the nodes from which that action leads where it led. Among nodes with equal votes
    the one that is seen as the code is wins: `sees` (V,).
    """
    node = np.full(counts.num_codes, UNKNOWN, dtype=np.int32)
    code, voted, weight, cast = _votes(counts, code_node, next_node)
    if not len(code):
        return node
    code, voted, weight = _sum_pairs(code, voted, weight, len(next_node))
    agreement = _agreement(seen, code, sees[voted])
    order = np.lexsort((voted, -(weight + agreement), code))
    first = order[np.concatenate(([True], code[order][1:] != code[order][:-1]))]
    won = first[2 * weight[first] > cast[code[first]]]
    node[code[won]] = voted[won]
    return node


def _votes(
    counts: Counts, code_node: Integers, next_node: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Votes as (code, node, weight), and the votes each code could have got at most (J,)."""
    source, target = code_node[counts.source], code_node[counts.target]  # (E,) nodes
    expected = np.where(source >= 0, next_node[source, counts.action], UNKNOWN)
    inward = np.flatnonzero(expected >= 0)
    which, origin = _origins(next_node, counts.action, target)
    cast = np.bincount(counts.target[inward], weights=counts.count[inward], minlength=counts.num_codes)
    outward = which[np.concatenate(([True], which[1:] != which[:-1]))] if len(which) else which
    cast += np.bincount(counts.source[outward], weights=counts.count[outward], minlength=counts.num_codes)
    code = np.concatenate((counts.target[inward], counts.source[which]))
    voted = np.concatenate((expected[inward], origin))
    weight = np.concatenate((counts.count[inward], counts.count[which])).astype(np.int64)
    return code, voted, weight, cast.astype(np.int64)


def _origins(next_node: Integers, action: Integers, target: Integers) -> tuple[Integers, Integers]:
    """Pairs (i, v): `action[i]` leads from node v to `target[i]`; i rises. None where too many v would do."""
    nodes, actions = next_node.shape
    origin, taken = np.nonzero(next_node >= 0)
    key = taken * np.int64(nodes) + next_node[origin, taken]
    order = np.argsort(key, kind="stable")
    origin = origin[order].astype(np.int32)
    start = np.searchsorted(key[order], np.arange(nodes * actions + 1))
    wanted = np.flatnonzero(target >= 0)
    slot = action[wanted] * np.int64(nodes) + target[wanted]
    many = start[slot + 1] - start[slot]
    wanted, slot, many = (array[many <= _TELLING] for array in (wanted, slot, many))
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(wanted, many), origin[np.repeat(start[slot], many) + within]


def _sum_pairs(
    code: Integers, node: Integers, weight: Integers, nodes: int
) -> tuple[Integers, Integers, Integers]:
    key = code * np.int64(nodes) + node
    order = np.argsort(key)
    key = key[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    code, node = np.divmod(key[starts], nodes)
    return code, node.astype(np.int32), np.add.reduceat(weight[order], starts)


def _agreement(seen: Sightings, code: Integers, observation: Integers) -> Integers:
    """How often each code was active while `observation` was seen."""
    key = seen.code * np.int64(seen.num_observations) + seen.observation
    wanted = code * np.int64(seen.num_observations) + observation
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    return np.where(key[place] == wanted, seen.count[place], 0)
