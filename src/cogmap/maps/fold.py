"""States of walks in a world without chance, by folding the tree of all histories.

Walks from a known start form a tree: a node for every history, and each action leads from it to one node. Two histories
can be of one state if nothing that was seen after both contradicts it. So the tree is folded into a graph, state by
state from the root, the most visited first: a node becomes the state that agrees with it most often, or a new state if
all contradict it. That is how automata are learned from traces (blue-fringe merging by evidence). It needs no model,
but it cannot take a start that is unknown, noise, or chance: there two walks with one history soon differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from cogmap.maps.counts import Whole
from cogmap.records import Walks

# Steps after a node that must agree with a state, for the node to be that state. A node with less is put off until the
# graph has grown, and left out in the end.
_AGREE = 10
_MOST_STATES = 3000  # more are no machine that the walks can teach
_MOST_CELLS = 1 << 24  # nodes times actions, some hundred megabytes while it is folded


@dataclass(frozen=True, eq=False)
class HistoryTree:
    """All histories of some walks; the root is the empty one with the first observation."""

    node: Whole  # (B, N) of each step, -1 on padding
    child: Whole  # (H, A), -1 where an action was not taken
    shows: Whole  # (H,) the last observation
    visits: Whole  # (H,) steps


def history_tree(walks: Walks) -> HistoryTree | None:
    """The tree of the walks; None if one history is followed by two observations, or if it would be too large."""
    most = int(walks.lengths.sum()) + 1
    if most * walks.num_actions > _MOST_CELLS:
        return None
    node = np.full(walks.observations.shape, -1, dtype=np.int32)
    child = np.full((most, walks.num_actions), -1, dtype=np.int32)
    shows, visits = np.full(most, -1, dtype=np.int32), np.zeros(most, dtype=np.int64)
    nodes = _grow(walks.observations, walks.actions, walks.lengths, node, child, shows, visits)
    return None if nodes == 0 else HistoryTree(node, child[:nodes], shows[:nodes], visits[:nodes])


def fold(tree: HistoryTree, labels: Whole) -> Whole:
    """(B, N) the state of each step, -1 where too little was seen.

    labels: (B, N), a guess of the states, such as codes. A node becomes the state with which most labels agree, of
    those that nothing contradicts.
    """
    label = np.full(len(tree.shows), -1, dtype=np.int64)
    label[tree.node[tree.node >= 0]] = labels[tree.node >= 0]
    state = _fold(tree.child.copy(), tree.shows, tree.visits.copy(), label)
    return np.where(tree.node >= 0, state[tree.node], -1)


@njit(cache=True)
def _grow(
    observations: Any, actions: Any, lengths: Any, node: Any, child: Any, shows: Any, visits: Any
) -> int:
    """Fill the tree; returns its number of nodes, 0 if one history is followed by two observations."""
    nodes = 1
    for walk in range(len(lengths)):
        here = 0
        for step in range(lengths[walk]):
            if step:
                after = child[here, actions[walk, step - 1]]
                if after < 0:
                    after = nodes
                    child[here, actions[walk, step - 1]] = after
                    nodes += 1
                here = after
            if shows[here] < 0:
                shows[here] = observations[walk, step]
            elif shows[here] != observations[walk, step]:
                return 0
            visits[here] += 1
            node[walk, step] = here
    return nodes


@njit(cache=True)
def _find(root: Any, node: int) -> int:
    while root[node] != node:
        node = root[node]
    return node


@njit(cache=True)
def _join(
    one: int, other: int, root: Any, child: Any, shows: Any, label: Any, queue: Any, undo: Any
) -> tuple[int, int, bool]:
    """Make two nodes one, and so all that follows both. Returns agreements, entries to undo, and whether it holds."""
    agree, written = 0, 0
    queue[0, 0], queue[0, 1] = one, other
    first, last = 0, 1
    while first < last:
        here, there = _find(root, queue[first, 0]), _find(root, queue[first, 1])
        first += 1
        if here == there:
            continue
        if shows[here] != shows[there]:
            return agree, written, False
        root[there] = here
        agree += label[here] == label[there]
        undo[written, 0], undo[written, 1] = there, -1
        written += 1
        for action in range(child.shape[1]):
            after = child[there, action]
            if after < 0:
                continue
            if child[here, action] < 0:
                child[here, action] = after
                undo[written, 0], undo[written, 1] = here, action
                written += 1
            else:
                queue[last, 0], queue[last, 1] = child[here, action], after
                last += 1
    return agree, written, True


@njit(cache=True)
def _take_back(written: int, root: Any, child: Any, undo: Any) -> None:
    for entry in range(written - 1, -1, -1):
        if undo[entry, 1] < 0:
            root[undo[entry, 0]] = undo[entry, 0]
        else:
            child[undo[entry, 0], undo[entry, 1]] = -1


@njit(cache=True)
def _fold(child: Any, shows: Any, visits: Any, label: Any) -> Any:
    nodes, num_actions = child.shape
    root = np.arange(nodes)
    number = np.full(nodes, -1, dtype=np.int32)  # of the state, for nodes that are states
    put_off = np.zeros(nodes, dtype=np.bool_)
    states = np.empty(_MOST_STATES, dtype=np.int64)
    queue = np.empty((nodes + 1, 2), dtype=np.int64)
    undo = np.empty(((num_actions + 1) * nodes + 1, 2), dtype=np.int64)
    states[0], number[0], found, progress = 0, 0, 1, False
    while True:
        # The most visited node that a state leads to and that is no state yet.
        best = -1
        for index in range(found):
            for action in range(num_actions):
                after = child[states[index], action]
                if after < 0:
                    continue
                after = _find(root, after)
                if number[after] < 0 and not put_off[after] and (best < 0 or visits[after] > visits[best]):
                    best = after
        if best < 0 and progress:  # the graph has grown, and may agree now with what was put off
            put_off[:] = False
            progress = False
            continue
        if best < 0 or found == _MOST_STATES:
            break
        most, which, possible = _AGREE - 1, -1, False
        for index in range(found):
            if shows[states[index]] != shows[best]:
                continue
            agree, written, holds = _join(states[index], best, root, child, shows, label, queue, undo)
            _take_back(written, root, child, undo)
            possible |= holds
            if holds and agree > most:
                most, which = agree, index
        if which >= 0:
            progress = True
            _, written, _ = _join(states[which], best, root, child, shows, label, queue, undo)
            for entry in range(written):  # visits of all that were joined
                if undo[entry, 1] < 0:
                    visits[_find(root, undo[entry, 0])] += visits[undo[entry, 0]]
        elif possible:
            put_off[best] = True
        else:
            number[best] = found
            states[found] = best
            found += 1
            progress = True
    state = np.full(nodes, -1, dtype=np.int32)
    for node in range(nodes):
        state[node] = number[_find(root, node)]
    return state
