"""What a training is judged by: held-out steps, each weighted by how much there is to learn at it.

Most logs are easy at most steps. A protocol that ends in a closed connection shows the same observation for the rest
of the log, and a model that knows nothing else is right 97 times in 100. So a step is weighted by its surprisal under a
Markov chain, -log p(x_{n+1} | x_n, a_n), counted in the training walks. A step that the present observation and action
determine weighs next to nothing, a rare one much. Laplace's rule gives contexts that were seldom seen their weight.

Only steps that could be predicted are judged. Where walks start anywhere, the agent must first localise itself, and
the second halves are judged. Where the start is known, all steps are.
"""

from __future__ import annotations

import numpy as np

from cogmap.records import Booleans, Floats, Integers, Walks
from cogmap.training.split import DataSplit
from cogmap.walks.log import WalkLog, sampled

COUNTED_STEPS = 1_000_000  # of the training walks at most; a Markov chain needs no more
FEWEST_REPEATS = 10  # of histories, to tell whether the start is known
ALIKE = 0.99  # share of repeated histories that must continue alike; a log may hold a wrong line

_FIRST_STEPS = 256  # of the walks of a log, within which histories are compared


class Judgement:
    """Judges predictions on held-out walks by weights that follow from the log alone."""

    def __init__(self, data: DataSplit, known_start: bool) -> None:
        walks = data.validation
        self._known = walks.step_mask()[:, 1:]  # (B, N - 1)
        self._late = self._known & (np.arange(walks.num_steps - 1) >= walks.lengths[:, None] // 2)
        judged = self._known if known_start or not self._late.any() else self._late
        self._weights = surprisals(data) * judged  # (B, N - 1)
        self._one_more = self._weights.sum() / judged.sum()

    def accuracy(self, right: Booleans) -> float:
        """Share of right predictions (B, N - 1), every step alike."""
        return float(right[self._known].mean())

    def late_accuracy(self, right: Booleans) -> float:
        """The same on the second halves of the walks."""
        return float(right[self._late].mean()) if self._late.any() else 0.0

    def weighted_accuracy(self, right: Booleans) -> float:
        """Share of right predictions among the judged steps, weighted by surprisal.

        Counted as if one more were wrong, since a few hundred right ones do not show that all are.
        """
        return float((self._weights * right).sum() / (self._weights.sum() + self._one_more))

    @property
    def highest(self) -> float:
        """The weighted accuracy if all were right: with few held-out steps far below 1."""
        return float(self._weights.sum() / (self._weights.sum() + self._one_more))

    def loss_ratio(self, losses: Floats) -> float:
        """The model's log loss (B, N - 1) on the judged steps, as a share of the Markov chain's."""
        return float(losses[self._weights > 0].sum() / self._weights.sum())


def surprisals(data: DataSplit) -> Floats:
    """(B, N - 1): -log p(target | observation, action) of each held-out step, by counts in the training walks."""
    some = sampled(data.training, COUNTED_STEPS)
    if data.training_targets is None:
        some_targets, targets = some.observations, data.training.num_observations
    else:
        some_targets = data.training_targets[: some.num_walks]
        targets = int(max(data.training_targets.max(), data.validation_targets.max())) + 1
    known = some.step_mask()[:, 1:]
    contexts = _contexts(some)[known]
    continued = contexts * targets + some_targets[:, 1:][known]
    asked = _contexts(data.validation)
    seen = _counts(contexts, asked)
    alike = _counts(continued, asked * targets + data.validation_targets[:, 1:])
    return np.log((seen + targets) / (alike + 1))


def known_start(walks: Walks) -> bool:
    """Whether walks start at a known state: histories that repeat from the start then always continue alike.

    Walks that start anywhere, and worlds of chance, have repeated histories that continue differently.
    """
    if isinstance(walks, WalkLog):
        few = np.arange(min(walks.num_walks, COUNTED_STEPS // _FIRST_STEPS))
        walks = walks.only(few).first_steps(_FIRST_STEPS).rows(slice(None))
    history = np.zeros(walks.num_walks, dtype=np.int64)  # (B,) the number of each walk's history so far
    repeats = alike = 0
    for step, context in enumerate(_contexts(walks).T):
        history = history * walks.num_observations * walks.num_actions + context
        lasting = walks.lengths > step + 1
        history = np.unique(history, return_inverse=True)[1].reshape(-1)
        order = np.flatnonzero(lasting)[np.argsort(history[lasting], kind="stable")]
        again = history[order[1:]] == history[order[:-1]]
        if not again.any():
            break
        following = walks.observations[order, step + 1]
        repeats += int(again.sum())
        alike += int((again & (following[1:] == following[:-1])).sum())
    return repeats >= FEWEST_REPEATS and alike >= ALIKE * repeats


def _contexts(walks: Walks) -> Integers:
    """(B, N - 1): a number for each pair of an observation and the action after it."""
    return walks.observations[:, :-1].astype(np.int64) * walks.num_actions + walks.actions


def _counts(values: Integers, asked: Integers) -> Integers:
    """How often each of the asked numbers (...) occurs among the values (n,)."""
    unique, counts = np.unique(values, return_counts=True)
    place = np.minimum(np.searchsorted(unique, asked), len(unique) - 1)
    return np.where(unique[place] == asked, counts[place], 0)
