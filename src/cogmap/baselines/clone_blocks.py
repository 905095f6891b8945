"""A round of expectation-maximisation of a clone-structured graph, while its transitions are still dense.

A step of a walk concerns the clones of two observations, so transitions are kept and visited in blocks: one for an
action and a pair of observations that the walks show. Of a block only the rows of likely clones are visited.

A transition takes 16 bits, the square root of its probability in 65535ths: one of 2e-3, as in a room before anything is
learned, is kept to a thirtieth of a percent, one near 1 to 3e-5. Beside the expected counts, in 32 bits, that makes
three quarters of two dense tables. `python -m benchmarks cscg` compares time and memory with a dense round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.baselines.clone_sweep import WHOLE, sweep
from cogmap.errors import BadConfig
from cogmap.hmm.counts import Whole
from cogmap.hmm.states import LEAST_COUNT, StateCounts, without_unused
from cogmap.records import Walks

Floats32 = NDArray[np.float32]


class CloneBlocks:
    """Transitions between clones, in blocks: of an action and two observations that follow each other in the walks."""

    def __init__(self, walks: Walks, clones: int, seed: int) -> None:
        if clones < 1:
            raise BadConfig(f"`clones` must be at least 1, got {clones}")
        seen = np.bincount(walks.observations[walks.step_mask()], minlength=walks.num_observations)
        self.size = np.minimum(clones, seen).astype(np.int64)  # (O,) no more clones than sightings
        self.begin = np.concatenate([[0], np.cumsum(self.size)])  # (O + 1,) first clone of each observation
        self.num_actions, self.num_observations = walks.num_actions, walks.num_observations
        self.action, self.source, self.target = _pairs(walks)  # (Z,) of each block
        entries = self.size[self.source] * self.size[self.target]
        self.offset = np.concatenate([[0], np.cumsum(entries)])  # (Z + 1,)
        shape = (walks.num_actions, walks.num_observations, walks.num_observations)
        self.block = np.full(shape, -1, dtype=np.int64)
        self.block[self.action, self.source, self.target] = self.offset[:-1]
        self.root = np.zeros(int(self.offset[-1]), dtype=np.uint16)  # of the probabilities, block after block
        share = seen / max(seen.sum(), 1) / np.maximum(self.size, 1)
        self.first = np.repeat(share, self.size).astype(np.float32)  # (states,)
        self._take(np.random.default_rng(seed).random(len(self.root), dtype=np.float32))

    @property
    def num_states(self) -> int:
        return int(self.begin[-1])

    @property
    def nbytes(self) -> int:
        """Of the transitions, and of their expected counts."""
        return self.root.nbytes + 4 * self.root.size

    def chances(self) -> Floats32:
        """The probabilities, block after block."""
        return _squared(self.root)

    def expected(self, walks: Walks) -> tuple[float, Floats32, Floats32]:
        """The log-likelihood of walks and the expected counts of transitions and of first states."""
        counts, first = np.zeros(len(self.root), dtype=np.float32), np.zeros_like(self.first)
        total = sweep(self._arguments(walks), counts, first, True)
        for begin, end in zip(self.offset[:-1], self.offset[1:], strict=True):
            counts[begin:end] *= _squared(self.root[begin:end])
        return total, counts, first

    def log_likelihood(self, walks: Walks) -> float:
        """Of an observation after the first, given the actions, in nats."""
        nothing = np.zeros(0, dtype=np.float32)
        total = sweep(self._arguments(walks), nothing, nothing, False)
        return total / max(int((walks.lengths - 1).sum()), 1)

    def update(self, counts: Floats32, first: Floats32, pseudocount: float) -> None:
        """Probabilities from expected counts, which are overwritten."""
        counts += np.float32(pseudocount)
        self.first = (first + np.float32(pseudocount)) / np.float32(first.sum() + pseudocount * len(first))
        self._take(counts)

    def sparse(self, walks: Walks) -> StateCounts:
        """Expected counts of walks as the map builder's model takes them."""
        _, counts, first = self.expected(walks)
        kept = np.flatnonzero(counts > LEAST_COUNT)
        block = np.searchsorted(self.offset, kept, side="right") - 1
        inside = kept - self.offset[block]
        row, column = np.divmod(inside, self.size[self.target[block]])
        source = self.begin[self.source[block]] + row
        target = self.begin[self.target[block]] + column
        order = np.lexsort((target, source * self.num_actions + self.action[block]))
        count = counts[kept].astype(np.float64)
        visits = first + np.bincount(target, weights=count, minlength=self.num_states)
        found = StateCounts(
            first=first.astype(np.float64),
            row=(source * self.num_actions + self.action[block])[order].astype(np.int64),
            target=target[order].astype(np.int32),
            count=count[order],
            seen_at=np.arange(self.num_states, dtype=np.int32),
            seen=np.repeat(np.arange(self.num_observations), self.size).astype(np.int32),
            seen_count=visits.astype(np.float64),
            num_actions=self.num_actions,
            num_observations=self.num_observations,
        )
        return without_unused(found)

    def views(self, values: Floats32) -> Iterator[tuple[Floats32, int, slice, slice]]:
        """Of values, one for each transition, every block: a matrix, its action, its sources and its targets."""
        names = zip(self.action.tolist(), self.source.tolist(), self.target.tolist(), strict=True)
        for index, (action, source, target) in enumerate(names):
            view = values[self.offset[index] : self.offset[index + 1]]
            sides = [slice(int(self.begin[side]), int(self.begin[side + 1])) for side in (source, target)]
            yield view.reshape(self.size[source], self.size[target]), action, *sides

    def _take(self, weights: Floats32) -> None:
        """Normalise, in place, what an action from a clone may lead to, and keep it."""
        total = np.zeros((self.num_actions, self.num_states), dtype=np.float32)
        for view, action, rows, _ in self.views(weights):
            total[action, rows] += view.sum(axis=1)
        np.maximum(total, np.float32(1e-30), out=total)
        for view, action, rows, _ in self.views(weights):
            view /= total[action, rows, None]
        for begin, end in zip(self.offset[:-1], self.offset[1:], strict=True):
            self.root[begin:end] = np.rint(WHOLE * np.sqrt(weights[begin:end]))

    def _arguments(self, walks: Walks) -> tuple[Any, ...]:
        clones = (self.begin, self.size, self.block, self.root, self.first)
        return walks.observations, walks.actions, walks.lengths, clones


def _squared(root: NDArray[np.uint16]) -> Floats32:
    return np.square(root.astype(np.float32) / WHOLE)


def _pairs(walks: Walks) -> tuple[Whole, Whole, Whole]:
    """Every action with the observations before and after it, each combination once."""
    known = walks.step_mask()[:, 1:]
    before, after = walks.observations[:, :-1][known].astype(np.int64), walks.observations[:, 1:][known]
    key = np.unique(
        (walks.actions[known] * np.int64(walks.num_observations) + before) * walks.num_observations + after
    )
    rest, target = np.divmod(key, walks.num_observations)
    action, source = np.divmod(rest, walks.num_observations)
    return action, source, target
