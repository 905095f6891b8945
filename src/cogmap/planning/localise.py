"""Where on the map the agent is: by the belief filter of the map, by its codes, or by elimination.
- On the paper's map the codes alone decide, as in the paper: that map has too many edges that do not exist. A code that
  stands for several of its nodes is that one of them to which the last move leads.
- On any other map the belief filter decides (`hmm/belief.py`), with codes as evidence by how much they were worth on
  held-out walks. Where it is in doubt, the codes decide, if they stand for a node.
- Without codes, and on a map without chance, elimination decides: it starts with every node that shows the first
  observation, follows the actions, and drops the nodes that contradict the next observation. It is the filter's answer
  where nothing can go wrong, and it does not have to choose between several nodes of one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cogmap.errors import BadRun
from cogmap.hmm.belief import SURPRISE, Read, belief_model, code_rows, read_walks
from cogmap.records import Codes, CognitiveMap, Floats, Integers

MIN_CERTAINTY = 0.9  # of the likeliest node, for the agent to be sure
_LIKELIEST = 0.5  # one node is likelier than all others together

# Comparisons held in memory at once: tuples to locate times tuples of the map.
_COMPARISONS_AT_ONCE = 4_000_000
# Elimination.
_SETTLED = 20  # steps without a new candidate, after which the remaining ones stand for one place
_FEW = 16  # candidates; with more there is no answer
_RARE = 10  # a target whose support is below the best one's divided by this is an error
_MANY = 0.05  # of all moves: more errors are chance, as where one move in ten slips in any direction


@dataclass(frozen=True, eq=False, repr=False)
class Belief:
    """How likely an agent is at each node of a map."""

    probability: Floats  # (V,)

    @property
    def node(self) -> int:
        """The likeliest node."""
        return int(self.probability.argmax())

    @property
    def certainty(self) -> float:
        """The probability of the likeliest node."""
        return float(self.probability.max())

    def likely(self, least: float = 0.01) -> dict[int, float]:
        """The nodes with at least this probability, the likeliest first."""
        order = np.argsort(-self.probability, kind="stable")
        return {int(node): float(self.probability[node]) for node in order if self.probability[node] >= least}

    def __repr__(self) -> str:
        first = list(self.likely().items())[:4]
        shown = ", ".join(f"node {node}: {share:.1%}" for node, share in first)
        return f"Belief({shown}; of {len(self.probability)} nodes)"


def estimated_nodes(
    cognitive_map: CognitiveMap,
    observations: Integers,
    actions: Integers,
    lengths: Integers,
    codes: Codes | None = None,
) -> Integers:
    """(B, N) the node of every step, given the history up to it; -1 where it is not known yet.

    `observations` (B, N), `actions` (B, N - 1) and `lengths` (B,) are those of the walks, `codes` the model's codes on
    the same walks. Without codes the map alone decides, by elimination; several nodes of one place take turns.
    """
    if cognitive_map.num_nodes == 0:
        return np.full(observations.shape, -1, dtype=np.int32)
    if codes is None:
        if not has_chance(cognitive_map):
            return _by_elimination(cognitive_map, observations, actions, lengths)
        read = read_history(cognitive_map, observations, actions, lengths)
        return np.where(read.certainty >= MIN_CERTAINTY, read.nodes, -1).astype(np.int32)
    if cognitive_map.kind == "paper":
        return nodes_by_code_and_move(cognitive_map, codes, actions)
    by_code = nodes_by_code(cognitive_map, codes)
    read = read_history(cognitive_map, observations, actions, lengths, codes)
    least = np.where(by_code >= 0, MIN_CERTAINTY, _LIKELIEST)
    nodes = np.where(read.certainty >= least, read.nodes, by_code)
    by_step = np.arange(observations.shape[1])
    return np.where(by_step < lengths[:, None], nodes, -1).astype(np.int32)


def read_history(
    cognitive_map: CognitiveMap,
    observations: Integers,
    actions: Integers,
    lengths: Integers,
    codes: Codes | None = None,
    last: bool = False,
) -> Read:
    """Walks as the filter of the map reads them, with the model's `codes` as evidence.

    last: keep the whole belief at the end of each walk.
    """
    model, rows = belief_model(cognitive_map), None
    if codes is not None and not model.ignores_codes:
        walks, steps, bottlenecks = codes.codes.shape
        rows = code_rows(cognitive_map, codes.codes.reshape(-1, bottlenecks)).reshape(walks, steps)
    return read_walks(model, observations, actions, lengths, rows, last)


def has_chance(cognitive_map: CognitiveMap) -> bool:
    """Whether a move leads to several nodes, or a node shows several observations, other than by rare errors."""
    move = cognitive_map.edge_source.astype(np.int64) * cognitive_map.num_actions + cognitive_map.edge_action
    shares = (
        (move, cognitive_map.edge_probability),
        (cognitive_map.seen_node, cognitive_map.seen_probability),
    )
    return any(_several(np.asarray(of), np.asarray(share)) for of, share in shares)


def _several(of: NDArray[Any], share: Floats) -> bool:
    """Whether one thing has several shares that are not rare, or all things have rare ones that add up."""
    things = int(of.max(initial=-1)) + 1
    most = np.zeros(things)
    np.maximum.at(most, of, share)
    further = np.bincount(of[share * _RARE >= most[of]], minlength=1) > 1
    there = most > 0
    return bool(further.any() or (there.any() and 1 - most[there].mean() > _MANY))


def nodes_by_code(cognitive_map: CognitiveMap, codes: Codes) -> Integers:
    """(B, N) the node of every step by its codes alone, -1 where there is none and on padding."""
    walks, steps, bottlenecks = codes.codes.shape
    nodes = locate(cognitive_map, codes.codes.reshape(-1, bottlenecks)).reshape(walks, steps)
    return np.where(np.arange(steps) < codes.lengths[:, None], nodes, -1).astype(np.int32)


def nodes_by_code_and_move(cognitive_map: CognitiveMap, codes: Codes, actions: Integers) -> Integers:
    """(B, N) as `nodes_by_code`; where a code stands for several nodes, the one to which the move (B, N - 1) led.

    That is where the most used edge leads from the node before, if the code stands for it, else the code's usual node.
    """
    nodes = nodes_by_code(cognitive_map, codes)
    shared = cognitive_map.sign_code
    if shared is None or not len(shared):
        return nodes
    target = _usual_targets(cognitive_map)
    walks, steps, bottlenecks = codes.codes.shape
    row = code_rows(cognitive_map, codes.codes.reshape(-1, bottlenecks)).reshape(walks, steps)
    size = cognitive_map.num_nodes
    known = np.sort(np.asarray(shared).astype(np.int64) * size + np.asarray(cognitive_map.sign_node))
    for step in np.flatnonzero(np.isin(row, shared)[:, 1:].any(axis=0)) + 1:
        before = nodes[:, step - 1]
        led = target[before, actions[:, step - 1]]
        asked = np.where((row[:, step] >= 0) & (before >= 0), row[:, step].astype(np.int64) * size + led, -1)
        place = np.searchsorted(known, asked).clip(max=len(known) - 1)
        told = (known[place] == asked) & (nodes[:, step] >= 0)
        nodes[:, step] = np.where(told, led, nodes[:, step])
    return nodes


def _usual_targets(cognitive_map: CognitiveMap) -> Integers:
    """(V, A) the target of the most used edge of each node and action, the node itself where there is none.

    The paper's map keeps one action of two that lead from a node to another, or into two walls of a corner.
    """
    itself = np.arange(cognitive_map.num_nodes, dtype=np.int32)[:, None]
    target = np.repeat(itself, cognitive_map.num_actions, axis=1)
    order = np.argsort(cognitive_map.edge_support, kind="stable")  # the last write is the most used
    source, action = cognitive_map.edge_source[order], cognitive_map.edge_action[order]
    target[source, action] = cognitive_map.edge_target[order]
    return target


def locate(cognitive_map: CognitiveMap, code_tuples: ArrayLike) -> Integers:
    """(R,) the node of each of R code tuples (R, M), or -1.

    A tuple of the map that stands for a node gives that node. Any other tuple takes the node of the nearest
    tuple in Hamming distance. Ties go to the most visited node, then to the first tuple in lexicographic
    order. A tuple that shares no code with any tuple of the map gives -1; with a single bottleneck that is
    every code that stands for no node.
    """
    asked = np.asarray(code_tuples)
    bottlenecks = cognitive_map.code_tuples.shape[1]
    if asked.ndim != 2 or asked.shape[1] != bottlenecks:
        raise BadRun(f"`code_tuples` must have shape (R, M) with M = {bottlenecks}, got {asked.shape}")
    unique, inverse = np.unique(asked, axis=0, return_inverse=True)  # (U, M), (R,)
    placed = cognitive_map.code_node >= 0
    known, known_node = cognitive_map.code_tuples[placed], cognitive_map.code_node[placed]
    nodes = _exact(unique, known, known_node)
    missing = np.flatnonzero(nodes < 0)
    if bottlenecks > 1 and missing.size and known.size:
        by_support = np.argsort(-cognitive_map.node_support[known_node].astype(np.int64), kind="stable")
        nodes[missing] = _nearest(unique[missing], known[by_support], known_node[by_support])
    return nodes[inverse.reshape(-1)].astype(np.int32)


def track(
    cognitive_map: CognitiveMap,
    observations: Integers,
    actions: Integers,
    slip: float = SURPRISE,
    noise: float = SURPRISE,
) -> tuple[Integers, Floats]:
    """(B, N) the likeliest node at every step of walks of one length, and (B, N) its probability, without codes."""
    lengths = np.full(len(observations), observations.shape[1], dtype=np.int32)
    read = read_walks(belief_model(cognitive_map, slip, noise), observations, actions, lengths)
    return read.nodes, read.certainty


def _exact(asked: NDArray[Any], known: Integers, known_node: Integers) -> NDArray[np.int64]:
    """(U,) the node of each tuple that is among the known ones, else -1."""
    nodes = np.full(len(asked), -1, dtype=np.int64)
    _, row = np.unique(np.concatenate([known, asked]), axis=0, return_inverse=True)
    node_of_row = np.full(row.max(initial=-1) + 1, -1, dtype=np.int64)
    row = row.reshape(-1)
    node_of_row[row[: len(known)]] = known_node
    nodes[:] = node_of_row[row[len(known) :]]
    return nodes


def _nearest(asked: NDArray[Any], known: Integers, known_node: Integers) -> NDArray[np.int64]:
    """(U,) the node of the first known tuple that shares the most codes, or -1 if none shares any."""
    nodes = np.empty(len(asked), dtype=np.int64)
    rows = max(1, _COMPARISONS_AT_ONCE // len(known))
    for first in range(0, len(asked), rows):
        some = asked[first : first + rows]
        agreeing = np.zeros((len(some), len(known)), dtype=np.uint8)
        for bottleneck in range(known.shape[1]):
            agreeing += some[:, bottleneck, None] == known[None, :, bottleneck]
        best = agreeing.argmax(axis=1)
        any_agrees = agreeing[np.arange(len(some)), best] > 0
        nodes[first : first + rows] = np.where(any_agrees, known_node[best], -1)
    return nodes


def _by_elimination(
    cognitive_map: CognitiveMap, observations: Integers, actions: Integers, lengths: Integers
) -> Integers:
    """(B, N) the remaining node of every step, -1 where several places remain."""
    nodes = np.full(observations.shape, -1, dtype=np.int32)
    targets = _Targets(cognitive_map)
    times = [0] * cognitive_map.num_nodes  # that each node was the answer
    for walk, length in enumerate(lengths.tolist()):
        seen, done = observations[walk, :length], actions[walk, : length - 1]
        for step, left in _candidates(cognitive_map, targets, seen, done):
            node = left[0] if len(left) == 1 else min(left, key=times.__getitem__)
            times[node] += 1
            nodes[walk, step] = node
    return nodes


def _candidates(
    cognitive_map: CognitiveMap, targets: _Targets, seen: Integers, done: Integers
) -> Iterator[tuple[int, list[int]]]:
    """The steps at which one node remains, or several nodes of one place, and these nodes."""
    shown = cognitive_map.node_observation
    candidates, settled_at = np.flatnonzero(shown == seen[0]), _SETTLED
    for step, action in enumerate(done.tolist(), start=1):
        target = targets.only(candidates.item(), action) if len(candidates) == 1 else -1
        moved = np.array([target]) if target >= 0 else targets.of(candidates, action)
        left = moved[shown[moved] == seen[step]]
        if len(left) > 1:
            left = np.unique(left)
        if len(left) == 0:  # noise, or a wrong or missing edge: the agent may be anywhere
            left, settled_at = np.flatnonzero(shown == seen[step]), step + _SETTLED
        elif len(left) > len(candidates):
            settled_at = step + _SETTLED
        candidates = left
        if len(left) == 1 or (step >= settled_at and len(left) <= _FEW):
            yield step, left.tolist()


class _Targets:
    """All targets of each action from each node, without rare ones."""

    def __init__(self, cognitive_map: CognitiveMap) -> None:
        num_actions, support = cognitive_map.num_actions, cognitive_map.edge_support.astype(np.int64)
        move = cognitive_map.edge_source.astype(np.int64) * num_actions + cognitive_map.edge_action  # (E,)
        most = np.zeros(cognitive_map.num_nodes * num_actions, dtype=np.int64)
        np.maximum.at(most, move, support)
        kept = np.flatnonzero(support * _RARE >= most[move])
        kept = kept[np.argsort(move[kept], kind="stable")]
        self._target = cognitive_map.edge_target[kept]
        self._first = np.searchsorted(move[kept], np.arange(len(most) + 1))  # (V * A + 1,)
        self._num_actions = num_actions
        count = np.diff(self._first)
        only = np.full(len(most), -1)
        only[count == 1] = self._target[self._first[:-1][count == 1]]
        self._only: list[int] = only.tolist()  # a list, which is faster than an array for single entries

    def only(self, node: int, action: int) -> int:
        """The target of an action, -1 where there is none or more than one."""
        return self._only[node * self._num_actions + action]

    def of(self, nodes: NDArray[Any], action: int) -> NDArray[Any]:
        """All targets of an action from some nodes, with repetitions."""
        move = nodes * self._num_actions + action
        first, count = self._first[move], self._first[move + 1] - self._first[move]
        begins = np.cumsum(count) - count
        return self._target[np.repeat(first - begins, count) + np.arange(int(count.sum()))]
