"""Do the bottlenecks hold different information? Each one's code is predicted from the others' (appendix F).

The predictor is a logistic regression without intercept on one-hot codes: the logits are the sum of one row of a table
for each of the other bottlenecks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.records import Codes, Floats, Integers

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

    Rows of codes that never occur stay zero and are left out of the training. All codes that never occur as a target
    have the same gradient, and starting from zeros the same logit. They share the last column, which the softmax counts
    as often as there are such codes.
    """
    import torch
    from torch.nn.functional import cross_entropy, embedding_bag

    rows, which = np.unique(_rows(tuples, bottleneck, num_codes), return_inverse=True)
    inputs = torch.from_numpy(which.reshape(len(tuples), -1))  # (T, M - 1) into `rows`
    answers, targets = np.unique(tuples[:, bottleneck], return_inverse=True)
    never = np.setdiff1d(np.arange(num_codes), answers)
    codes = np.append(answers, never[:1]).astype(np.int32)
    shared = torch.zeros(len(codes))
    shared[len(answers) :] = np.log(max(len(never), 1))
    trained = torch.zeros(len(rows), len(codes), requires_grad=True)
    adam = torch.optim.Adam([trained], learning_rate, fused=True)
    for _ in range(iterations):
        batch = torch.from_numpy(rng.integers(len(tuples), size=batch_size))
        logits = embedding_bag(inputs[batch], trained, mode="sum") + shared  # (R, F)
        adam.zero_grad()
        cross_entropy(logits, torch.from_numpy(targets)[batch]).backward()
        adam.step()
    table = np.zeros(((tuples.shape[1] - 1) * num_codes, len(codes)), dtype=np.float32)
    table[rows] = trained.detach().numpy()
    return table, codes
