"""Partition refinement of codes: Moore's minimisation of an automaton, with counts instead of a table.

Level 0 puts codes with the same observation into one block. Level k + 1 puts codes together that have the same
observation and whose successors, action by action, are in the same blocks of level k. Blocks split only on clear
counts: where counts are missing or contradictory the successor is a wildcard, and such a code joins a block only if
exactly one block fits.
"""

from __future__ import annotations

import numpy as np

from cogmap.maps.counts import Counts, Sightings, Whole, rank_rows
from cogmap.maps.evidence import UNKNOWN, leaders
from cogmap.records import Booleans

NEVER = -2  # an action that is never taken from a code, although random actions would have taken it
_PATIENCE = 8  # levels without a new block; rare codes may alternate between blocks for ever


def refine(counts: Counts, seen: Sightings) -> Whole:
    """(J,) the block of each code, or UNKNOWN for codes that are too rare or too uncertain."""
    observation = leaders(seen.code, seen.observation, seen.count, (seen.num_codes, seen.num_observations))
    sees = observation.clear_column()
    tries = action_tries(counts)
    core = np.flatnonzero(tries.sum(axis=1) >= 4 * counts.num_actions)
    never = never_taken(tries)[core]
    from_core = np.zeros(counts.num_codes, dtype=bool)
    from_core[core] = True
    edges = counts.select(from_core[counts.source])
    block, most, since = sees, 0, 0
    while since < _PATIENCE and len(core):
        successor = successors(edges, block)[core]  # (core, A)
        successor[never] = NEVER
        found = group(np.column_stack((sees[core], successor)))
        level = np.full(counts.num_codes, UNKNOWN, dtype=np.int32)
        level[core] = found
        if np.array_equal(level, block):
            break
        block, blocks = level, int(found.max(initial=-1)) + 1
        most, since = (blocks, 0) if blocks > most else (most, since + 1)
    return block if len(core) else np.full(counts.num_codes, UNKNOWN, dtype=np.int32)


def action_tries(counts: Counts) -> Whole:
    """(J, A) how often each action was taken from each code."""
    row = counts.source.astype(np.int64) * counts.num_actions + counts.action
    tries = np.bincount(row, weights=counts.count, minlength=counts.num_codes * counts.num_actions)
    return tries.astype(np.int64).reshape(counts.num_codes, counts.num_actions)


def never_taken(tries: Whole) -> Booleans:
    """(J, A) true where an action is never taken: at least ten times are expected, and at most a tenth occurred.

    The expectation is that actions are drawn here as often as everywhere. A few may occur where codes are wrong.
    """
    share = tries.sum(axis=0) / max(tries.sum(), 1)  # (A,)
    expected = tries.sum(axis=1, keepdims=True) * share
    return (expected >= 10) & (10 * tries <= expected)


def successors(counts: Counts, block: Whole) -> Whole:
    """(J, A) the block that each action clearly leads to from each code, or UNKNOWN."""
    known = block[counts.target] >= 0
    row = counts.source[known].astype(np.int64) * counts.num_actions + counts.action[known]
    shape = (counts.num_codes * counts.num_actions, int(block.max(initial=0)) + 1)
    lead = leaders(row, block[counts.target[known]], counts.count[known], shape)
    return lead.clear_column().reshape(counts.num_codes, counts.num_actions)


def group(signatures: Whole) -> Whole:
    """(R,) the group of each row of (R, C) signatures, numbered from 0; UNKNOWN entries are wildcards.

    Rows without wildcards are grouped by equality. The others, those with the fewest wildcards first, join the
    only group that agrees with their known entries. They stay UNKNOWN if several groups agree, and start a new
    group if none does. A row needs more than half of its entries to take part.
    """
    wild = signatures == UNKNOWN  # (R, C)
    found = np.full(len(signatures), UNKNOWN, dtype=np.int32)
    members = np.empty((0, signatures.shape[1]), dtype=signatures.dtype)  # one signature per group
    first, pattern_of = rank_rows(wild)
    patterns = wild[first]
    for pattern in np.argsort(patterns.sum(axis=1), kind="stable"):
        known = ~patterns[pattern]
        if 2 * known.sum() <= known.size:
            break
        rows = np.flatnonzero(pattern_of == pattern)
        joined, founders = _join(members[:, known], signatures[rows][:, known])
        found[rows] = joined
        members = np.concatenate((members, signatures[rows[founders]]))
    return _renumber(found)


def _join(members: Whole, rows: Whole) -> tuple[Whole, Whole]:
    """The group of each row: the only one that equals it, UNKNOWN if several do, a new one if none does.

    Also the rows that start the new groups, in the order of the groups' numbers.
    """
    _, kind = rank_rows(np.concatenate((members, rows)) - NEVER)
    of_member, of_row = kind[: len(members)], kind[len(members) :]
    kinds = int(kind.max(initial=-1)) + 1
    fitting = np.bincount(of_member, minlength=kinds)
    target = np.full(kinds, UNKNOWN, dtype=np.int32)
    target[of_member] = np.arange(len(members))
    target[fitting > 1] = UNKNOWN
    founder = np.full(kinds, UNKNOWN, dtype=np.int64)
    founder[of_row[::-1]] = np.arange(len(rows))[::-1]
    new = np.flatnonzero((fitting == 0) & (founder >= 0))
    target[new] = len(members) + np.arange(len(new))
    return target[of_row], founder[new]


def _renumber(found: Whole) -> Whole:
    """Groups numbered by first appearance, so that equal partitions are equal arrays."""
    known = np.flatnonzero(found >= 0)
    first = np.full(int(found.max(initial=-1)) + 1, len(found), dtype=np.int64)
    np.minimum.at(first, found[known], known)
    used = np.flatnonzero(first < len(found))
    number = np.full(len(first), UNKNOWN, dtype=np.int32)
    number[used[np.argsort(first[used])]] = np.arange(len(used))
    renumbered = np.full(len(found), UNKNOWN, dtype=np.int32)
    renumbered[known] = number[found[known]]
    return renumbered
