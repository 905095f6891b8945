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
import scipy.sparse
from numba import njit

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.maps.fold import HistoryTree, Machine
from cogmap.maps.opinions import Opinion
from cogmap.maps.traces import Reading, Scratch, Traces, change, lead, nodes_of, read, scratch_for, traces_of
from cogmap.records import Booleans

PATIENCE = 10  # changes without fewer contradictions than ever before, of many tables that are tried
_CHANGES = 5  # times the patience, at the most
_TABU = 10  # changes for which a move does not go back
_BLAMED = 64  # contradictions whose ways are looked at: they have most moves in common
_TOO_MANY = 500  # contradictions: too far from any machine
_MOST_TARGETS = 1 << 24  # of all moves together: noted for each, a hundred megabytes
_MOST = 0.5  # of the pairs of a history after a move and one at a state


@njit(cache=True)
def repair(
    traces: Traces, by: Reading, allowed: Any, patience: int, scratch: Scratch, number: int
) -> tuple[int, int]:
    """Lead moves elsewhere until nothing contradicts the table: how many nodes still do, and the scratch's number.

    allowed: (Q * A, Q) states that each move may be led to. patience: changes until there must be fewer contradictions
    than ever before.
    """
    until = np.zeros((len(by.given), len(by.target)), dtype=np.int32)
    best, waited = 1 << 40, 0
    for turn in range(_CHANGES * patience + 1):
        wrong = int(by.wrong.sum())
        waited = 0 if wrong < best else waited + 1
        best = min(best, wrong)
        if wrong == 0 or wrong > _TOO_MANY or waited > patience or turn == _CHANGES * patience:
            return wrong, number
        moves = _blamed(traces, by)
        nodes, start, clean = nodes_of(traces, by, moves)
        least, chosen, chosen_to = _TOO_MANY, -1, -1
        for index in range(len(moves)):
            to_try = allowed[moves[index]] & (until[moves[index]] <= turn)
            mine = nodes[start[index] : start[index + 1]]
            more, to, number = best_target(
                traces, by, mine, clean[index], moves[index], to_try, least, wrong, scratch, number
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
def _blamed(traces: Traces, by: Reading) -> Any:
    """(K,) moves on the ways to contradictions, those on most ways first."""
    blamed = np.zeros(len(by.given), dtype=np.int64)
    for node in np.flatnonzero(by.wrong)[:_BLAMED]:
        while node > 0:
            blamed[by.move[node]] += 1
            node = traces.parent[node]
    order = np.argsort(-blamed)
    return order[blamed[order] > 0]


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
def _lead_all(traces: Traces, by: Reading, left: int, allowed: Any, scratch: Scratch, number: int) -> int:
    """Lead every move elsewhere that leads to a state (-1 for those that lead to none yet), as far as it may be led.

    Returns the scratch's number.
    """
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
            traces, by, mine, clean[index], move, allowed[move], 1 << 40, wrong, scratch, number
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
        """As a machine reads them, with its unknown moves led to likely states.

        None if some contradict it for good, or if the machine is too large for all its moves to be led anywhere.
        """
        if machine.next_state.size * machine.num_states > _MOST_TARGETS:
            return None
        node, known = self.tree.node, self.tree.node >= 0
        state = np.full(len(self.number), UNKNOWN, dtype=np.int32)
        state[self.number[node[known]]] = machine.steps[known]
        by, scratch = read(self.traces, machine.next_state, machine.shows, state), scratch_for(self.traces)
        anywhere = np.ones((len(by.given), by.num_states), dtype=np.bool_)
        number = _lead_all(self.traces, by, UNKNOWN, anywhere, scratch, 0)
        wrong, _ = repair(self.traces, by, anywhere, PATIENCE, scratch, number)
        return by if wrong == 0 and (by.state >= 0).all() else None

    def labels(self, opinion: Opinion) -> Whole:
        """(H,) of the nodes, -1 for none."""
        found, known = np.full(len(self.number), UNKNOWN), self.tree.node >= 0
        found[self.number[self.tree.node[known]]] = opinion.labels[known]
        return found

    def machine(self, by: Reading) -> Machine:
        """The machine of a table that nothing contradicts."""
        steps = np.where(self.tree.node >= 0, by.state[self.number[self.tree.node]], UNKNOWN)
        return Machine(by.target, by.output, by.shows.astype(np.int64), steps)


def histories_of(tree: HistoryTree) -> Histories:
    return Histories(tree, *traces_of(tree))


def shorter(histories: Histories, by: Reading, opinion: Opinion, until: float) -> Reading:
    """The table without states that are not needed. until: by time.monotonic().

    First moves are led only where the model agrees, so that states which rare moves tell apart stay what they are;
    then anywhere: the model may tell one state for two.
    """
    scratch, labels = scratch_for(histories.traces), histories.labels(opinion)
    number, asks = 0, True
    while time.monotonic() < until:
        allowed = np.ones((len(by.given), by.num_states), dtype=np.bool_)
        if asks:
            allowed = ~denied_targets(by, labels, opinion.apart)
        fewer, number = _with_fewer(histories.traces, by, allowed, until, scratch, number)
        if fewer is None and not asks:
            break
        asks &= fewer is not None
        by = by if fewer is None else fewer
    return by


def _with_fewer(
    traces: Traces, by: Reading, allowed: Booleans, until: float, scratch: Scratch, number: int
) -> tuple[Reading | None, int]:
    """The table without one state, the rarest that can be given up, if there is any; and the scratch's number."""
    for state in np.argsort(np.bincount(by.state, minlength=by.num_states), kind="stable"):
        if time.monotonic() > until:
            break
        if state == by.state[0]:
            continue
        tried, others = by.copy(), allowed.copy()
        others[:, state] = False
        number = _lead_all(traces, tried, int(state), others, scratch, number)
        if (tried.state == state).any():
            continue  # there is no other for it
        wrong, number = repair(traces, tried, others, PATIENCE, scratch, number)
        if wrong == 0:
            return _without(tried, int(state)), number
    return None, number


def denied_targets(by: Reading, labels: Whole, apart: Booleans) -> Booleans:
    """(Q * A, Q) moves that the model says do not lead to a state: most histories after them have labels apart from it.

    labels: (H,) of the nodes, -1 for none.
    """
    known = (labels >= 0) & (by.move >= 0)
    shape = (len(by.given), len(apart))
    of_move = _shares(by.move[known], labels[known], shape)
    of_state = _shares(by.state[known], labels[known], (by.num_states, len(apart)))
    return np.asarray(of_move @ (of_state @ apart.astype(np.float32)).T > _MOST)


def _shares(of: Whole, label: Whole, shape: tuple[int, int]) -> Any:
    """(n, J) the share of each label in each of n sets of nodes."""
    share = 1 / np.bincount(of, minlength=shape[0])[of]
    return scipy.sparse.csr_array((share.astype(np.float32), (of, label)), shape=shape)


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
