"""All histories of some walks read by a table of moves: which of them contradict it, and what a change would do.

A table may be wrong, unlike a folded machine (`fold`): an output of a move is what most histories say, and others
contradict it. After a change only those histories are read again that make the move, until they come to the state that
they were in before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.maps.fold import HistoryTree


class Traces(NamedTuple):
    """The nodes of a tree of histories, each before all that comes after it and nothing between them."""

    parent: Any  # (H,) -1 of the root
    action: Any  # (H,)
    output: Any  # (H,) the observation that the action gave
    shows: Any  # (H,) nodes of one state have the same
    end: Any  # (H,) the next node that does not come after it


class Reading(NamedTuple):
    """A table of moves, and the histories read by it."""

    target: Any  # (Q, A) where a move leads, -1 if it was never made
    output: Any  # (Q, A) what it gives
    shows: Any  # (Q,) of the nodes of a state
    given: Any  # (Q * A, O) how many nodes say that a move gives an observation
    state: Any  # (H,) -1 where it is not known
    move: Any  # (H,) the move that led to a node, state * A + action, -1 where it is not known
    wrong: Any  # (H,) whether a node contradicts the table

    def copy(self) -> Reading:
        return Reading(*(each.copy() for each in self))

    @property
    def num_states(self) -> int:
        return len(self.target)


class Scratch(NamedTuple):
    """What `change` notes of nodes; one for many calls, each with a number of its own."""

    state: Any  # (H,)
    number: Any  # (H,)


def scratch_for(traces: Traces) -> Scratch:
    nodes = len(traces.parent)
    return Scratch(np.zeros(nodes, dtype=np.int32), np.zeros(nodes, dtype=np.int64))


def traces_of(tree: HistoryTree) -> tuple[Traces, Whole]:
    """The tree branch by branch, and (H,) the number that each of its nodes has there."""
    order = _branches(tree.child)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    parent, action, output = (np.full(len(order), UNKNOWN, dtype=np.int32) for _ in range(3))
    before, by = np.nonzero(tree.child >= 0)
    node = number[tree.child[before, by]]
    parent[node], action[node], output[node] = number[before], by, tree.output[before, by]
    return Traces(parent, action, output, tree.shows[order].astype(np.int32), _ends(parent)), number


def read(traces: Traces, target: Whole, shows: Whole, state: Whole) -> Reading:
    """The histories as a table reads them.

    target: (Q, A). shows: (Q,). state: (H,) where nodes were before, for moves that the table does not know.
    """
    states, actions = target.shape
    found = Reading(
        target=target.astype(np.int32),
        output=np.full(target.shape, UNKNOWN, dtype=np.int32),
        shows=shows.astype(np.int32),
        given=np.zeros((states * actions, int(traces.output.max(initial=0)) + 1), dtype=np.int32),
        state=state.astype(np.int32),
        move=np.full(len(state), UNKNOWN, dtype=np.int32),
        wrong=np.zeros(len(state), dtype=np.bool_),
    )
    _read(traces, found)
    return found


@njit(cache=True)
def _branches(child: Any) -> Any:
    order = np.zeros(len(child), dtype=np.int64)
    waiting, left = np.zeros(len(child), dtype=np.int64), 1  # the root
    for place in range(len(child)):
        left -= 1
        order[place] = waiting[left]
        for action in range(child.shape[1] - 1, -1, -1):
            after = child[order[place], action]
            if after >= 0:
                waiting[left] = after
                left += 1
    return order


@njit(cache=True)
def _ends(parent: Any) -> Any:
    end = np.arange(1, len(parent) + 1).astype(np.int32)
    for node in range(len(parent) - 1, 0, -1):
        end[parent[node]] = max(end[parent[node]], end[node])
    return end


@njit(cache=True)
def _read(traces: Traces, by: Reading) -> None:
    actions = by.target.shape[1]
    for node in range(1, len(traces.parent)):
        here = by.state[traces.parent[node]]
        if here < 0:
            by.state[node] = -1
            continue
        action = traces.action[node]
        if by.target[here, action] < 0:
            by.target[here, action] = by.state[node]
        by.state[node] = by.target[here, action]
        by.move[node] = here * actions + action
        by.given[by.move[node], traces.output[node]] += 1
    for move in range(len(by.given)):
        _settle(by, move)
    for node in range(1, len(traces.parent)):
        by.wrong[node] = contradicts(traces, by, node)


@njit(cache=True)
def contradicts(traces: Traces, by: Reading, node: Any) -> bool:
    if by.move[node] < 0:
        return False
    here, action = divmod(by.move[node], by.target.shape[1])
    looks = by.state[node] >= 0 and by.shows[by.state[node]] != traces.shows[node]
    return by.output[here, action] != traces.output[node] or looks


@njit(cache=True)
def _settle(by: Reading, move: Any) -> bool:
    """Let a move give what most nodes say; returns whether that is new. One that no node makes is free."""
    here, action = divmod(move, by.target.shape[1])
    before, best = by.output[here, action], by.given[move].argmax()
    if by.given[move, best] == 0:
        by.target[here, action] = by.output[here, action] = -1
        return False
    by.output[here, action] = best
    return before != best


@njit(cache=True)
def lead(traces: Traces, by: Reading, here: int, action: int, to: int) -> None:
    """Let a move lead to a state, and read again what comes after it.

    A move that nothing made before leads where the first history that makes it was.
    """
    actions = by.target.shape[1]
    this, touched = here * actions + action, np.zeros(len(by.given), dtype=np.bool_)
    by.target[here, action] = to
    for first in np.flatnonzero(by.move == this):
        if by.move[first] != this or by.state[first] == to:
            continue  # its history is at another state by now
        by.state[first] = to
        by.wrong[first] = contradicts(traces, by, first)
        node = first + 1
        while node < traces.end[first]:
            at, then = by.state[traces.parent[node]], traces.action[node]
            if by.target[at, then] < 0:
                by.target[at, then], by.output[at, then] = by.state[node], traces.output[node]
            if by.move[node] >= 0:
                by.given[by.move[node], traces.output[node]] -= 1
                touched[by.move[node]] = True
            by.move[node] = at * actions + then
            by.given[by.move[node], traces.output[node]] += 1
            touched[by.move[node]] = True
            after, before = by.target[at, then], by.state[node]
            by.state[node] = after
            by.wrong[node] = contradicts(traces, by, node)
            node = traces.end[node] if after == before else node + 1
    for move in np.flatnonzero(touched):
        if _settle(by, move):
            for node in np.flatnonzero(by.move == move):
                by.wrong[node] = contradicts(traces, by, node)


@njit(cache=True)
def change(
    traces: Traces, by: Reading, nodes: Any, clean: int, move: int, to: int, most: int, wrong: int,
    scratch: Scratch, number: int,
) -> int:  # fmt: skip
    """How many more nodes contradict the table if a move leads to a state; if more than `most`, some number above.

    nodes: that the move leads to, as `nodes_of` gives them: what comes after those from `clean` on contradicts nothing
    now, so that nothing can be won there. wrong: how many nodes contradict the table now. number: another one for each
    call with one scratch.
    """
    here, action = divmod(move, by.target.shape[1])
    old, more = by.target[here, action], 0
    by.target[here, action] = to
    bound = most + wrong
    for index in range(len(nodes)):
        first = nodes[index]
        if index >= clean:
            bound = most
        if more > bound:
            break
        if scratch.number[traces.parent[first]] == number:
            continue  # it was read at another state
        seen = by.output[here, action] != traces.output[first] or by.shows[to] != traces.shows[first]
        more += int(seen) - int(by.wrong[first])
        scratch.state[first], scratch.number[first], node = to, number, first + 1
        while node < traces.end[first]:
            at, then = scratch.state[traces.parent[node]], traces.action[node]
            after = by.target[at, then]
            if after < 0:  # never made: it may lead where it has to
                node = traces.end[node]
                continue
            seen = by.output[at, then] != traces.output[node] or by.shows[after] != traces.shows[node]
            more += int(seen) - int(by.wrong[node])
            if after == by.state[node]:
                node = traces.end[node]
            else:
                scratch.state[node], scratch.number[node] = after, number
                node += 1
            if more > bound:
                break
    by.target[here, action] = old
    return more


@njit(cache=True)
def nodes_of(traces: Traces, by: Reading, moves: Any) -> tuple[Any, Any, Any]:
    """The nodes that each of some moves (K,) leads to, and (K + 1,) where those of each begin.

    First come as many (K,) that contradict the table or are followed by some that do; in rising order, as the others.
    """
    place = np.full(len(by.given), -1)
    for index in range(len(moves)):
        place[moves[index]] = index
    start = np.zeros(len(moves) + 1, dtype=np.int64)
    for index in range(len(moves)):
        start[index + 1] = start[index] + by.given[moves[index]].sum()
    dirty = _dirty(traces, by)
    nodes, filled, clean = np.empty(start[-1], dtype=np.int64), start.copy(), np.zeros(len(moves), np.int64)
    for turn in range(2):
        for node in range(1, len(by.move)):
            if by.move[node] >= 0 and place[by.move[node]] >= 0 and dirty[node] == (turn == 0):
                index = place[by.move[node]]
                nodes[filled[index]] = node
                filled[index] += 1
        if turn == 0:
            clean = filled[:-1] - start[:-1]
    return nodes, start, clean


@njit(cache=True)
def _dirty(traces: Traces, by: Reading) -> Any:
    """(H,) nodes that contradict the table, and all before them."""
    dirty = np.zeros(len(by.wrong), dtype=np.bool_)
    for wrong in np.flatnonzero(by.wrong):
        node = wrong
        while node >= 0 and not dirty[node]:
            dirty[node] = True
            node = traces.parent[node]
    return dirty
