"""Edges of an account: added where moves may slip, dropped where no step needs them."""

from __future__ import annotations

import numpy as np

from cogmap.hmm.states import with_slips, without_edges
from cogmap.records import Floats
from cogmap.search.account import ROUNDS, SETTLED, Account, Log, account
from cogmap.search.description import chance_of_moves

_SLIPS = 0.1  # of the moves of a state that may lead where another action does
_FEWEST_DROPPED = 0.05  # of the edges that seem unneeded


def widened(log: Log, current: Account) -> Account:
    """Settled again with more edges: an action may lead where another one does, or nowhere.

    Expectation-maximisation drops edges and never adds one. Codes are beliefs: where a move went wrong, the model is
    lost for some steps and has codes of its own for that, so the edge that was taken is not among the first counts.
    """
    return account(log, with_slips(current.counts, _SLIPS), 2 * ROUNDS)


def slipping(log: Log, current: Account) -> Account:
    """With all edges by which moves slip alike, if that is shorter: a rare one was dropped, or no code had it."""
    slips = chance_of_moves(current.counts).slips
    if slips is None:
        return current
    more = drop_edges(log, account(log, slips.added_to(current.counts), 2 * ROUNDS))
    return more if more.length < current.length else current


def drop_edges(log: Log, current: Account, least: float = _FEWEST_DROPPED) -> Account:
    """Without edges that the walks lose less by than their description takes, as long as that makes it shorter.

    Of two edges that can stand in for each other only one is unneeded: if all are too many, fewer are tried,
    down to a share of `least`.
    """
    share = 1.0
    while share >= least:
        counts = current.counts
        spared = chance_of_moves(counts).price - _loss(current)
        most = np.zeros(counts.num_states * counts.num_actions)
        np.maximum.at(most, counts.row, counts.count)
        unneeded = np.flatnonzero((spared > 0) & (counts.count < most[counts.row]))
        if not len(unneeded):
            break
        dropped = np.zeros(len(spared), dtype=bool)
        dropped[
            unneeded[np.argsort(-spared[unneeded], kind="stable")][: int(np.ceil(share * len(unneeded)))]
        ] = True
        shorter = account(log, without_edges(counts, dropped), ROUNDS // 2, current.length)
        if shorter.length > current.length - SETTLED:
            share /= 4
        else:
            current = shorter
    return current


def dropped_once(log: Log, current: Account) -> Account:
    """Without the edges that seem unneeded, all at once, to compare proposals."""
    return drop_edges(log, current, 1.0)


def _loss(current: Account) -> Floats:
    """(E,) nats that the walks lose without an edge: those of its steps, less what other targets become likelier by."""
    counts = current.counts
    total = counts.tries[counts.row]
    rest = np.maximum(total - counts.count, 1e-9)
    return np.asarray(current.found.need - total * np.log(np.maximum(total, 1e-9) / rest))
