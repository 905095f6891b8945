"""The exact Bayes filter of a world with chance: what one who knows the world would predict from the same walks.

Before step n + 1 the filter has x_0, a_0, ..., x_n, a_n. Its prior is where walks start. An agent that draws only legal
actions reveals information by the action itself: p(action | position) is one divided by the number of legal actions
there. Works for worlds without chance too, where `evaluation/prediction.py` has a faster one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cogmap.environments.chance import moves_of
from cogmap.errors import BadWalks
from cogmap.records import ChanceWorld, Floats, Integers, TableWorld, Walks

AT_ONCE = 2_000_000  # entries of the belief that are kept at once: walks x positions


@dataclass(frozen=True, eq=False)
class Filtered:
    """How well the filter predicts each next observation. Padding has nan."""

    correct: Floats  # (B, N - 1) 1 where the likeliest observation, the lowest of several, was seen; else 0
    log_loss: Floats  # (B, N - 1) minus the log of the probability of what was seen, in nats

    @property
    def accuracy(self) -> float:
        return float(np.nanmean(self.correct))

    @property
    def mean_log_loss(self) -> float:
        return float(np.nanmean(self.log_loss))


def filter_walks(walks: Walks, world: TableWorld) -> Filtered:
    """The filter's predictions on walks; `BadWalks` if they are impossible in the world."""
    check_match(walks, world)
    move, shown = action_matrices(world), observation_matrix(world)
    size = max(1, AT_ONCE // world.num_positions)
    parts = [
        _filter_few(walks, slice(first, first + size), world, move, shown)
        for first in range(0, walks.num_walks, size)
    ]
    return Filtered(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def check_match(walks: Walks, world: TableWorld) -> None:
    """Raise where walks cannot be of a world. The walks' file may lack observations that were never seen, not more."""
    if walks.num_actions != world.num_actions:
        sizes = f"{walks.num_actions} and {world.num_actions}"
        raise BadWalks(f"walks and world must agree on `num_actions`, got {sizes}")
    lacks = world.observation_labels is not None and walks.num_observations < world.num_observations
    if walks.num_observations != world.num_observations and not lacks:
        sizes = f"{walks.num_observations} and {world.num_observations}"
        raise BadWalks(f"walks and world must agree on `num_observations`, got {sizes}")


def prior(world: TableWorld) -> Floats:
    """(P,): the probability of the position at which a walk starts."""
    if world.start_probability is not None:
        return world.start_probability
    return np.full(world.num_positions, 1 / world.num_positions)


def action_matrices(world: TableWorld) -> list[Any]:
    """For each action a sparse (P, P): entry (t, s) is the probability of drawing the action in s and getting to t."""
    from scipy.sparse import csr_array

    source, action, target, probability, _ = moves_of(world)
    legal = world.legal_actions()
    weight = probability * (legal / legal.sum(axis=1, keepdims=True))[source, action]
    shape = (world.num_positions, world.num_positions)
    chosen = [np.flatnonzero((action == each) & (weight > 0)) for each in range(world.num_actions)]
    return [csr_array((weight[those], (target[those], source[those])), shape=shape) for those in chosen]


def observation_matrix(world: TableWorld) -> Any:
    """Sparse (O, P): the probability of each observation at each position."""
    from scipy.sparse import csr_array

    if isinstance(world, ChanceWorld) and world.observation_probability is not None:
        return csr_array(world.observation_probability.T)
    places = np.arange(world.num_positions)
    shape = (world.num_observations, world.num_positions)
    return csr_array((np.ones(len(places)), (world.observation, places)), shape=shape)


def _filter_few(
    walks: Walks, few: slice, world: TableWorld, move: list[Any], shown: Any
) -> tuple[Floats, Floats]:
    """`correct` and `log_loss` (b, N - 1) of some walks. The belief is (P, b), so that sparse matrices go first."""
    seen, actions, lengths = walks.observations[few], walks.actions[few], walks.lengths[few]
    correct = np.full(actions.shape, np.nan)
    log_loss = np.full(actions.shape, np.nan)
    belief = np.repeat(prior(world)[:, None], len(seen), axis=1)
    belief = _see(belief, shown, seen[:, 0], few.start, 0)
    walk = np.arange(len(seen))
    for step in range(actions.shape[1]):
        alive = lengths[walk] > step + 1
        walk, belief = walk[alive], belief[:, alive]
        belief = _act(belief, move, actions[walk, step])
        expected = shown @ belief  # (O, b)
        now = seen[walk, step + 1]
        correct[walk, step] = expected.argmax(axis=0) == now
        with np.errstate(divide="ignore", invalid="ignore"):  # an impossible step is reported below
            share = expected[now, np.arange(len(now))] / expected.sum(axis=0)
            log_loss[walk, step] = -np.log(share)
        belief = _see(belief, shown, now, few.start, step + 1, walk)
    return correct, log_loss


def _act(belief: Floats, move: list[Any], actions: Integers) -> Floats:
    after = np.empty_like(belief)
    for action in np.unique(actions):
        those = actions == action
        after[:, those] = move[action] @ belief[:, those]
    return after


def _see(
    belief: Floats, shown: Any, seen: Integers, first: int, step: int, walk: Any | None = None
) -> Floats:
    """The belief (P, b) given the observations (b,); each column sums to one."""
    belief = belief * shown[seen].toarray().T
    total = belief.sum(axis=0)
    if not (total > 0).all():
        lost = int(np.flatnonzero(~(total > 0))[0])
        which = first + (lost if walk is None else int(walk[lost]))
        raise BadWalks(f"walks must be possible in the world, walk {which} becomes impossible at step {step}")
    return belief / total
