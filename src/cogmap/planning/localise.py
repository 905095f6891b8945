"""Where on the map the agent is: by its codes, by a Bayes filter over the nodes, by both, or by elimination.
- On the paper's map the codes alone decide, as in the paper: that map has too many edges that do not exist.
- On a minimal map without warnings the filter decides once it is certain, and the codes until then. Codes are computed
  from the same history; a few of them are wrong, and they stay wrong for some steps.
- On a minimal map with warnings the filter takes the codes as evidence, so that each can correct the other.
- Without codes, elimination decides: it starts with every node that shows the first observation, follows the actions,
  and drops the nodes that contradict the next observation. Few candidates are left within a few steps. On 2,000 nodes
  elimination takes at most a tenth of the filter's time (`python -m benchmarks true_places`), and it does not have to
  choose between several nodes of one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from cogmap.errors import BadConfig, BadRun, BadWalks
from cogmap.records import Booleans, Codes, CognitiveMap, Floats, Integers

MIN_CERTAINTY = 0.9  # of the filter's likeliest node; below it the filter gives no answer

# Where an action was never taken, this share of the belief goes to the node itself and its neighbours.
_NEIGHBOUR_SHARE = 0.5
# Comparisons held in memory at once: tuples to locate times tuples of the map.
_COMPARISONS_AT_ONCE = 4_000_000
# Elimination.
_SETTLED = 20  # steps without a new candidate, after which the remaining ones stand for one place
_FEW = 16  # candidates; with more there is no answer
_RARE = 10  # a target whose support is below the best one's divided by this is an error


def whereabouts(
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
    if codes is None:
        return _by_elimination(cognitive_map, observations, actions, lengths)
    by_code = nodes_by_code(cognitive_map, codes)
    if cognitive_map.kind == "paper" or cognitive_map.num_nodes == 0:
        return by_code
    suggestions = by_code if cognitive_map.warnings else None
    by_step = np.arange(observations.shape[1])
    nodes, certainty = track(cognitive_map, observations, actions, suggestions)
    nodes = np.where(certainty >= MIN_CERTAINTY, nodes, by_code)
    return np.where(by_step < lengths[:, None], nodes, -1).astype(np.int32)


def nodes_by_code(cognitive_map: CognitiveMap, codes: Codes) -> Integers:
    """(B, N) the node of every step by its codes alone, -1 where there is none and on padding."""
    walks, steps, bottlenecks = codes.codes.shape
    nodes = locate(cognitive_map, codes.codes.reshape(-1, bottlenecks)).reshape(walks, steps)
    return np.where(np.arange(steps) < codes.lengths[:, None], nodes, -1).astype(np.int32)


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
    suggestions: Integers | None = None,
    slip: float = 0.01,
    noise: float = 0.01,
    trust: float = 0.9,
) -> tuple[Integers, Floats]:
    """(B, N) the likeliest node at every step of every walk, and (B, N) its probability.

    The filter uses the history up to each step and the map, but no model and no codes. `suggestions` (B, N)
    are nodes from another source, such as the codes, each right with probability `trust`; -1 is none.
    """
    walks, steps = observations.shape
    if actions.shape != (walks, steps - 1):
        raise BadWalks(f"`actions` must have shape (B, N - 1) = {(walks, steps - 1)}, got {actions.shape}")
    model = belief_model(cognitive_map, slip, noise)
    nodes, certainty = np.empty((walks, steps), dtype=np.int32), np.empty((walks, steps))
    belief = np.repeat(model.uniform_prior()[:, None], walks, axis=1)  # (V, B)
    for step in range(steps):
        if step:
            belief = _after_actions(model, belief, actions[:, step - 1])
        belief = belief * model.likelihood[observations[:, step]].T
        if suggestions is not None:
            belief = belief * suggestion_likelihood(suggestions[:, step], len(belief), trust)
        belief /= belief.sum(axis=0)
        nodes[:, step], certainty[:, step] = belief.argmax(axis=0), belief.max(axis=0)
    return nodes, certainty


@dataclass(frozen=True, eq=False)
class BeliefModel:
    """The transition and observation model of a map, smoothed so that no history has probability zero."""

    transitions: Any  # sparse (A * V, V): row a * V + target, column source; probability of following the map
    uniform_weight: Floats  # (A, V) probability that an action taken at a node leads to any node at all
    likelihood: Floats  # (O, V) probability of seeing an observation at a node
    known: Booleans  # (A, V) whether the map knows where an action leads from a node

    @property
    def num_nodes(self) -> int:
        return self.likelihood.shape[1]

    @property
    def num_actions(self) -> int:
        return self.uniform_weight.shape[0]

    def uniform_prior(self) -> Floats:
        """(V,) the belief before the first observation."""
        return np.full(self.num_nodes, 1 / self.num_nodes)

    def after_each_action(self, belief: Floats) -> Floats:
        """(A, V) the belief after each action, before the next observation."""
        followed = (self.transitions @ belief).reshape(self.num_actions, self.num_nodes)
        return followed + (self.uniform_weight @ belief)[:, None] / self.num_nodes

    def after_action(self, belief: Floats, action: int) -> Floats:
        """(V,) or (V, B) the belief after one action, before the next observation."""
        block = self.transitions[action * self.num_nodes : (action + 1) * self.num_nodes]
        return block @ belief + (self.uniform_weight[action] @ belief) / self.num_nodes

    def after_seeing(self, belief: Floats, observation: int) -> Floats:
        """(V,) the belief given the observation too."""
        weighted = belief * self.likelihood[observation]
        return weighted / weighted.sum()


def belief_model(cognitive_map: CognitiveMap, slip: float = 0.01, noise: float = 0.01) -> BeliefModel:
    """The filter of a map.

    slip: probability that an action leads to any node instead of where the map says: wrong edges, a world
        that changed, an agent that was moved.
    noise: probability of seeing another observation than the map says.
    """
    for name, value in (("slip", slip), ("noise", noise)):
        if not 0 < value < 1:
            raise BadConfig(f"`{name}` must be between 0 and 1, both excluded, got {value}")
    known = np.zeros((cognitive_map.num_actions, cognitive_map.num_nodes), dtype=bool)
    known[cognitive_map.edge_action, cognitive_map.edge_source] = True
    neighbours = _neighbour_matrix(cognitive_map)
    blocks = [
        (1 - slip)
        * (_transition_matrix(cognitive_map, action) + _NEIGHBOUR_SHARE * neighbours * ~known[action])
        for action in range(cognitive_map.num_actions)
    ]
    uniform_weight = np.where(known, slip, 1 - (1 - slip) * _NEIGHBOUR_SHARE)
    shares = np.zeros((cognitive_map.num_observations, cognitive_map.num_nodes))
    shares[cognitive_map.seen_observation, cognitive_map.seen_node] = cognitive_map.seen_probability
    others = max(cognitive_map.num_observations - 1, 1)
    likelihood = (1 - noise) * shares + noise * (1 - shares) / others
    return BeliefModel(csr_array(vstack(blocks)), uniform_weight, likelihood, known)


def suggestion_likelihood(suggestions: Integers, num_nodes: int, trust: float) -> Floats:
    """(V, B) how likely each walk's suggested node (B,) is at each node, up to a factor; -1 suggests nothing."""
    given = np.flatnonzero(suggestions >= 0)
    likelihood = np.full((num_nodes, len(suggestions)), (1 - trust) / num_nodes)
    likelihood[suggestions[given], given] += trust
    return likelihood


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


def _after_actions(model: BeliefModel, belief: Floats, actions: Integers) -> Floats:
    """(V, B) the beliefs after each walk's own action (B,)."""
    moved = np.empty_like(belief)
    for action in np.unique(actions):
        chosen = actions == action
        moved[:, chosen] = model.after_action(belief[:, chosen], int(action))
    return moved


def _transition_matrix(cognitive_map: CognitiveMap, action: int) -> Any:
    """Sparse (V, V): target by source, the probability that the action leads there."""
    chosen = cognitive_map.edge_action == action
    source, target = cognitive_map.edge_source[chosen], cognitive_map.edge_target[chosen]
    probability = np.asarray(cognitive_map.edge_probability)[chosen]
    size = (cognitive_map.num_nodes, cognitive_map.num_nodes)
    return csr_array((probability, (target, source)), shape=size)


def _neighbour_matrix(cognitive_map: CognitiveMap) -> Any:
    """Sparse (V, V): target by source, the node itself and its successors with equal shares."""
    nodes = np.arange(cognitive_map.num_nodes)
    source = np.concatenate([cognitive_map.edge_source, nodes])
    target = np.concatenate([cognitive_map.edge_target, nodes])
    pairs = np.unique(np.stack([target, source]), axis=1)
    shares = 1 / np.bincount(pairs[1], minlength=cognitive_map.num_nodes)[pairs[1]]
    return csr_array((shares, (pairs[0], pairs[1])), shape=(len(nodes), len(nodes)))


def _by_elimination(
    cognitive_map: CognitiveMap, observations: Integers, actions: Integers, lengths: Integers
) -> Integers:
    """(B, N) the remaining node of every step, -1 where several places remain."""
    nodes = np.full(observations.shape, -1, dtype=np.int32)
    if cognitive_map.num_nodes == 0:
        return nodes
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
