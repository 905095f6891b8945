"""How the model's codes are read as labels of histories: which of them are of different states.

A model is not equally sure of all, and a wrong state early on makes others wrong. So its codes are read in many ways,
and the fold tries each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cogmap.hmm.counts import UNKNOWN, Whole
from cogmap.maps.canonical import contradicting
from cogmap.records import Booleans, Integers, PredictedFutures, Walks
from cogmap.walks.offered import offered_actions

# Predictions further apart than this (total variation of one test) are of different futures. Models differ in how sure
# they are, and a wrong state early on makes others wrong: so the tree is folded many times, with other thresholds, in
# other orders, with more or less weight on equal labels, and the shortest account is kept.
_APART = (0.5, 0.3, 0.8)  # first; then any between the last two
_SAME = (1, 5, 20)  # balance of two histories with one label; of two labels that are not apart it is 1
_COMPARED = (20, 5, 1)  # histories; some suffice to find one whose state is clear
_DISORDER = (0.0, 0.3, 1.0)  # standard deviations of a factor on how often a node was visited, as a logarithm
_STEPS_FOLDED = 2_000_000  # in all: some seconds
_MOST_LABELS = 2000  # whose predictions are compared, pair by pair: some seconds; rarer ones have no say


@dataclass(frozen=True, eq=False)
class Opinion:
    """A guess of the states of steps, such as the model's codes, and which of its labels are of different states."""

    labels: Whole  # (B, N), -1 for none
    apart: Booleans  # (J, J)
    same: int = 1  # balance of two histories with one label
    compared: int = 1  # histories, the most visited ones, of which the one with the largest balance is merged
    disorder: float = 0.0  # by which histories are taken in another order than by visits
    seed: int = 0  # of that order


def opinions(walks: Walks, index: Whole, futures: PredictedFutures | None) -> Iterator[Opinion]:
    """No opinion but what was seen, then the model's codes as labels, read in several ways."""
    seen = np.where(walks.step_mask(), 0, UNKNOWN)
    for compared in _COMPARED[:2]:
        yield Opinion(seen, np.zeros((1, 1), dtype=np.bool_), compared=compared)
    if futures is None:
        return
    visits = np.bincount(index[index >= 0], minlength=len(futures.probabilities))
    asked = np.argsort(-visits, kind="stable")[:_MOST_LABELS]
    number = np.full(len(visits), UNKNOWN)
    number[asked] = np.arange(len(asked))
    labels = np.where(index >= 0, number[index], UNKNOWN)
    shows = np.zeros(len(asked), dtype=np.int64)  # a step of each label says what it shows
    shows[labels[labels >= 0]] = walks.observations[labels >= 0]
    asked_futures = futures.probabilities[asked]
    possible = _possible(futures.tests, asked_futures, shows, offered_actions(walks))
    distance = _distances(asked_futures, possible)
    if futures.imagined is not None:
        distance[contradicting(futures.imagined[asked])] = 1.0
    for apart in _APART:
        yield Opinion(labels, distance > apart)
    rng = np.random.default_rng(0)
    for seed in range(_STEPS_FOLDED // int(walks.lengths.sum())):
        apart = rng.uniform(_APART[1], _APART[2])
        same, compared, disorder = rng.choice(_SAME), rng.choice(_COMPARED), rng.choice(_DISORDER)
        yield Opinion(labels, distance > apart, int(same), int(compared), disorder, seed)


def _possible(tests: Integers, futures: NDArray[np.float32], shows: Whole, offered: Booleans) -> Booleans:
    """(J, T) tests whose every action there is at what is predicted before it; of others a model knows nothing."""
    if offered.all():
        return np.ones((len(shows), len(tests)), dtype=np.bool_)
    number = {tuple(test[test >= 0].tolist()): place for place, test in enumerate(tests)}
    seen = futures.argmax(axis=2)  # (J, T)
    possible = np.zeros((len(shows), len(tests)), dtype=np.bool_)
    for actions in sorted(number, key=len):
        place, before = number[actions], number.get(actions[:-1])
        if len(actions) == 1:
            possible[:, place] = offered[shows, actions[0]]
        elif before is not None:
            possible[:, place] = possible[:, before] & offered[seen[:, before], actions[-1]]
    return possible


@njit(cache=True)
def _distances(futures: Any, possible: Any) -> Any:
    """(J, J) the largest total variation over tests that are possible for both; nearly 1 is not looked at further."""
    apart = np.zeros((len(futures), len(futures)), dtype=np.float32)
    for one in range(len(futures)):
        for other in range(one):
            most = 0.0
            for test in range(futures.shape[1]):
                if not (possible[one, test] and possible[other, test]):
                    continue
                differing = 0.0
                for observation in range(futures.shape[2]):
                    differing += abs(futures[one, test, observation] - futures[other, test, observation])
                most = max(most, differing / 2)
                if most > 0.95:
                    break
            apart[one, other] = apart[other, one] = most
    return apart
