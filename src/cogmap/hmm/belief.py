"""Where an agent is on a map: one Bayes filter over the nodes, by the map's own probabilities.

The map has the probabilities of moves and observations, which were counted on walks. What was never met may still
happen: a wrong edge, a world that changed, an agent that was moved, a sensor that errs. Before anything was tried, one
surprise in a hundred is expected; each try without one makes it rarer, so that `n` tries leave 1 / (n + 100).

Codes are evidence too, by how often each was met at each node of walks that the map was not made from. They are
computed from the same history as the belief and stay wrong for some steps, so they are not independent evidence: their
likelihood has an exponent, chosen on the same walks for what predicts the next observation best.

`BeliefModel` takes one step of one agent, every node at once. `read_walks` reads whole walks, with the likely nodes
only, compiled (`reading.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from cogmap.errors import BadConfig, BadRun, BadWalks
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Walks

SURPRISE = 0.01  # of a move or an observation, before anything was tried
# Where an action was never taken, this share of the belief goes to the node itself and its neighbours.
_NEIGHBOUR_SHARE = 0.5
_OLD_TRUST = 0.9  # in a code of a map that counted none, where it has warnings
_SIGN_PRIOR = 1.0  # steps at each node with the codes of all nodes
_WEIGHTS = (0.0, 0.0625, 0.125, 0.25, 0.5, 1.0)


class Rows(NamedTuple):
    """Sparse rows: the entries of row r are those from `start[r]` to `start[r + 1]`."""

    start: NDArray[np.int64]  # (rows + 1,)
    entry: Integers  # (entries,)
    value: Floats  # (entries,)

    def matrix(self, columns: int) -> Any:
        """The same as a sparse matrix (rows, columns)."""
        return csr_array((self.value, self.entry, self.start), shape=(len(self.start) - 1, columns))


@dataclass(frozen=True, eq=False)
class BeliefModel:
    """The moves, observations and codes of a map as probabilities; no history has probability zero."""

    prior: Floats  # (V,) of the node before the first observation
    moves: Rows  # row source * A + action: targets by the map
    anywhere: Floats  # (V * A,) the chance that a move leads to any node, by `prior`
    doable: Floats  # (V * A,) how likely it is that the action can be taken at the node at all
    known: Booleans  # (A, V) whether the map knows where an action leads from a node
    seen: Rows  # row node: observations
    unseen: Floats  # (V,) the chance of each observation that was never seen there
    shown_at: Rows  # row observation: the nodes that show it, the same probabilities
    signs: Rows  # row code: nodes where it was met, how much likelier it is there than anywhere
    no_sign: Floats  # (V,) the same at nodes where a code was never met

    @property
    def num_nodes(self) -> int:
        return len(self.prior)

    @property
    def num_actions(self) -> int:
        return self.known.shape[0]

    @property
    def num_observations(self) -> int:
        return len(self.shown_at.start) - 1

    @property
    def ignores_codes(self) -> bool:
        """Whether codes say nothing beside observations and actions."""
        return bool((self.signs.value == 1).all() and (self.no_sign == 1).all())

    def after_action(self, belief: Floats, action: int) -> Floats:
        """(V,) the belief after one action, before the next observation."""
        rows = np.arange(self.num_nodes) * self.num_actions + action
        weighted = belief * self.doable[rows]
        weighted /= weighted.sum()
        moved: Floats = self._by_action[action] @ weighted + (self.anywhere[rows] @ weighted) * self.prior
        return moved

    def after_each_action(self, belief: Floats) -> Floats:
        """(A, V) the belief after each action that an agent may choose, before the next observation."""
        lost = self.anywhere.reshape(self.num_nodes, self.num_actions).T @ belief  # (A,)
        moved = np.array([matrix @ belief for matrix in self._by_action])
        return moved + lost[:, None] * self.prior

    def after_seeing(self, belief: Floats, observation: int) -> Floats:
        """(V,) the belief given the observation too."""
        weighted = belief * self.likelihood(observation)
        return weighted / weighted.sum()

    def after_code(self, belief: Floats, code: int) -> Floats:
        """(V,) the belief given a code too, a row of the map's `code_tuples`; -1 says nothing."""
        if code < 0:
            return belief
        span = slice(self.signs.start[code], self.signs.start[code + 1])
        ratio = self.no_sign.copy()
        ratio[self.signs.entry[span]] = self.signs.value[span]
        weighted = belief * ratio
        return weighted / weighted.sum()

    def likelihood(self, observation: int) -> Floats:
        """(V,) the probability of an observation at each node."""
        span = slice(self.shown_at.start[observation], self.shown_at.start[observation + 1])
        likelihood = self.unseen.copy()
        likelihood[self.shown_at.entry[span]] = self.shown_at.value[span]
        return likelihood

    def shows(self, beliefs: Floats) -> Floats:
        """(..., O) the probability of each observation under beliefs (..., V)."""
        shown: Floats = beliefs @ self._more_than_unseen + (beliefs @ self.unseen)[..., None]
        return shown

    @cached_property
    def _more_than_unseen(self) -> Any:
        """Sparse (V, O): how much likelier an observation is than one that was never seen at the node."""
        unseen = np.repeat(self.unseen, np.diff(self.seen.start))
        return self.seen._replace(value=self.seen.value - unseen).matrix(self.num_observations)

    @cached_property
    def _by_action(self) -> list[Any]:
        """For each action a sparse (V, V): target by source."""
        whole = self.moves.matrix(self.num_nodes)
        return [csr_array(whole[action :: self.num_actions].T) for action in range(self.num_actions)]


_MODELS: WeakKeyDictionary[CognitiveMap, dict[tuple[float, float], BeliefModel]] = WeakKeyDictionary()


def belief_model(cognitive_map: CognitiveMap, slip: float = SURPRISE, noise: float = SURPRISE) -> BeliefModel:
    """The filter of a map, made once and kept for as long as the map lives.

    slip: the chance, before any try, that a move leads where the map does not say.
    noise: the chance, before any visit, of seeing what the map does not say.
    """
    for name, value in (("slip", slip), ("noise", noise)):
        if not 0 < value < 1:
            raise BadConfig(f"`{name}` must be between 0 and 1, both excluded, got {value}")
    kept = _MODELS.setdefault(cognitive_map, {})
    if (slip, noise) not in kept:
        kept[slip, noise] = _make(cognitive_map, slip, noise)
    return kept[slip, noise]


def _make(found: CognitiveMap, slip: float, noise: float) -> BeliefModel:
    moves, anywhere = _moves(found, slip)
    visits = found.node_support.astype(np.float64)
    seen, unseen, shown_at = _sights(found, 1 / (visits + 1 / noise))
    known = np.zeros((found.num_actions, found.num_nodes), dtype=bool)
    known[found.edge_action, found.edge_source] = True
    signs, no_sign = _signs(found)
    return BeliefModel(
        _prior(found), moves, anywhere, _doable(found), known, seen, unseen, shown_at, signs, no_sign
    )


def _prior(found: CognitiveMap) -> Floats:
    """(V,) a history begins where walks do, or anywhere in their middle."""
    visits = found.node_support + 1.0
    prior = visits / max(visits.sum(), 1)
    return prior if found.start_probability is None else (prior + found.start_probability) / 2


def _moves(found: CognitiveMap, slip: float) -> tuple[Rows, Floats]:
    """Targets of every node and action, and the chance of going anywhere else (V * A,)."""
    rows = found.num_nodes * found.num_actions
    row = found.edge_source.astype(np.int64) * found.num_actions + found.edge_action
    tries = np.bincount(row, weights=found.edge_support, minlength=rows)
    surprise = 1 / (tries + 1 / slip)  # (V * A,)
    known = np.bincount(row, minlength=rows) > 0
    near, nearby, share = _neighbours(found)
    # An action that was never taken at a node may lead to any neighbour.
    untried = np.flatnonzero(~known)
    which = nearby.start[untried // max(found.num_actions, 1)]
    count = nearby.start[untried // max(found.num_actions, 1) + 1] - which
    entry = np.repeat(which - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    all_rows = np.concatenate([row, np.repeat(untried, count)])
    target = np.concatenate([found.edge_target, near[entry]])
    chance = np.concatenate([np.asarray(found.edge_probability), _NEIGHBOUR_SHARE * share[entry]])
    chance = chance * (1 - surprise)[all_rows]
    anywhere = np.where(known, surprise, 1 - (1 - surprise) * _NEIGHBOUR_SHARE)
    return _rows(all_rows, target, chance, rows), anywhere


def _neighbours(found: CognitiveMap) -> tuple[Integers, Rows, Floats]:
    """Of each node, itself and its successors with equal shares."""
    nodes = np.arange(found.num_nodes)
    source = np.concatenate([found.edge_source, nodes]).astype(np.int64)
    pairs = np.unique(source * max(found.num_nodes, 1) + np.concatenate([found.edge_target, nodes]))
    source, target = np.divmod(pairs, max(found.num_nodes, 1))
    share = 1 / np.bincount(source, minlength=found.num_nodes)[source]
    rows = _rows(source, target.astype(np.int32), share, found.num_nodes)
    return rows.entry, rows, rows.value


def _doable(found: CognitiveMap) -> Floats:
    """(V * A,) 1 where an action was taken; elsewhere the less, the more often it would have been by now."""
    tries = np.zeros((found.num_nodes, found.num_actions))
    np.add.at(tries, (found.edge_source, found.edge_action), found.edge_support)
    share = tries.sum(axis=0) / max(tries.sum(), 1)
    expected = tries.sum(axis=1, keepdims=True) * share
    return np.where(tries > 0, 1.0, 1 / (1 + expected)).ravel()


def _sights(found: CognitiveMap, surprise: Floats) -> tuple[Rows, Floats, Rows]:
    """Observations of every node, the chance of each other one (V,), and the nodes of every observation."""
    node, observation = np.asarray(found.seen_node), np.asarray(found.seen_observation)
    count = np.bincount(node, minlength=found.num_nodes)
    others = found.num_observations - count
    surprise = np.where(others > 0, surprise, 0.0)
    chance = np.asarray(found.seen_probability) * (1 - surprise)[node]
    unseen = surprise / np.maximum(others, 1)
    return (
        _rows(node, observation, chance, found.num_nodes),
        unseen,
        _rows(observation, node, chance, found.num_observations),
    )


def _signs(found: CognitiveMap) -> tuple[Rows, Floats]:
    """How much likelier each code is at each node than anywhere, to the power of the codes' weight."""
    codes = len(found.code_tuples)
    if found.sign_count is None or found.sign_weight is None:
        return _old_signs(found)
    code, node = np.asarray(found.sign_code), np.asarray(found.sign_node)
    count = np.asarray(found.sign_count, dtype=np.float64)
    of_code = np.bincount(code, weights=count, minlength=codes) / max(count.sum(), 1)
    of_node = np.bincount(node, weights=count, minlength=found.num_nodes)
    ratio = (count / of_code[code] + _SIGN_PRIOR) / (of_node[node] + _SIGN_PRIOR)
    no_sign = _SIGN_PRIOR / (of_node + _SIGN_PRIOR)
    weight = found.sign_weight
    return _rows(code, node, ratio**weight, codes), np.asarray(no_sign**weight, dtype=np.float64)


def _old_signs(found: CognitiveMap) -> tuple[Rows, Floats]:
    """Of a map that counted no codes: each is right nine times in ten, and is asked where the map has warnings."""
    placed = np.flatnonzero(found.code_node >= 0)
    trusted = bool(found.warnings)
    hit = _OLD_TRUST * found.num_nodes + 1 - _OLD_TRUST if trusted else 1.0
    no_sign = np.full(found.num_nodes, 1 - _OLD_TRUST if trusted else 1.0)
    rows = _rows(placed, found.code_node[placed], np.full(len(placed), hit), len(found.code_tuples))
    return rows, no_sign


def _rows(row: NDArray[Any], index: NDArray[Any], value: Floats, rows: int) -> Rows:
    order = np.argsort(row, kind="stable")
    start = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=start[1:])
    return Rows(start, index[order].astype(np.int32), np.ascontiguousarray(value[order]))


@dataclass(frozen=True, eq=False)
class Read:
    """Walks as the filter read them, every step by the history up to it. Padding has node -1."""

    nodes: Integers  # (B, N) the likeliest node
    certainty: Floats  # (B, N) its probability
    log_likelihood: Floats  # (B, N) of each observation given the history before it, in nats; 0 on padding
    predicted: Integers  # (B, N - 1) the likeliest next observation, given the action too; -1 on padding
    last: Floats  # (B, V) the belief at the end of each walk, or (0, V)


def read_walks(
    model: BeliefModel,
    observations: Integers,
    actions: Integers,
    lengths: Integers,
    codes: Integers | None = None,
    last: bool = False,
) -> Read:
    """Filter walks: `observations` (B, N), `actions` (B, N - 1), `lengths` (B,).

    codes: (B, N) rows of the map's `code_tuples`, -1 for none.
    last: keep the whole belief at the end of each walk.
    """
    from cogmap.hmm.reading import read  # loads numba

    walks, steps = observations.shape
    if actions.shape != (walks, steps - 1):
        raise BadWalks(f"`actions` must have shape (B, N - 1) = {(walks, steps - 1)}, got {actions.shape}")
    nodes = np.full((walks, steps), -1, dtype=np.int32)
    certainty, log_likelihood = np.zeros((walks, steps)), np.zeros((walks, steps))
    predicted = np.full((walks, steps - 1), -1, dtype=np.int32)
    beliefs = np.zeros((walks if last else 0, model.num_nodes))
    read(
        np.ascontiguousarray(observations, dtype=np.int32),
        np.ascontiguousarray(actions, dtype=np.int32),
        np.ascontiguousarray(lengths, dtype=np.int32),
        np.zeros((0, 0), dtype=np.int32) if codes is None else np.ascontiguousarray(codes, dtype=np.int32),
        (model.prior, *model.moves, model.anywhere, model.doable),
        (*model.seen, model.unseen, *model.shown_at, *_peaks(model)),
        (*model.signs, model.no_sign),
        model.num_actions,
        (nodes, certainty, log_likelihood, predicted, beliefs),
    )
    return Read(nodes, certainty, log_likelihood, predicted, beliefs)


def _peaks(model: BeliefModel) -> tuple[Floats, Floats]:
    """(O,) the highest prior times likelihood of a node that shows each observation, and (O,) the sum over nodes."""
    weight = model.prior[model.shown_at.entry] * model.shown_at.value
    observation = np.repeat(np.arange(model.num_observations), np.diff(model.shown_at.start))
    peak = np.zeros(model.num_observations)
    np.maximum.at(peak, observation, weight)
    total = np.bincount(observation, weights=weight, minlength=model.num_observations)
    unseen = model.prior @ model.unseen - np.bincount(
        observation,
        weights=(model.prior * model.unseen)[model.shown_at.entry],
        minlength=model.num_observations,
    )
    return peak, (total + np.maximum(unseen, 0)).astype(np.float64)


def code_rows(cognitive_map: CognitiveMap, code_tuples: ArrayLike) -> Integers:
    """(R,) the row of each of R tuples (R, M) among the map's, -1 where it was never met."""
    asked = np.asarray(code_tuples)
    known = cognitive_map.code_tuples
    if asked.ndim != 2 or asked.shape[1] != known.shape[1]:
        raise BadRun(f"`code_tuples` must have shape (R, M) with M = {known.shape[1]}, got {asked.shape}")
    _, row = np.unique(np.concatenate([known, asked]), axis=0, return_inverse=True)
    row = row.reshape(-1)
    of_row = np.full(int(row.max(initial=-1)) + 1, -1, dtype=np.int32)
    of_row[row[: len(known)]] = np.arange(len(known))
    return of_row[row[len(known) :]]


def with_signs(
    found: CognitiveMap, walks: Walks, nodes: NDArray[Any], sure: Booleans, codes: NDArray[Any]
) -> CognitiveMap:
    """The map with counts of codes at nodes, and the weight that they deserve.

    walks: held out. nodes, sure, codes: (B, N) their nodes given the whole walk, where these are beyond doubt, and
        rows of the map's `code_tuples`, -1 for none.
    """
    if found.num_nodes == 0:
        return found
    met = sure & (nodes >= 0) & (codes >= 0) & walks.step_mask()
    odd = (np.arange(walks.num_walks) % 2 == 1)[:, None] if walks.num_walks > 1 else np.ones((1, 1), bool)
    trial = _count_signs(found, nodes, codes, met & odd)
    rest = np.flatnonzero(~odd[:, 0]) if walks.num_walks > 1 else np.arange(1)
    others, other_codes = walks.rows(rest), codes[rest]

    def loss(weight: float) -> float:
        model = _make(replace(trial, sign_weight=weight), SURPRISE, SURPRISE)
        given = None if weight == 0 else other_codes
        read = read_walks(model, others.observations, others.actions, others.lengths, given)
        worth_it = np.log(others.lengths.sum()) / 2 if weight else 0.0  # nats that a number must save (BIC)
        return float(worth_it - read.log_likelihood.sum())

    losses = [loss(weight) for weight in _WEIGHTS]
    return replace(_count_signs(found, nodes, codes, met), sign_weight=_WEIGHTS[int(np.argmin(losses))])


def _count_signs(
    found: CognitiveMap, nodes: NDArray[Any], codes: NDArray[Any], met: Booleans
) -> CognitiveMap:
    key, count = np.unique(codes[met].astype(np.int64) * found.num_nodes + nodes[met], return_counts=True)
    return replace(
        found,
        sign_code=(key // found.num_nodes).astype(np.int32),
        sign_node=(key % found.num_nodes).astype(np.int32),
        sign_count=count.astype(np.int32),
    )
