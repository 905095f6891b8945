"""Moves led elsewhere until no history contradicts a table, and so machines of fewer states.

Folding cannot take a wrong merge back: what follows it then needs states that there are not. Here a state is given up,
the moves that led to it lead to others, and histories may contradict the table for a while. Every move on the way to a
contradiction is tried with every other target, and the change after which the fewest histories contradict the table is
made, even if these are more than before; what was left is not gone back to for some changes (tabu search). If at last
nothing contradicts the table, there is a machine of fewer states.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.maps.fold import HistoryTree, Machine
from cogmap.maps.traces import Reading, Scratch, Traces, change, lead, nodes_of, read, scratch_for, traces_of

PATIENCE = 10  # changes without fewer contradictions than ever before, of many tables that are tried
_CHANGES = 5  # times the patience, at the most
_TABU = 10  # changes for which a move does not go back
_BLAMED = 64  # contradictions whose ways are looked at: they have most moves in common
_TOO_MANY = 500  # contradictions: too far from any machine


@njit(cache=True)
def repair(
    traces: Traces, by: Reading, there: Any, free: Any, patience: int, scratch: Scratch, number: int
) -> tuple[int, int]:
    """Lead moves elsewhere until nothing contradicts the table: how many nodes still do, and the scratch's number.

    there: (Q,) states that a move may lead to. free: (Q * A,) moves that may be led elsewhere. patience: changes until
    there must be fewer contradictions than ever before.
    """
    until = np.zeros((len(by.given), len(by.target)), dtype=np.int64)
    best, waited = 1 << 40, 0
    for turn in range(_CHANGES * patience + 1):
        wrong = int(by.wrong.sum())
        waited = 0 if wrong < best else waited + 1
        best = min(best, wrong)
        if wrong == 0 or wrong > _TOO_MANY or waited > patience or turn == _CHANGES * patience:
            return wrong, number
        moves = _blamed(traces, by, free)
        nodes, start, clean = nodes_of(traces, by, moves)
        least, chosen, chosen_to = _TOO_MANY, -1, -1
        for index in range(len(moves)):
            allowed = there & (until[moves[index]] <= turn)
            mine = nodes[start[index] : start[index + 1]]
            more, to, number = best_target(
                traces, by, mine, clean[index], moves[index], allowed, least, wrong, scratch, number
            )
            if to >= 0:
                least, chosen, chosen_to = more, moves[index], to
        if chosen < 0:
            return wrong, number
        here, action = divmod(chosen, by.target.shape[1])
        until[chosen, by.target[here, action]] = turn + _TABU
        lead(traces, by, here, action, chosen_to)
    return best, number


@njit(cache=True)
def _blamed(traces: Traces, by: Reading, free: Any) -> Any:
    """(K,) free moves on the ways to contradictions, those on most ways first."""
    blamed = np.zeros(len(free), dtype=np.int64)
    for node in np.flatnonzero(by.wrong)[:_BLAMED]:
        while node > 0:
            blamed[by.move[node]] += 1
            node = traces.parent[node]
    order = np.argsort(-blamed)
    return order[(blamed[order] > 0) & free[order]]


@njit(cache=True)
def best_target(
    traces: Traces, by: Reading, nodes: Any, clean: int, move: int, allowed: Any, most: int, wrong: int,
    scratch: Scratch, number: int,
) -> tuple[int, int, int]:  # fmt: skip
    """The other state to which a move leads with the fewest contradictions more, below `most`; -1 if there is none."""
    best = -1
    for to in range(len(by.target)):
        if allowed[to] and to != by.target.ravel()[move]:
            number += 1
            more = change(traces, by, nodes, clean, move, to, most - 1, wrong, scratch, number)
            if more < most:
                most, best = more, to
    return most, best, number


@njit(cache=True)
def _lead_all(traces: Traces, by: Reading, left: int, there: Any, scratch: Scratch, number: int) -> int:
    """Lead every move elsewhere that leads to a state (-1 for those that lead to none yet); returns the number."""
    while True:
        made = by.given.sum(axis=1) > 0
        moves = np.flatnonzero(made & (by.target.ravel() == left))
        if len(moves) == 0:
            return number
        nodes, start, clean = nodes_of(traces, by, moves)
        index = (start[1:] - start[:-1]).argmax()
        mine, move = nodes[start[index] : start[index + 1]], moves[index]
        wrong = int(by.wrong.sum())
        _, to, number = best_target(
            traces, by, mine, clean[index], move, there, 1 << 40, wrong, scratch, number
        )
        if to < 0:
            return number
        lead(traces, by, move // by.target.shape[1], move % by.target.shape[1], to)


@dataclass(frozen=True, eq=False)
class Histories:
    """A tree of histories, to be read by tables of moves."""

    tree: HistoryTree
    traces: Traces
    number: Whole  # (H,) of each node of the tree in the traces

    def read(self, machine: Machine) -> Reading | None:
        """As a machine reads them, with its unknown moves led to likely states; None if some contradict it for good."""
        node, known = self.tree.node, self.tree.node >= 0
        state = np.full(len(self.number), UNKNOWN, dtype=np.int32)
        state[self.number[node[known]]] = machine.steps[known]
        by, scratch = read(self.traces, machine.next_state, machine.shows, state), scratch_for(self.traces)
        there, free = np.ones(by.num_states, dtype=np.bool_), np.ones(len(by.given), dtype=np.bool_)
        number = _lead_all(self.traces, by, UNKNOWN, there, scratch, 0)
        wrong, _ = repair(self.traces, by, there, free, PATIENCE, scratch, number)
        return by if wrong == 0 and (by.state >= 0).all() else None

    def machine(self, by: Reading) -> Machine:
        """The machine of a table that nothing contradicts."""
        steps = np.where(self.tree.node >= 0, by.state[self.number[self.tree.node]], UNKNOWN)
        return Machine(by.target, by.output, by.shows.astype(np.int64), steps)


def histories_of(tree: HistoryTree) -> Histories:
    return Histories(tree, *traces_of(tree))


def shorter(traces: Traces, by: Reading, until: float) -> Reading:
    """The table without states that are not needed. until: by time.monotonic()."""
    scratch, number, free = scratch_for(traces), 0, np.ones(len(by.given), dtype=np.bool_)
    while True:
        fewer = None
        for state in np.argsort(np.bincount(by.state, minlength=by.num_states), kind="stable"):
            if time.monotonic() > until:
                return by
            if state == by.state[0]:
                continue
            tried, there = by.copy(), np.arange(by.num_states) != state
            number = _lead_all(traces, tried, int(state), there, scratch, number)
            wrong, number = repair(traces, tried, there, free, PATIENCE, scratch, number)
            if wrong == 0:
                fewer = _without(tried, int(state))
                break
        if fewer is None:
            return by
        by, free = fewer, np.ones(len(fewer.given), dtype=np.bool_)


def _without(by: Reading, state: int) -> Reading:
    """The table without a state that no move leads to."""
    kept = np.delete(np.arange(by.num_states), state)
    number = np.full(by.num_states + 1, UNKNOWN, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    actions = by.target.shape[1]
    here, action = np.divmod(by.move, actions)
    return Reading(
        target=number[by.target[kept]],
        output=by.output[kept],
        shows=by.shows[kept],
        given=by.given.reshape(by.num_states, actions, -1)[kept].reshape(len(kept) * actions, -1),
        state=number[by.state],
        move=np.where(by.move < 0, UNKNOWN, number[here] * actions + action).astype(np.int32),
        wrong=by.wrong,
    )
