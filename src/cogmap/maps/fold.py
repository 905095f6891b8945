"""The machine behind walks of a world without chance that start in one state: the tree of all histories, folded.

Walks from one start form a tree: a node for every history, and each action leads from it to one node and one
observation. Two histories can be of one state if nothing that was seen after both contradicts it. So the tree is folded
into a machine, state by state from the root: a history becomes a state that it does not contradict, or a new state if
it contradicts all. That is how automata are learned from traces (blue-fringe merging). The most visited histories come
first, or of several of them the one with the most evidence.

What was seen after two histories seldom tells which of the possible states is the right one: traces alone need far more
steps than a log has. The model knows: where it predicts other futures after two histories, they hardly are of one
state, however little was seen. It may be wrong now and then, so that a state is chosen by the balance of all histories
that would become one. What was seen outweighs everything: no state of the result contradicts a step.

An observation belongs to the move that gave it, so that states are those of a Mealy machine: what is known of a state
is not divided among the observations by which it was entered. Only where what is seen decides which actions there are,
as on the pages of a shop, are states those of a Moore machine: histories with no action in common never contradict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numba import njit

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.hmm.steps import UNEXPLAINED
from cogmap.maps.opinions import Opinion
from cogmap.records import Booleans, Integers, Walks
from cogmap.walks.offered import offered_actions

# Histories on which the model agrees that outweigh one on which it does not. The surest come first, when the machine is
# small and nothing else is known; what is left then has a machine to contradict.
_FIRST_WEIGHT, _DECAY = 1000, 5
MOST_STATES = 3000  # more are no machine that the walks can teach
_WITNESSES = 2  # against each other state that a move could have led to
_MOST_CELLS = 1 << 24  # nodes times actions, some hundred megabytes while it is folded


@dataclass(frozen=True, eq=False)
class HistoryTree:
    """All histories of some walks; the root is the empty one."""

    node: Whole  # (B, N) of each step, -1 on padding
    child: Whole  # (H, A), -1 where an action was not taken
    output: Whole  # (H, A) the observation that the action gave
    visits: Whole  # (H,) steps
    shows: Whole  # (H,) nodes of one state have the same: the last observation if it decides which actions there are


@dataclass(frozen=True, eq=False)
class Machine:
    """Action a gives `output[s, a]` in state s and leads to `next_state[s, a]`; -1 is unknown. State 0 is the first."""

    next_state: Integers  # (Q, A)
    output: Integers  # (Q, A)
    shows: Whole  # (Q,) of the histories of a state
    steps: Whole  # (B, N) the state of each step of the walks that it was made from, -1 where it is not known

    @property
    def num_states(self) -> int:
        return len(self.next_state)

    def length(self, lengths: Whole) -> float:
        """Nats of its moves, and of the steps of walks of these lengths that it does not explain."""
        moves = int((self.next_state >= 0).sum()) * np.log(max(self.num_states, 2))
        return float(moves - np.log(UNEXPLAINED) * (lengths.sum() - (self.steps >= 0).sum()))


def history_tree(walks: Walks) -> HistoryTree | None:
    """The tree of the walks; None if one history is followed by two observations, or if it would be too large."""
    most = int(walks.lengths.sum()) + 1
    if most * walks.num_actions > _MOST_CELLS or len(np.unique(walks.observations[:, 0])) > 1:
        return None
    node = np.full(walks.observations.shape, -1, dtype=np.int32)
    child = np.full((most, walks.num_actions), -1, dtype=np.int32)
    output, visits = child.copy(), np.zeros(most, dtype=np.int64)
    nodes = _grow(walks.observations, walks.actions, walks.lengths, node, child, output, visits)
    if nodes == 0:
        return None
    shows = np.zeros(nodes, dtype=np.int64)
    if not offered_actions(walks).all():
        shows[node[walks.step_mask()]] = walks.observations[walks.step_mask()]
    return HistoryTree(node, child[:nodes], output[:nodes], visits[:nodes], shows)


def fold(tree: HistoryTree, opinion: Opinion, most_states: int = MOST_STATES) -> Machine:
    """The machine of a tree; with as many states as `most_states` it is not finished."""
    label = np.full(len(tree.visits), UNKNOWN, dtype=np.int64)
    there = tree.node >= 0
    label[tree.node[there]] = opinion.labels[there]
    child, output = tree.child.copy(), tree.output.copy()
    noise = np.random.default_rng(opinion.seed).normal(0, opinion.disorder, len(label))
    order = tree.visits * np.exp(noise)
    said = (label, opinion.apart, opinion.same, opinion.compared)
    state, root_of = _fold(child, output, order, tree.shows, *said, most_states)
    after = child[root_of]  # (Q, A) a node of the tree
    return Machine(
        next_state=np.where(after >= 0, state[after], UNKNOWN).astype(np.int32),
        output=np.where(after >= 0, output[root_of], UNKNOWN).astype(np.int32),
        shows=tree.shows[root_of],
        steps=np.where(there, state[tree.node], UNKNOWN),
    )


def with_sure_moves(machine: Machine, walks: Walks, opinion: Opinion) -> Machine:
    """The machine without moves that might as well lead to another state.

    A move is known if two witnesses speak against every other state that it could have led to: steps that
    contradict it twice, or once and the model. Once is not enough: where two states have become one, what was seen
    after the one contradicts moves of the other. A rare move is often followed by too little to tell: that it led to
    some state was a guess.
    """
    target = machine.next_state.ravel()
    seen = np.where(machine.shows[target][:, None] != machine.shows, _WITNESSES, 0).astype(np.int8)
    by_model = np.zeros_like(seen)  # (Q * A, Q)
    steps = (walks.observations, walks.actions, walks.lengths, machine.steps, opinion.labels)
    _contradict(*steps, machine.next_state, machine.output, _strange(machine, opinion), seen, by_model)
    seen[(seen > 0) & (by_model >= _WITNESSES)] = _WITNESSES
    moves = np.flatnonzero(target >= 0)
    seen[moves, target[moves]] = _WITNESSES
    sure = (seen >= _WITNESSES).all(axis=1).reshape(machine.next_state.shape)
    return replace(machine, next_state=np.where(sure, machine.next_state, UNKNOWN))


def _strange(machine: Machine, opinion: Opinion) -> Booleans:
    """(Q, J) labels that are apart from those of most steps of a state."""
    known = (machine.steps >= 0) & (opinion.labels >= 0)
    state, label = machine.steps[known], opinion.labels[known]
    share = 1 / np.bincount(state, minlength=machine.num_states)[state]
    shape = (machine.num_states, len(opinion.apart))
    labels = scipy.sparse.csr_array((share, (state, label)), shape=shape)
    return np.asarray(labels @ opinion.apart.astype(np.float64) > 0.5)


@njit(cache=True)
def _grow(
    observations: Any, actions: Any, lengths: Any, node: Any, child: Any, output: Any, visits: Any
) -> int:
    """Fill the tree; returns its number of nodes, 0 if one history is followed by two observations."""
    nodes = 1
    for walk in range(len(lengths)):
        here = 0
        node[walk, 0] = here
        visits[here] += 1
        for step in range(1, lengths[walk]):
            action = actions[walk, step - 1]
            if child[here, action] < 0:
                child[here, action], output[here, action] = nodes, observations[walk, step]
                nodes += 1
            elif output[here, action] != observations[walk, step]:
                return 0
            here = child[here, action]
            node[walk, step] = here
            visits[here] += 1
    return nodes


@njit(cache=True)
def _find(root: Any, node: int) -> int:
    while root[node] != node:
        node = root[node]
    return node


@njit(cache=True)
def _contradicts(one: int, other: int, child: Any, output: Any, shows: Any) -> bool:
    if shows[one] != shows[other]:
        return True
    for action in range(child.shape[1]):
        known = child[one, action] >= 0 and child[other, action] >= 0
        if known and output[one, action] != output[other, action]:
            return True
    return False


@njit(cache=True)
def _join(
    one: int, other: int, weight: int, root: Any, child: Any, output: Any, shows: Any, label: Any, apart: Any,
    same: int, queue: Any, undo: Any,
) -> tuple[int, int, bool]:  # fmt: skip
    """Make two nodes one, and so all that follows both. Returns the labels' balance, entries to undo, if it holds."""
    balance, written = 0, 0
    queue[0, 0], queue[0, 1] = one, other
    first, last = 0, 1
    while first < last:
        here, there = _find(root, queue[first, 0]), _find(root, queue[first, 1])
        first += 1
        if here == there:
            continue
        if _contradicts(here, there, child, output, shows):
            return balance, written, False
        root[there] = here
        if label[here] >= 0 and label[there] >= 0:
            agree = same if label[here] == label[there] else 1
            balance += -weight if apart[label[here], label[there]] else agree
        undo[written, 0], undo[written, 1] = there, -1
        written += 1
        for action in range(child.shape[1]):
            after = child[there, action]
            if after < 0:
                continue
            if child[here, action] < 0:
                child[here, action], output[here, action] = after, output[there, action]
                undo[written, 0], undo[written, 1] = here, action
                written += 1
            else:
                queue[last, 0], queue[last, 1] = child[here, action], after
                last += 1
    return balance, written, True


@njit(cache=True)
def _take_back(written: int, root: Any, child: Any, undo: Any) -> None:
    for entry in range(written - 1, -1, -1):
        if undo[entry, 1] < 0:
            root[undo[entry, 0]] = undo[entry, 0]
        else:
            child[undo[entry, 0], undo[entry, 1]] = -1


@njit(cache=True)
def _open(states: Any, root: Any, child: Any, number: Any, put_off: Any, visits: Any, most: int) -> Any:
    """The most visited nodes that a state leads to and that are no states yet, the most visited first."""
    found, count = np.empty(most + 1, dtype=np.int64), 0
    for state in states:
        for action in range(child.shape[1]):
            if child[state, action] < 0:
                continue
            node = _find(root, child[state, action])
            if number[node] >= 0 or put_off[node] or np.any(found[:count] == node):
                continue
            place = count
            while place > 0 and visits[found[place - 1]] < visits[node]:
                found[place] = found[place - 1]
                place -= 1
            found[place] = node
            count = min(count + 1, most)
    return found[:count]


@njit(cache=True)
def _best_state(
    node: int, states: Any, weight: int, root: Any, child: Any, output: Any, shows: Any, label: Any, apart: Any,
    same: int, queue: Any, undo: Any, impossible: Any,
) -> tuple[int, int, bool]:  # fmt: skip
    """The balance and the index of the state that a node fits best, -1 for none, and if any does not contradict it."""
    most, which, possible = 0, -1, False
    for state in range(len(states)):
        pair = node * len(child) + states[state]
        if pair in impossible:
            continue
        balance, written, holds = _join(
            states[state], node, weight, root, child, output, shows, label, apart, same, queue, undo
        )
        _take_back(written, root, child, undo)
        possible |= holds
        if not holds:
            impossible.add(pair)
        elif balance > most:
            most, which = balance, state
    return most, which, possible


@njit(cache=True)
def _fold(
    child: Any, output: Any, visits: Any, shows: Any, label: Any, apart: Any, same: int, compared: int,
    most_states: int,
) -> tuple[Any, Any]:  # fmt: skip
    """(H,) the state of each node, -1 for none, and (Q,) the node of each state."""
    nodes, num_actions = child.shape
    root, number = np.arange(nodes), np.full(nodes, -1, dtype=np.int32)
    put_off, progress = np.zeros(nodes, dtype=np.bool_), False
    states = np.zeros(most_states, dtype=np.int64)
    queue = np.empty((nodes + 1, 2), dtype=np.int64)
    undo = np.empty(((num_actions + 1) * nodes + 1, 2), dtype=np.int64)
    # Pairs of a node and a state that contradict each other, which no later merge takes back; none of int64 yet.
    impossible = set(states[:0])
    number[0], found, weight = 0, 1, _FIRST_WEIGHT
    while found < most_states:
        opened = _open(states[:found], root, child, number, put_off, visits, compared)
        if len(opened) == 0:
            # The machine has grown, and may agree now with what was put off; if it has not, less will do.
            if weight == 0 and not progress:
                break
            weight = weight if progress else weight // _DECAY
            put_off[:] = False
            progress = False
            continue
        most, which, chosen, grown = 0, -1, -1, False
        for node in opened:
            balance, state, possible = _best_state(
                node, states[:found], weight, root, child, output, shows, label, apart, same, queue, undo, impossible
            )  # fmt: skip
            if not possible:
                number[node], states[found] = found, node
                found, grown = found + 1, True
                break
            put_off[node] = state < 0
            if balance > most:
                most, which, chosen = balance, state, node
        if which >= 0 and not grown:
            _, written, _ = _join(
                states[which], chosen, weight, root, child, output, shows, label, apart, same, queue, undo
            )
            for entry in range(written):  # visits of all that were joined
                if undo[entry, 1] < 0:
                    visits[_find(root, undo[entry, 0])] += visits[undo[entry, 0]]
        progress |= which >= 0 or grown
    state_of = np.full(nodes, -1, dtype=np.int32)
    for node in range(nodes):
        state_of[node] = number[_find(root, node)]
    return state_of, states[:found]


@njit(cache=True)
def _contradict(
    observations: Any, actions: Any, lengths: Any, steps: Any, labels: Any, next_state: Any, output: Any,
    strange: Any, seen: Any, by_model: Any,
) -> None:  # fmt: skip
    """Count the steps that contradict that a move led to a state (Q * A, Q), up to as many as are asked for."""
    num_states, num_actions = next_state.shape
    for walk in range(len(lengths)):
        for step in range(lengths[walk] - 1):
            if steps[walk, step] < 0 or steps[walk, step + 1] < 0:
                continue
            move = steps[walk, step] * num_actions + actions[walk, step]
            for state in range(num_states):
                if seen[move, state] < _WITNESSES:
                    by_steps, by_labels = _is_contradicted(
                        observations[walk], actions[walk], steps[walk], labels[walk], step + 1, lengths[walk], state,
                        next_state, output, strange,
                    )  # fmt: skip
                    seen[move, state] += by_steps
                    by_model[move, state] = min(by_model[move, state] + by_labels, _WITNESSES)


@njit(cache=True)
def _is_contradicted(
    observations: Any, actions: Any, steps: Any, labels: Any, step: int, length: int, state: int, next_state: Any,
    output: Any, strange: Any,
) -> tuple[bool, bool]:  # fmt: skip
    """Whether a walk, and whether its labels, contradict that it was in another state at a step.

    It is followed until the state leads to its own or is unknown. A label contradicts that is strange in the state, and
    not in its own.
    """
    by_labels = False
    while step < length and state >= 0 and steps[step] >= 0 and state != steps[step]:
        label = labels[step]
        by_labels |= label >= 0 and strange[state, label] and not strange[steps[step], label]
        if step == length - 1:
            break
        action = actions[step]
        step += 1
        if output[state, action] >= 0 and output[state, action] != observations[step]:
            return True, by_labels
        state = next_state[state, action]
    return False, by_labels
