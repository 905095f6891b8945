"""Pairs of states that may be one: the nearest by their futures, and rare ones with the moves of another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cogmap.hmm.states import StateCounts, join_states
from cogmap.search.account import SETTLED, Account, Log, account
from cogmap.search.description import likeliest_targets
from cogmap.search.distance import StateDistances
from cogmap.search.edges import drop_edges, widened

_PAIRS = 6  # nearest pairs that are tried to be merged
RARER = 0.3  # of the other's visits


def merge_pairs(log: Log, current: Account) -> Account:
    """Nearest pairs of states merged one at a time, where that makes the description shorter.

    A wrong row sets two states of one place apart; merged, its few counts are outvoted.
    """
    tried: set[tuple[int, int]] = set()
    while True:
        pairs = [*StateDistances(current.counts).nearest_pairs(_PAIRS), *_same_moves(current.counts)[:_PAIRS]]
        for one, other in pairs:
            if (one, other) in tried:
                continue
            tried.add((one, other))
            number = np.arange(current.num_states) - (np.arange(current.num_states) > one)
            number[one] = number[other]
            joined = join_states(current.counts, number, current.num_states - 1)
            merged = drop_edges(log, account(log, joined, below=current.length))
            if merged.length < current.length - SETTLED and _lost(current, merged) >= 2 * current.name:
                merged = drop_edges(log, widened(log, merged))
            # Two states of one place lose nothing but what they had fitted to chance.
            if merged.length < current.length - SETTLED and _lost(current, merged) < 2 * current.name:
                current, tried = merged, set()
                break
        else:
            return current


def _lost(current: Account, merged: Account) -> float:
    return current.found.log_likelihood - merged.found.log_likelihood


def _same_moves(counts: StateCounts) -> list[tuple[int, int]]:
    """Pairs of states with the same likeliest targets, one visited far less: it may be the other with noise.

    The rarest first. The other is the one that is visited most.
    """
    visits = counts.visits
    _, kind = np.unique(likeliest_targets(counts), axis=0, return_inverse=True)
    order = np.argsort(visits, kind="stable")
    usual = np.zeros(counts.num_states, dtype=np.int64)
    usual[kind.ravel()[order]] = order  # the last write is the most visited
    usual = usual[kind.ravel()]
    return [
        (int(state), int(usual[state])) for state in order if visits[state] < RARER * visits[usual[state]]
    ]


def joined_rare(log: Log, current: Account) -> Iterator[Account]:
    """With all rare states that have the same likeliest targets as another, whatever they show, merged with it."""
    group = np.arange(current.num_states)
    for rare, usual in _same_moves(current.counts)[::-1]:
        group[rare] = group[usual]
    distinct, group = np.unique(group, return_inverse=True)
    if len(distinct) < current.num_states:
        yield account(log, join_states(current.counts, group.ravel(), len(distinct)))
