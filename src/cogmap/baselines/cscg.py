"""Clone-structured graphs (CSCG): a hidden Markov model in which every observation owns a number of states, its clones.

After George et al., Clone-structured graph representations enable flexible learning and vicarious evaluation of
cognitive maps (2021). The recipe is the official one: expectation-maximisation from random transitions with a
pseudocount of 2e-3, then without one, then refinement by the likeliest paths (Viterbi).

While transitions are random, they are kept in blocks (`clone_blocks.py`). Once the clones have found their places,
the model is sparse, and the map builder's own hidden Markov model (`hmm/inference.py`) takes over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cogmap.baselines.clone_blocks import CloneBlocks
from cogmap.hmm.inference import likeliest_paths, maximise, predict
from cogmap.hmm.states import StateCounts, count_states, without_unused
from cogmap.records import Walks

PSEUDOCOUNT = 2e-3  # of the official recipe
FEWEST_CLONES, MOST_CLONES = 8, 512  # of an observation, when they are chosen by the held-out likelihood
_PATIENCE = 10  # rounds in which the held-out log-likelihood must rise, by at least ...
_RISE = 1e-3  # ... this, in nats a step
_POLISH = 20  # rounds without a pseudocount
_REFINEMENTS = 100  # by likeliest paths, at the most


@dataclass(frozen=True)
class CloneOptions:
    """How a clone-structured graph is learned."""

    clones: int | None = None  # of each observation; None doubles them while the held-out likelihood rises
    restarts: int = 3  # random starts with that number of clones; the likeliest on held-out walks is kept
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
