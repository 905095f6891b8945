"""The node of each step given the whole walk: the forward-backward pass of a hidden Markov model.

A code depends on the past only. Once there are nodes with edges, later steps help to determine the node of a step, and
edges replace codes. The nodes are the states of the model. Edges counted from the smoothed steps are clear in the few
cases in which the codes left them unclear.
"""

from __future__ import annotations

import numpy as np

from cogmap.maps.counts import Whole
from cogmap.maps.evidence import UNKNOWN
from cogmap.records import Floats, Integers, Walks

SLIP = 0.01  # probability that a step does not lead where the edge says
SURE = 0.9  # the posterior from which a step has a node
_BELIEFS_AT_ONCE = 80_000  # walks times nodes
_MOST_WORK = 2_000_000_000  # steps times nodes; smoothing more would take minutes and is skipped


def smooth(walks: Walks, next_node: Whole, sees: Whole, noise: float = 0.02) -> Whole | None:
    """(B, N) the node of every step, UNKNOWN where it is uncertain; None if the map is too large.

    `noise` is the probability of another observation than the node's.
    """
    nodes = len(sees)
    if nodes == 0 or nodes * int(walks.lengths.sum()) > _MOST_WORK:
        return None
    likelihood = _likelihood(sees, walks.num_observations, noise)
    # One more column is the target of unknown moves.
    target = np.where(next_node < 0, nodes, next_node).T.copy()  # (A, V)
    placed = np.full(walks.observations.shape, UNKNOWN, dtype=np.int32)
    at_once = max(1, _BELIEFS_AT_ONCE // nodes)
    for first in range(0, walks.num_walks, at_once):
        rows = slice(first, first + at_once)
        placed[rows] = _smooth_rows(
            walks.observations[rows], walks.actions[rows], walks.lengths[rows], target, likelihood
        )
    return placed


def _likelihood(sees: Whole, num_observations: int, noise: float) -> Floats:
    """(O, V) the probability of each observation at each node."""
    shows = np.arange(num_observations)[:, None] == sees
    return np.where(shows, 1 - noise, noise / max(num_observations - 1, 1))


def _smooth_rows(
    observations: Integers, actions: Integers, lengths: Integers, target: Whole, likelihood: Floats
) -> Integers:
    walks, steps = observations.shape
    nodes = likelihood.shape[1]
    forward = np.empty((steps, walks, nodes), dtype=np.float32)
    belief = np.full((walks, nodes), 1 / nodes)
    for step in range(steps):
        if step:
            belief = _ahead(belief, target[actions[:, step - 1]])
        belief = belief * likelihood[observations[:, step]]
        belief /= belief.sum(axis=1, keepdims=True)
        forward[step] = belief
    placed = np.empty((walks, steps), dtype=np.int32)
    after = np.ones((walks, nodes))  # likelihood of all later steps
    for step in range(steps - 1, -1, -1):
        ended = lengths - 1 <= step
        after[ended] = 1.0
        posterior = forward[step] * after
        best = posterior.argmax(axis=1)
        sure = posterior.max(axis=1) >= SURE * posterior.sum(axis=1)
        placed[:, step] = np.where(sure & (step < lengths), best, UNKNOWN)
        if step:
            after = _back(after * likelihood[observations[:, step]], target[actions[:, step - 1]])
    return placed


def _ahead(belief: Floats, target: Whole) -> Floats:
    """(b, V) beliefs after an action with targets (b, V); an unknown target may be any node."""
    walks, nodes = belief.shape
    cell = np.arange(walks)[:, None] * (nodes + 1) + target
    moved = np.bincount(cell.ravel(), weights=belief.ravel(), minlength=walks * (nodes + 1))
    moved = moved.reshape(walks, nodes + 1)
    adrift = SLIP + (1 - SLIP) * moved[:, -1:]
    return (1 - SLIP) * moved[:, :-1] + adrift / nodes


def _back(after: Floats, target: Whole) -> Floats:
    """(b, V) likelihood of the later steps, one action earlier; scaled to avoid underflow and overflow."""
    anywhere = after.mean(axis=1, keepdims=True)
    known = np.concatenate([after, anywhere], axis=1)
    earlier = (1 - SLIP) * np.take_along_axis(known, target, axis=1) + SLIP * anywhere
    return earlier / earlier.max(axis=1, keepdims=True)
