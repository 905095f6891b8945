"""Moves on which all machines agree that are as small and that no history contradicts either.

A log seldom tells one machine from all others: a few moves lead elsewhere in another one, and nothing speaks against
it. What another machine says otherwise is not known. So each move is led to every state against which few histories
speak, and kept there while others are led elsewhere (`rewire`): if at last nothing contradicts the table, there is
such a machine.

States have no names of their own. The first move to a state, from the start along the moves that were made most, says
which state is meant; another machine disagrees about a move if it leads to the state of another name there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.counts import UNKNOWN
from cogmap.maps.rewire import PATIENCE, repair
from cogmap.maps.traces import Reading, Scratch, Traces, change, lead, nodes_of, scratch_for
from cogmap.records import Booleans

_AT_ONCE = 64  # moves, before the clock is looked at
_FEW = 10  # contradictions that a few other moves might do away with
_PATIENCE = 4 * PATIENCE  # that there is no other machine must be looked for longer than that there is one


def agreed_moves(traces: Traces, by: Reading, others: Iterable[Reading], until: float) -> Booleans:
    """(Q, A) moves that were made and that no machine is found to say otherwise.

    others: machines that are found already. until: by time.monotonic(), moves that most histories speak for last.
    """
    names = naming_moves(by)
    known = by.target >= 0
    for other in others:
        known &= _same(by, other, names)
    scratch, number = scratch_for(traces), 0
    allowed = np.ones((len(by.given), by.num_states), dtype=np.bool_)
    moves = np.flatnonzero(by.given.sum(axis=1))
    found = []
    for some in np.array_split(moves, max(len(moves) // _AT_ONCE, 1)):
        if time.monotonic() > until:
            break
        few, number = _few_contradict(traces, by, some, scratch, number)
        found.append(few)
    few = np.concatenate([np.zeros((0, 3), dtype=np.int64), *found])
    for _, move, to in few[np.argsort(few[:, 0], kind="stable")].tolist():
        here, action = divmod(move, by.target.shape[1])
        if time.monotonic() > until:
            break
        if not known[here, action]:
            continue
        other, allowed[move] = by.copy(), False
        lead(traces, other, here, action, to)
        wrong, number = repair(traces, other, allowed, _PATIENCE, scratch, number)
        allowed[move] = True
        if wrong == 0:
            known &= _same(by, other, names)
    return known


def naming_moves(by: Reading) -> list[int]:
    """The move that each state but the first is known by: the most frequent one from a state with a name."""
    actions = by.target.shape[1]
    often = by.given.sum(axis=1).reshape(by.target.shape)
    first = int(by.state[0])
    named, moves = np.arange(by.num_states) == first, list[int]()
    while True:
        new = (by.target >= 0) & named[:, None] & ~named[by.target]
        if not new.any():
            return moves
        move = int(np.where(new, often, -1).argmax())
        moves.append(move)
        named[by.target[divmod(move, actions)]] = True


def _same(by: Reading, other: Reading, names: list[int]) -> Booleans:
    """(Q, A) whether another machine leads each move to the state of the same name, or never makes it."""
    actions = by.target.shape[1]
    partner = np.full(by.num_states, other.state[0])
    table = np.vstack([other.target, np.full(actions, UNKNOWN, dtype=np.int32)])  # -1 reads the last row
    for move in names:
        here, action = divmod(move, actions)
        partner[by.target[here, action]] = table[partner[here], action]
    after, named = table[partner], partner[by.target]
    return np.asarray((after == named) | (after < 0) | (named < 0))


@njit(cache=True)
def _few_contradict(
    traces: Traces, by: Reading, moves: Any, scratch: Scratch, number: int
) -> tuple[Any, int]:
    """(K, 3) contradictions if one of some moves leads to a state, the move and the state, where they are few."""
    nodes, start, clean = nodes_of(traces, by, moves)
    found = []
    for index in range(len(moves)):
        mine = nodes[start[index] : start[index + 1]]
        for to in range(len(by.target)):
            if to == by.target.ravel()[moves[index]]:
                continue
            number += 1
            more = change(traces, by, mine, clean[index], moves[index], to, _FEW, 0, scratch, number)
            if more <= _FEW:
                found.append((more, moves[index], to))
    few = np.empty((len(found), 3), dtype=np.int64)
    for index in range(len(found)):
        few[index, 0], few[index, 1], few[index, 2] = found[index]
    return few, number
