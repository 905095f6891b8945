"""A baseline: n-grams of observations and actions, with Witten-Bell smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.records import Floats, Integers, Walks

ORDER = 8  # observations, with the action after each
# Predictions in memory at once: steps times observations, in thousands.
_STEPS_AT_ONCE = 100_000


def ngram_predictions(train: Walks, test: Walks, order: int = ORDER) -> tuple[Integers, Floats, int]:
    """Predicted next observations of `test` (B, N - 1), the probability of the true ones, and the number of contexts.

    A context that was met n times with t different continuations trusts its own counts by n / (n + t), and the context
    that is one step shorter by the rest.
    """
    known = [walks.step_mask()[:, 1:] for walks in (train, test)]
    following = [walks.observations[:, 1:][mask] for walks, mask in zip((train, test), known, strict=True)]
    shares = np.full((len(following[1]), train.num_observations), 1 / train.num_observations)
    contexts = 0
    for ids in _contexts(train, test, order):
        counted, asked = (each[mask] for each, mask in zip(ids, known, strict=True))
        contexts += len(np.unique(counted))
        shares = _interpolated(shares, counted, following[0], asked)
    predicted, chance = np.zeros(test.actions.shape, dtype=np.int32), np.ones(test.actions.shape)
    predicted[known[1]] = shares.argmax(axis=1)
    chance[known[1]] = shares[np.arange(len(shares)), following[1]]
    return predicted, chance, contexts


def longest_match(train: Walks, test: Walks, order: int) -> Integers:
    """(B, N - 1) what followed most often after the longest context of at most `order` steps that `train` has.

    It needs no table of all observations for each step, as a text's many words would.
    """
    known = train.step_mask()[:, 1:]
    following = train.observations[:, 1:][known]
    predicted = np.zeros(test.actions.shape, dtype=np.int32)
    for counted, asked in _contexts(train, test, order):
        pairs, times = np.unique(np.stack([counted[known], following]), axis=1, return_counts=True)
        best = np.full(int(max(counted.max(), asked.max())) + 1, -1, dtype=np.int32)
        rising = np.argsort(times, kind="stable")
        best[pairs[0, rising]] = pairs[1, rising]
        predicted = np.where(best[asked] >= 0, best[asked], predicted)
    return predicted


def _contexts(train: Walks, test: Walks, order: int) -> Any:
    """For each length of context from none on: its number at each step, (B, N - 1) of both walks."""
    both = (train, test)
    size = train.num_observations * train.num_actions
    last = [walks.observations[:, :-1].astype(np.int64) * train.num_actions + walks.actions for walks in both]
    ids = [np.zeros(each.shape, dtype=np.int64) for each in last]
    yield ids
    for length in range(order):
        beginning = 0 if length == 0 else -1  # no context is the same everywhere
        before = [np.concatenate([np.full((len(each), 1), beginning), each[:, :-1]], axis=1) for each in ids]
        keys = [(earlier + 1) * size + each for earlier, each in zip(before, last, strict=True)]
        number = np.unique(np.concatenate([key.ravel() for key in keys]), return_inverse=True)[1].reshape(-1)
        ids = [number[: keys[0].size].reshape(keys[0].shape), number[keys[0].size :].reshape(keys[1].shape)]
        yield ids


def _interpolated(shorter: Floats, counted: NDArray[Any], following: Integers, asked: NDArray[Any]) -> Floats:
    """(T, O) the predictions of one length of context, from those of the shorter one."""
    from scipy.sparse import csr_array

    contexts, observations = int(max(counted.max(), asked.max())) + 1, shorter.shape[1]
    table = csr_array((np.ones(len(counted)), (counted, following)), shape=(contexts, observations))
    table.sum_duplicates()
    met, kinds = np.asarray(table.sum(axis=1)).ravel(), np.diff(table.indptr)
    result = np.empty_like(shorter)
    at_once = max(1, _STEPS_AT_ONCE * 100 // observations)
    for first in range(0, len(asked), at_once):
        some = asked[first : first + at_once]
        counts, weight = table[some].toarray(), kinds[some, None]
        whole = np.maximum(met[some, None] + weight, 1)
        own = (counts + weight * shorter[first : first + at_once]) / whole
        result[first : first + at_once] = np.where(weight > 0, own, shorter[first : first + at_once])
    return result
