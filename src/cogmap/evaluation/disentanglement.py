"""Do the bottlenecks tell different things? Each one's code is guessed from the others' (appendix F).

A logistic regression without intercept on one-hot codes: the logits are the sum of one row of a table for
each of the other bottlenecks. Only the rows that a batch touches have a gradient, so only those are computed;
what Adam's momentum would have done to a row in the meantime is made up for when it is next touched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.records import Codes, Floats, Integers

_DECAY, _DECAY_OF_SQUARES, _EPSILON = 0.9, 0.999, 1e-8
# Momentum left after so many steps is below 1e-9 of what it was.
_REMEMBERED = 200

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Disentanglement:
    """How well each bottleneck's code is guessed from the others'."""

    accuracy: float  # the mean over bottlenecks
    by_bottleneck: Floats  # (M,)
    chance: float  # 1 / K, the accuracy of a uniform guess
    most_frequent: float  # the accuracy of always guessing the code that is most frequent in training


def disentanglement(
    train: Codes,
    test: Codes,
    rng: np.random.Generator,
    iterations: int = 5000,
    batch_size: int = 32,
    learning_rate: float = 0.001,
) -> Disentanglement:
    """The paper's metric: test accuracy of M regressions, each trained with Adam from a table of zeros."""
    if train.bottlenecks < 2:
        raise BadConfig(f"disentanglement needs at least 2 bottlenecks, got {train.bottlenecks}")
    if (train.bottlenecks, train.num_codes) != (test.bottlenecks, test.num_codes):
        raise BadConfig("training and test codes must have the same bottlenecks and number of codes")
    known, asked = _steps(train), _steps(test)
    accuracy, frequent = [], []
    for bottleneck in range(train.bottlenecks):
        table = _fit(known, bottleneck, train.num_codes, rng, iterations, batch_size, learning_rate)
        accuracy.append((_guess(table, asked, bottleneck, train.num_codes) == asked[:, bottleneck]).mean())
        frequent.append((asked[:, bottleneck] == np.bincount(known[:, bottleneck]).argmax()).mean())
    return Disentanglement(
        accuracy=float(np.mean(accuracy)),
        by_bottleneck=np.array(accuracy),
        chance=1 / train.num_codes,
        most_frequent=float(np.mean(frequent)),
    )


def _steps(codes: Codes) -> Integers:
    """(T, M) the tuples of all steps of all walks."""
    active = np.arange(codes.codes.shape[1]) < codes.lengths[:, None]
    return codes.codes[active]


def _rows(tuples: Integers, bottleneck: int, num_codes: int) -> NDArray[np.int64]:
    """(R, M - 1) the rows of the table that the other bottlenecks' codes stand for."""
    others = np.delete(tuples, bottleneck, axis=1).astype(np.int64)
    return others + num_codes * np.arange(others.shape[1])


def _guess(table: Table, tuples: Integers, bottleneck: int, num_codes: int) -> NDArray[np.int64]:
    """(T,) the likeliest code of a bottleneck; each distinct tuple is computed once."""
    distinct, which = np.unique(_rows(tuples, bottleneck, num_codes), axis=0, return_inverse=True)
    best = np.empty(len(distinct), dtype=np.int64)
    for first in range(0, len(distinct), 1024):
        some = slice(first, first + 1024)
        best[some] = table[distinct[some]].sum(axis=1).argmax(axis=1)
    return best[which.reshape(-1)]


def _fit(
    tuples: Integers,
    bottleneck: int,
    num_codes: int,
    rng: np.random.Generator,
    iterations: int,
    batch_size: int,
    learning_rate: float,
) -> Table:
    """((M - 1) K, K) the table of logits after training."""
    inputs, targets = _rows(tuples, bottleneck, num_codes), tuples[:, bottleneck]
    adam = _LazyAdam(inputs.shape[1] * num_codes, num_codes, learning_rate, iterations)
    for _ in range(iterations):
        batch = rng.integers(len(tuples), size=batch_size)
        rows, which = np.unique(inputs[batch], return_inverse=True)
        weights = adam.fetch(rows)  # (U, K)
        places = which.reshape(batch_size, -1)  # (R, M - 1) into `weights`
        error = _softmax(weights[places].sum(axis=1))  # (R, K)
        error[np.arange(batch_size), targets[batch]] -= 1
        spread = np.zeros((len(rows), batch_size), dtype=np.float32)  # how often each row fed each sample
        np.add.at(spread, (places, np.arange(batch_size)[:, None]), np.float32(1 / batch_size))
        adam.update(rows, weights, spread @ error)
    return adam.table()


def _softmax(logits: Table) -> Table:
    logits = np.exp(logits - logits.max(axis=1, keepdims=True))
    logits /= logits.sum(axis=1, keepdims=True)
    return logits


class _LazyAdam:
    """Adam over a table, of whose rows few have a gradient at a time.

    A row without gradients for j steps from step t on moves by its first moment over the root of its second,
    times the learning rate and a sum over those steps that depends on t and j alone: `_drift`. That is all of
    Adam but for its epsilon, which does not shrink with the moments; next to gradients it is nothing.
    """

    def __init__(self, rows: int, columns: int, learning_rate: float, iterations: int) -> None:
        self._weights = np.zeros((rows, columns), dtype=np.float32)
        self._first = np.zeros((rows, columns), dtype=np.float32)
        self._second = np.zeros((rows, columns), dtype=np.float32)
        self._touched = np.zeros(rows, dtype=np.int64)  # the step at which each row was last updated
        self._learning_rate = learning_rate
        self._step = 0
        steps = np.arange(1, iterations + 2)
        self._correction = np.sqrt(1 - _DECAY_OF_SQUARES**steps) / (1 - _DECAY**steps)  # [t - 1] at step t

    def fetch(self, rows: NDArray[np.int64]) -> Table:
        """(U, K) these rows as they are now, after drifting since they were last touched."""
        weights = self._weights[rows]
        moving = np.flatnonzero((self._touched[rows] > 0) & (self._touched[rows] < self._step))
        if moving.size:
            chosen = rows[moving]
            drift = np.array([self._drift(touched) for touched in self._touched[chosen].tolist()])
            pace = self._first[chosen] / (np.sqrt(self._second[chosen]) + _EPSILON)
            weights[moving] -= (self._learning_rate * drift[:, None]).astype(np.float32) * pace
        return weights

    def update(self, rows: NDArray[np.int64], weights: Table, gradient: Table) -> None:
        """One step: `rows`, which are at `weights`, have this gradient (U, K), and all others none."""
        idle = self._step - self._touched[rows]
        self._step += 1
        first = self._first[rows] * (_DECAY ** (idle + 1))[:, None].astype(np.float32)
        second = self._second[rows] * (_DECAY_OF_SQUARES ** (idle + 1))[:, None].astype(np.float32)
        first += (1 - _DECAY) * gradient
        second += (1 - _DECAY_OF_SQUARES) * gradient**2
        pace = np.float32(self._learning_rate * self._correction[self._step - 1])
        # sqrt(second / c2) + epsilon = (sqrt(second) + epsilon * sqrt(c2)) / sqrt(c2)
        epsilon = np.float32(_EPSILON * np.sqrt(1 - _DECAY_OF_SQUARES**self._step))
        self._weights[rows] = weights - pace * first / (np.sqrt(second) + epsilon)
        self._first[rows], self._second[rows] = first, second
        self._touched[rows] = self._step

    def table(self) -> Table:
        """All rows as they are now."""
        return self.fetch(np.arange(len(self._weights)))

    def _drift(self, touched: int) -> float:
        """The sum over the steps since `touched` of the correction times how far the momentum has faded."""
        idle = min(self._step - touched, _REMEMBERED)
        ratio = (_DECAY / np.sqrt(_DECAY_OF_SQUARES)) ** np.arange(1, idle + 1)
        return float(ratio @ self._correction[touched : touched + idle])
