"""Sights of an account: added where the same move is followed by several, as where an observation errs, and dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cogmap.hmm.counts import Whole
from cogmap.hmm.states import StateCounts, offsets, sum_equal
from cogmap.records import Floats
from cogmap.search.account import ROUNDS, Account, Log, account


def erring(log: Log, current: Account) -> Iterator[Account]:
    """Settled again with more sights, if any: what a move seldom shows may be seen wrongly where it usually leads.

    Expectation-maximisation never adds a sight. Codes with noise in what is seen stand for a place and for what was
    seen there: a state for each, whose next ones are as many, until places can no longer be told from others.
    """
    more = with_errors(current.counts)
    if len(more.seen) > len(current.counts.seen):
        yield account(log, more, 2 * ROUNDS)


def seen_surely(log: Log, current: Account) -> Iterator[Account]:
    """With the usual sight of each state alone, if some have others: these may stand in for edges that were missing."""
    counts = current.counts
    usual = counts.seen == counts.shows()[counts.seen_at]
    if not usual.all():
        sure = {name: getattr(counts, name)[usual] for name in ("seen_at", "seen", "seen_count")}
        yield account(log, replace(counts, **sure), 2 * ROUNDS, current.length)


def with_errors(counts: StateCounts) -> StateCounts:
    """The counts with more sights: as often as a move had targets that look different, at its usual ones.

    The usual targets of a move are those that show what is seen most after it; each gets its share.
    """
    looks, moves = counts.num_observations, len(counts.tries)
    look = counts.shows()[counts.target].astype(np.int64)
    move, seen, often = _seen_after_moves(counts)  # (n,)
    order = np.argsort(often, kind="stable")  # the last write is the most frequent
    usual = np.zeros(moves, dtype=np.int64)
    usual[move[order]] = order
    edge = np.flatnonzero(look == seen[usual[counts.row]])
    # Each of these edges with all that is seen after its move.
    first = offsets(move, moves)[counts.row[edge]]
    number = np.bincount(move, minlength=moves)[counts.row[edge]]
    entry = np.repeat(first - np.cumsum(number) + number, number) + np.arange(int(number.sum()))
    edge = np.repeat(edge, number)
    errs = seen[entry] != look[edge]
    edge, entry = edge[errs], entry[errs]
    more = often[entry] * counts.count[edge] / often[usual[counts.row[edge]]]
    shown = counts.seen_at.astype(np.int64) * looks + counts.seen
    at = counts.target[edge].astype(np.int64) * looks + seen[entry]
    key, count = sum_equal(np.concatenate([shown, at]), np.concatenate([counts.seen_count, more]))
    state, observation = (column.astype(np.int32) for column in np.divmod(key, looks))
    return replace(counts, seen_at=state, seen=observation, seen_count=count)


def seen_otherwise(counts: StateCounts) -> float:
    """The share of steps after which a state is reached that looks different from the usual one after the move."""
    move, _, often = _seen_after_moves(counts)
    usual = np.zeros(len(counts.tries))
    np.maximum.at(usual, move, often)
    return float(1 - usual.sum() / max(often.sum(), 1e-9))


def _seen_after_moves(counts: StateCounts) -> tuple[Whole, Whole, Floats]:
    """Moves (n,), in rising order, what the states that they lead to show, and how often."""
    look = counts.shows()[counts.target]
    key, often = sum_equal(counts.row * counts.num_observations + look, counts.count)
    return *np.divmod(key, counts.num_observations), often
