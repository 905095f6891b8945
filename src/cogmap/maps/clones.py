"""Clone-structured graphs (CSCG): a hidden Markov model in which every observation owns a number of states, its clones.

After George et al., Clone-structured graph representations enable flexible learning and vicarious evaluation of
cognitive maps (2021). The recipe is the official one: expectation-maximisation from random transitions with a
pseudocount of 2e-3, then without one, then refinement by the likeliest paths (Viterbi).

While transitions are random, a step of a walk concerns the clones of two observations, so transitions are stored and
visited in blocks: one for an action and a pair of observations that the walks show. Of a block only the rows of likely
clones are visited. Once the clones have found their places, the model is sparse, and the map builder's own hidden
Markov model (`maps/hmm.py`) goes on with it. `python -m benchmarks cscg` compares a round with a dense one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.maps.counts import Whole
from cogmap.maps.hmm import (
    LEAST_COUNT,
    UNEXPLAINED,
    StateCounts,
    count_states,
    likeliest_paths,
    maximise,
    predict,
    without_unused,
)
from cogmap.records import Walks

Floats32 = NDArray[np.float32]

PSEUDOCOUNT = 2e-3  # of the official recipe
FEWEST_CLONES, MOST_CLONES = 8, 512  # of an observation, when they are chosen by the held-out likelihood
_UNLIKELY = 1e-4  # a clone this much less likely than the likeliest is passed over
_SEGMENT = 1024  # steps of a walk whose beliefs are in memory at once
_PATIENCE = 10  # rounds in which the held-out log-likelihood must rise, by at least ...
_RISE = 1e-3  # ... this, in nats a step
_POLISH = 20  # rounds without a pseudocount
_REFINEMENTS = 100  # by likeliest paths, at the most


@dataclass(frozen=True)
class CloneOptions:
    """How a clone-structured graph is learned."""

    clones: int | None = None  # of each observation; None doubles them while the held-out likelihood rises
    restarts: int = (
        3  # random starts with the chosen number of clones; the likeliest on held-out walks is kept
    )
    rounds: int = 1000  # of expectation-maximisation with a pseudocount, at the most
    minutes: float | None = None  # in all; a start that is under way then is ended and refined
    seed: int = 0


@dataclass(frozen=True, eq=False)
class CloneGraph:
    """What was learned."""

    counts: StateCounts  # states that no walk visits are left out
    clones: int  # of each observation, before
    rounds: int  # of the start that was kept
    held_out: float  # log-likelihood of an observation of held-out walks, in nats

    @property
    def num_states(self) -> int:
        return self.counts.num_states


Tell = Callable[[str], None]


def learn_clones(
    walks: Walks, apart: Walks, options: CloneOptions | None = None, tell: Tell = lambda line: None
) -> CloneGraph:
    """The clone-structured graph of walks. apart: walks to stop and to choose by. tell: gets a line for each start."""
    options = options or CloneOptions()
    deadline = np.inf if options.minutes is None else time.monotonic() + 60 * options.minutes
    found: list[CloneGraph] = []
    while (start := _next_start(options, found)) is not None:
        if found and time.monotonic() > deadline:
            break
        clones, seed = start
        graph = _learn_once(walks, apart, clones, options.rounds, seed, deadline)
        tell(
            f"{clones} clones: {graph.num_states} states after {graph.rounds} rounds, "
            f"{graph.held_out:.4f} nats for a held-out observation"
        )
        found.append(graph)
    return _likeliest(found)


def _likeliest(found: Sequence[CloneGraph]) -> CloneGraph:
    return max(found, key=lambda graph: graph.held_out)


def _next_start(options: CloneOptions, found: Sequence[CloneGraph]) -> tuple[int, int] | None:
    """The number of clones and the seed of the next start, None after the last."""
    if not found:
        return options.clones or FEWEST_CLONES, options.seed
    doubled = 2 * found[-1].clones
    growing = len({graph.clones for graph in found}) == len(found)
    if options.clones is None and growing and doubled <= MOST_CLONES:
        before = max((graph.held_out for graph in found[:-1]), default=-np.inf)
        if found[-1].held_out > before + _RISE:
            return doubled, options.seed
    chosen = _likeliest(found).clones
    tried = sum(graph.clones == chosen for graph in found)
    return (chosen, options.seed + tried) if tried < options.restarts else None


def _learn_once(
    walks: Walks, apart: Walks, clones: int, rounds: int, seed: int, deadline: float
) -> CloneGraph:
    model = CloneBlocks(walks, clones, seed)
    best, since, reached = -np.inf, 0, 0
    for done in range(rounds):
        model.update(*model.expected(walks)[1:], PSEUDOCOUNT)
        likelihood = model.log_likelihood(apart)
        reached = done + 1
        since = 0 if likelihood > best + _RISE else since + 1
        best = max(best, likelihood) if since == 0 else best
        if since >= _PATIENCE or time.monotonic() > deadline:
            break
    counts = refine(maximise(walks, model.sparse(walks), _POLISH).counts, walks)
    known = apart.step_mask()[:, 1:]
    held_out = float(predict(counts, apart)[2][known].mean())
    return CloneGraph(counts, clones, reached, held_out)


def refine(counts: StateCounts, walks: Walks) -> StateCounts:
    """Count along the likeliest path of each walk, until these paths stay as likely as they are."""
    best = -np.inf
    for _ in range(_REFINEMENTS):
        path, likelihood = likeliest_paths(counts, walks)
        if likelihood <= best + 0.1:
            break
        best = likelihood
        counts = without_unused(count_states(path, walks, counts.num_states))
    return counts


class CloneBlocks:
    """Transitions between clones, in blocks: of an action and two observations that follow each other in the walks."""

    def __init__(self, walks: Walks, clones: int, seed: int) -> None:
        if clones < 1:
            raise BadConfig(f"`clones` must be at least 1, got {clones}")
        mask = walks.step_mask()
        seen = np.bincount(walks.observations[mask], minlength=walks.num_observations)
        self.size = np.minimum(clones, seen).astype(np.int64)  # (O,) no more clones than sightings
        self.begin = np.concatenate(
            [[0], np.cumsum(self.size)]
        )  # (O + 1,) the first clone of each observation
        self.num_actions, self.num_observations = walks.num_actions, walks.num_observations
        self.action, self.source, self.target = _pairs(walks)  # (Z,) of each block
        entries = self.size[self.source] * self.size[self.target]
        self.offset = np.concatenate([[0], np.cumsum(entries)])  # (Z + 1,)
        shape = (walks.num_actions, walks.num_observations, walks.num_observations)
        self.block = np.full(shape, -1, dtype=np.int64)
        self.block[self.action, self.source, self.target] = self.offset[:-1]
        rng = np.random.default_rng(seed)
        self.chance = rng.random(
            int(self.offset[-1]), dtype=np.float32
        )  # the probabilities, block after block
        self.first = np.repeat(seen / max(seen.sum(), 1) / np.maximum(self.size, 1), self.size).astype(
            np.float32
        )
        self._normalise()

    @property
    def num_states(self) -> int:
        return int(self.begin[-1])

    @property
    def nbytes(self) -> int:
        """Of the transitions, and of their expected counts."""
        return 2 * self.chance.nbytes

    def expected(self, walks: Walks) -> tuple[float, Floats32, Floats32]:
        """The log-likelihood of walks and the expected counts of transitions and of first states."""
        counts, first = np.zeros_like(self.chance), np.zeros_like(self.first)
        total = _sweep(self._arguments(walks), counts, first, True)
        counts *= self.chance
        return total, counts, first

    def log_likelihood(self, walks: Walks) -> float:
        """Of an observation after the first, given the actions, in nats."""
        nothing = np.zeros(0, dtype=np.float32)
        return _sweep(self._arguments(walks), nothing, nothing, False) / max(
            int((walks.lengths - 1).sum()), 1
        )

    def update(self, counts: Floats32, first: Floats32, pseudocount: float) -> None:
        """Probabilities from expected counts."""
        self.chance = counts + np.float32(pseudocount)
        self.first = (first + np.float32(pseudocount)) / np.float32(first.sum() + pseudocount * len(first))
        self._normalise()

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

    def _arguments(self, walks: Walks) -> tuple[Any, ...]:
        clones = (self.begin, self.size, self.block, self.chance, self.first)
        return walks.observations, walks.actions, walks.lengths, *clones

    def _normalise(self) -> None:
        """The chances of an action from a clone sum to one."""
        total = np.zeros((self.num_actions, self.num_states), dtype=np.float32)
        for view, action, rows in self._views():
            total[action, rows] += view.sum(axis=1)
        np.maximum(total, np.float32(1e-30), out=total)
        for view, action, rows in self._views():
            view /= total[action, rows, None]

    def _views(self) -> Any:
        for index, (action, source, target) in enumerate(
            zip(self.action.tolist(), self.source.tolist(), self.target.tolist(), strict=True)
        ):
            view = self.chance[self.offset[index] : self.offset[index + 1]]
            rows = slice(int(self.begin[source]), int(self.begin[source + 1]))
            yield view.reshape(self.size[source], self.size[target]), action, rows


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


# Loops over slices: an index that numba knows to be in range lets the compiler use vector instructions.
@njit(cache=True, fastmath=True)
def _add_scaled(to: Any, values: Any, weight: Any) -> None:
    for index in range(len(to)):
        to[index] += weight * values[index]


@njit(cache=True, fastmath=True)
def _dot(first: Any, second: Any) -> Any:
    total = np.float32(0.0)
    for index in range(len(first)):
        total += first[index] * second[index]
    return total


@njit(cache=True, fastmath=True)
def _keep(alpha: Any, size: int, kept: Any, total: float) -> int:
    """Normalise a belief, pass over unlikely clones and list the others. Returns how many there are."""
    most = np.float32(0.0)
    for clone in range(size):
        most = max(most, alpha[clone])
    found, least, scale = 0, most * np.float32(_UNLIKELY), np.float32(1 / total)
    for clone in range(size):
        if alpha[clone] >= least and alpha[clone] > 0:
            alpha[clone] *= scale
            kept[found] = clone
            found += 1
        else:
            alpha[clone] = 0
    return found


@njit(cache=True, fastmath=True)
def _begin_anew(alpha: Any, first: Any, begin: int, size: int) -> float:
    """Fill the belief with the clones of an observation, by how often walks start there. Returns its sum."""
    total = 0.0
    for clone in range(size):
        alpha[clone] = first[begin + clone]
        total += alpha[clone]
    if total <= 0:
        for clone in range(size):
            alpha[clone] = np.float32(1.0)
        total = float(size)
    return total


@njit(cache=True, fastmath=True)
def _sweep(arguments: Any, counts: Any, first_counts: Any, learns: bool) -> float:
    """A pass over walks. Returns their log-likelihood; `counts` get the sums that times `chance` are expected counts.

    A walk is read in segments. Beliefs pass from one to the next; what is seen later does not pass back.
    """
    observations, actions, lengths, begin, size, block, chance, first = arguments
    widest, longest = max(1, size.max()), min(_SEGMENT, observations.shape[1]) + 1
    alpha = np.zeros((longest, widest), dtype=np.float32)
    kept, num_kept = np.zeros((longest, widest), dtype=np.int32), np.zeros(longest, dtype=np.int64)
    anew = np.zeros(longest, dtype=np.bool_)
    later, earlier = np.zeros(widest, dtype=np.float32), np.zeros(widest, dtype=np.float32)
    log_likelihood = 0.0
    for walk in range(len(lengths)):
        seen, done, last = observations[walk], actions[walk], lengths[walk] - 1
        start = 0
        clones = size[seen[0]]
        total = _begin_anew(alpha[0], first, begin[seen[0]], clones)
        num_kept[0] = _keep(alpha[0], clones, kept[0], total)
        while start < last:
            steps = min(longest - 1, last - start)
            for step in range(1, steps + 1):
                before, after = seen[start + step - 1], seen[start + step]
                clones, offset = size[after], block[done[start + step - 1], before, after]
                belief = alpha[step]
                belief[:clones] = 0
                total = 0.0
                if offset >= 0:
                    for index in range(num_kept[step - 1]):
                        clone = kept[step - 1, index]
                        weight, row = alpha[step - 1, clone], offset + clone * clones
                        _add_scaled(belief[:clones], chance[row : row + clones], weight)
                    for other in range(clones):
                        total += belief[other]
                anew[step] = total < UNEXPLAINED
                log_likelihood += np.log(max(total, UNEXPLAINED))
                if anew[step]:
                    total = _begin_anew(belief, first, begin[after], clones)
                num_kept[step] = _keep(belief, clones, kept[step], total)
            if learns:
                for index in range(num_kept[steps]):
                    later[kept[steps, index]] = np.float32(1.0)
                for step in range(steps, 0, -1):
                    before, after = seen[start + step - 1], seen[start + step]
                    clones, offset = size[after], block[done[start + step - 1], before, after]
                    few = 4 * num_kept[step] < clones
                    norm = 0.0
                    for index in range(num_kept[step - 1]):
                        clone = kept[step - 1, index]
                        value = np.float32(0.0)
                        row = offset + clone * clones
                        if anew[step]:
                            value = np.float32(1.0)
                        elif few:
                            for other in kept[step, : num_kept[step]]:
                                value += chance[row + other] * later[other]
                        else:
                            value = _dot(chance[row : row + clones], later[:clones])
                        earlier[clone] = value
                        norm += alpha[step - 1, clone] * value
                    scale = np.float32(1 / max(norm, 1e-30))
                    for index in range(num_kept[step - 1]):
                        clone = kept[step - 1, index]
                        earlier[clone] *= scale
                        weight, row = alpha[step - 1, clone] * scale, offset + clone * clones
                        if anew[step]:
                            continue
                        if few:
                            for other in kept[step, : num_kept[step]]:
                                counts[row + other] += weight * later[other]
                        else:
                            _add_scaled(counts[row : row + clones], later[:clones], weight)
                    for index in range(num_kept[step]):
                        later[kept[step, index]] = 0
                    for index in range(num_kept[step - 1]):
                        later[kept[step - 1, index]] = earlier[kept[step - 1, index]]
                for index in range(num_kept[0]):
                    clone = kept[0, index]
                    if start == 0:
                        first_counts[begin[seen[0]] + clone] += alpha[0, clone] * later[clone]
                    later[clone] = 0
            for index in range(num_kept[steps]):
                kept[0, index] = kept[steps, index]
            alpha[0] = alpha[steps]
            num_kept[0] = num_kept[steps]
            start += steps
    return log_likelihood
