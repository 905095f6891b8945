"""Do the bottlenecks hold different information? Each one's code is predicted from the others' (appendix F).

The predictor is a logistic regression without intercept on one-hot codes: the logits are the sum of one row of a table
for each of the other bottlenecks. Only the rows that a batch uses have a gradient, so only those are computed. The
updates that Adam's momentum would have made to a row in the meantime are made up for when the row is next used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.records import Codes, Floats, Integers

_DECAY, _DECAY_OF_SQUARES, _EPSILON = 0.9, 0.999, 1e-8
# After this many steps the momentum is below 1e-9 of what it was.
_MOMENTUM_STEPS = 200

Table = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Disentanglement:
    """How well each bottleneck's code is predicted from the others'."""

    accuracy: float  # the mean over bottlenecks
    by_bottleneck: Floats  # (M,)
    chance: float  # 1 / K, the accuracy of a uniform guess
    most_frequent: float  # the accuracy of always predicting the most frequent code of the training set


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
        table, codes = _fit(known, bottleneck, train.num_codes, rng, iterations, batch_size, learning_rate)
        predicted = _predict(table, codes, asked, bottleneck, train.num_codes)
        accuracy.append((predicted == asked[:, bottleneck]).mean())
        frequent.append((asked[:, bottleneck] == np.bincount(known[:, bottleneck]).argmax()).mean())
    return Disentanglement(
        accuracy=float(np.mean(accuracy)),
        by_bottleneck=np.array(accuracy),
        chance=1 / train.num_codes,
        most_frequent=float(np.mean(frequent)),
    )


def _steps(codes: Codes) -> Integers:
    """(T, M) the code tuples of all steps of all walks."""
    active = np.arange(codes.codes.shape[1]) < codes.lengths[:, None]
    return codes.codes[active]


def _rows(tuples: Integers, bottleneck: int, num_codes: int) -> NDArray[np.int64]:
    """(R, M - 1) the rows of the table for the other bottlenecks' codes."""
    others = np.delete(tuples, bottleneck, axis=1).astype(np.int64)
    return others + num_codes * np.arange(others.shape[1])


def _predict(table: Table, codes: Integers, tuples: Integers, bottleneck: int, num_codes: int) -> Integers:
    """(T,) the likeliest code of a bottleneck; each distinct tuple is computed once."""
    distinct, which = np.unique(_rows(tuples, bottleneck, num_codes), axis=0, return_inverse=True)
    best = np.empty(len(distinct), dtype=np.int64)
    for first in range(0, len(distinct), 1024):
        some = slice(first, first + 1024)
        best[some] = table[distinct[some]].sum(axis=1).argmax(axis=1)
    return codes[best[which.reshape(-1)]]


def _fit(
    tuples: Integers,
    bottleneck: int,
    num_codes: int,
    rng: np.random.Generator,
    iterations: int,
    batch_size: int,
    learning_rate: float,
) -> tuple[Table, Integers]:
    """((M - 1) K, F) the table of logits after training, and (F,) the code of each column.

    All codes that never occur as a target have the same gradient, and starting from zeros the same logit.
    They share the last column, which the softmax counts as often as there are such codes.
    """
    inputs = _rows(tuples, bottleneck, num_codes)
    answers, targets = np.unique(tuples[:, bottleneck], return_inverse=True)
    never = np.setdiff1d(np.arange(num_codes), answers)
    codes = np.append(answers, never[:1]).astype(np.int32)
    times = np.ones(len(codes), dtype=np.float32)
    times[len(answers) :] = len(never)
    adam = _LazyAdam(inputs.shape[1] * num_codes, len(codes), learning_rate, iterations)
    for _ in range(iterations):
        batch = rng.integers(len(tuples), size=batch_size)
        rows, which = np.unique(inputs[batch], return_inverse=True)
        places = which.reshape(batch_size, -1)  # (R, M - 1) into `rows`
        weights = adam.fetch(rows)  # (U, F)
        error = _softmax(weights[places].sum(axis=1), times)  # (R, F)
        error[np.arange(batch_size), targets[batch]] -= 1
        uses = np.zeros((len(rows), batch_size), dtype=np.float32)  # how often each sample uses each row
        np.add.at(uses, (places, np.arange(batch_size)[:, None]), np.float32(1 / batch_size))
        adam.update(uses @ error)
    return adam.fetch(np.arange(len(adam))), codes


def _softmax(logits: Table, times: Table) -> Table:
    """(R, F) the probability of one code of each column; `times` (F,) codes share a column."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    logits /= (logits @ times)[:, None]
    return logits


class _LazyAdam:
    """Adam for a table in which few rows have a gradient at a time.

    A row without gradients for j steps from step t on moves by its first moment over the root of its second,
    times the learning rate and a sum over those steps that depends on t and j alone: `_drift`. This is exactly
    Adam but for the epsilon, which does not shrink with the moments and is negligible beside gradients.
    """

    def __init__(self, rows: int, columns: int, learning_rate: float, iterations: int) -> None:
        self._weights = np.zeros((rows, columns), dtype=np.float32)
        self._first = np.zeros((rows, columns), dtype=np.float32)
        self._second = np.zeros((rows, columns), dtype=np.float32)
        self._updated = np.zeros(rows, dtype=np.int64)  # the step at which each row was last updated
        self._learning_rate = learning_rate
        self._step = 0
        steps = np.arange(1, iterations + _MOMENTUM_STEPS + 1)
        self._correction = np.sqrt(1 - _DECAY_OF_SQUARES**steps) / (1 - _DECAY**steps)  # [t - 1] at step t
        self._decayed = (_DECAY / np.sqrt(_DECAY_OF_SQUARES)) ** np.arange(1, _MOMENTUM_STEPS + 1)

    def __len__(self) -> int:
        return len(self._weights)

    def fetch(self, rows: NDArray[np.int64]) -> Table:
        """(U, F) the current values of these rows, their drift since the last update included."""
        weights, first, second = self._weights[rows], self._first[rows], self._second[rows]
        drift = np.sqrt(second)
        drift += _EPSILON
        np.divide(first, drift, out=drift)
        drift *= (self._learning_rate * self._drift(rows))[:, None].astype(np.float32)
        weights -= drift
        self._fetched = rows, weights, first, second
        return weights

    def update(self, gradient: Table) -> None:
        """One step with this gradient (U, F) for the rows fetched last, and no gradient for the others."""
        rows, weights, first, second = self._fetched
        idle = self._step - self._updated[rows] + 1
        self._step += 1
        first *= (_DECAY**idle)[:, None].astype(np.float32)
        first += np.float32(1 - _DECAY) * gradient
        second *= (_DECAY_OF_SQUARES**idle)[:, None].astype(np.float32)
        np.square(gradient, out=gradient)
        second += np.float32(1 - _DECAY_OF_SQUARES) * gradient
        # sqrt(second / c) + epsilon = (sqrt(second) + epsilon sqrt(c)) / sqrt(c), c the correction of squares
        change = np.sqrt(second)
        change += np.float32(_EPSILON * np.sqrt(1 - _DECAY_OF_SQUARES**self._step))
        np.divide(first, change, out=change)
        change *= np.float32(self._learning_rate * self._correction[self._step - 1])
        self._weights[rows] = weights - change
        self._first[rows], self._second[rows] = first, second
        self._updated[rows] = self._step

    def _drift(self, rows: NDArray[np.int64]) -> Floats:
        """(U,) the sum, over the steps since each row's last update, of the correction times the momentum left."""
        updated = self._updated[rows]
        since = np.arange(_MOMENTUM_STEPS)
        missed = since < (self._step - updated)[:, None]  # (U, steps)
        return (self._correction[updated[:, None] + since] * missed) @ self._decayed
