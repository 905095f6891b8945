"""The rivals' planner: a model without a map imagines random walks and hopes to come across the target.

Appendix D of the paper. From a shared context the model rolls out random actions, taking its likeliest
next observation for real. Wherever a rollout sees what is seen at the target there is a candidate. It is
believed to be the target if the model, continued from there, foretells the tail of the real walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.records import Booleans, Floats, Integers

# Lengths of the pieces in which a tail is read. Most candidates are wrong and fail in the first steps.
_FIRST_PIECES = (1, 1, 2, 4, 8)
_LATER_PIECES = 16


class State(Protocol):
    """All that a predictor remembers of R histories."""

    def rows(self, index: NDArray[np.integer[Any]]) -> Self:
        """The histories at `index` (Q,), in that order, some perhaps several times, as a state of its own."""


AnyState = TypeVar("AnyState", bound=State)


class Predictor(Protocol[AnyState]):
    """A sequence model as this planner sees it: what it has read is a state, and a state is never changed.

    Any network can be one; so can a script that knows the world.
    """

    def begin(self, observations: Integers, actions: Integers) -> AnyState:
        """The state after reading observations (R, C) with the actions (R, C - 1) between them."""

    def predict(self, state: AnyState, actions: Integers) -> tuple[Floats, AnyState]:
        """Logits (R, O) of what is seen after these actions (R,), and the state after reading them."""

    def advance(self, state: AnyState, observations: Integers) -> AnyState:
        """The state after reading what followed (R,) an action that `predict` was given."""

    def read(self, state: AnyState, actions: Integers, observations: Integers) -> tuple[Floats, AnyState]:
        """As T times `predict` and `advance` with what really happened: actions and observations (R, T).

        Logits (R, T, O), where [:, t] foretells observations[:, t], and the state after all of it.
        `read_by_steps` is this for a model that has no faster way.
        """


def read_by_steps(
    predictor: Predictor[AnyState], state: AnyState, actions: Integers, observations: Integers
) -> tuple[Floats, AnyState]:
    """`Predictor.read`, one step after the other."""
    logits = []
    for step in range(actions.shape[1]):
        foretold, state = predictor.predict(state, actions[:, step])
        logits.append(foretold)
        state = predictor.advance(state, observations[:, step])
    return np.stack(logits, axis=1), state


@dataclass(frozen=True, eq=False)
class RolloutProblems:
    """Q walks cut in three: a context up to the start, a way to the target that is not shown, and a tail."""

    context_observations: Integers  # (Q, C) the last one is seen at the start
    context_actions: Integers  # (Q, C - 1)
    target_observation: Integers  # (Q,)
    tail_actions: Integers  # (Q, T) taken from the target on
    tail_observations: Integers  # (Q, T)
    num_actions: int
    rollout_steps: int  # actions from start to target in the real walk, N - 2C


@dataclass(frozen=True, eq=False)
class Rollouts:
    """The random actions, and every candidate found along them."""

    actions: Integers  # (Q, W, T) of each problem's W rollouts
    problem: Integers  # (H,) of each candidate
    rollout: Integers  # (H,)
    length: Integers  # (H,) actions after which it was found, from 0 to T
    passed: Booleans  # (H,) whether the tail confirmed it


def roll_out(
    predictor: Predictor[AnyState],
    problems: RolloutProblems,
    rng: np.random.Generator,
    rollouts: int = 100,
    rows_at_once: int = 2000,
) -> Rollouts:
    """`rollouts` random walks in the model's mind for each problem, with all candidates and their tails.

    rows_at_once: rollouts held together; the memory needed is that many states, and as many again for
        tails in the worst case. The result does not depend on it.
    """
    for name, value in (("rollouts", rollouts), ("rows_at_once", rows_at_once)):
        if value < 1:
            raise BadConfig(f"`{name}` must be at least 1, got {value}")
    count = len(problems.target_observation)
    shape = (count, rollouts, problems.rollout_steps)
    actions = rng.integers(problems.num_actions, size=shape, dtype=np.int32)
    found: list[_Candidates] = []
    for first in range(0, count * rollouts, rows_at_once):
        rows = np.arange(first, min(first + rows_at_once, count * rollouts), dtype=np.int32)
        found.extend(_roll_out_rows(predictor, problems, rows // rollouts, rows % rollouts, actions))
    problem, rollout, length, passed = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((length, rollout, problem))
    return Rollouts(actions, problem[order], rollout[order], length[order], passed[order])


_Candidates = tuple[Integers, Integers, Integers, Booleans]


def _roll_out_rows(
    predictor: Predictor[AnyState],
    problems: RolloutProblems,
    problem: Integers,
    rollout: Integers,
    actions: Integers,
) -> Iterator[_Candidates]:
    """Candidates of some rollouts, step by step; `problem` and `rollout` (R,) say which."""
    shown, row = np.unique(problem, return_inverse=True)
    context = problems.context_observations[shown], problems.context_actions[shown]
    state = predictor.begin(*context).rows(row)
    seen = problems.context_observations[problem, -1]  # (R,)
    for length in range(problems.rollout_steps + 1):
        if length:
            logits, state = predictor.predict(state, actions[problem, rollout, length - 1])
            seen = logits.argmax(axis=1).astype(np.int32)
            state = predictor.advance(state, seen)
        here = np.flatnonzero(seen == problems.target_observation[problem])
        passed = _tails_foretold(predictor, state, problems, problem, here)
        yield problem[here], rollout[here], np.full(len(here), length), passed


def _tails_foretold(
    predictor: Predictor[AnyState],
    state: AnyState,
    problems: RolloutProblems,
    problem: Integers,
    candidates: NDArray[np.intp],
) -> Booleans:
    """(H,) whether the model, continued from each candidate row (H,), foretells the whole tail.

    The tail is read in pieces, and a candidate is dropped at the first piece with a mistake in it.
    """
    alive = np.arange(len(candidates))
    branch: AnyState | None = None
    for first, last in _pieces(problems.tail_actions.shape[1]):
        if not alive.size:
            break
        rows = problem[candidates[alive]]
        tail = problems.tail_observations[rows, first:last]
        branch = state.rows(candidates) if branch is None else branch
        logits, branch = predictor.read(branch, problems.tail_actions[rows, first:last], tail)
        right = (logits.argmax(axis=2) == tail).all(axis=1)
        alive, branch = alive[right], branch.rows(np.flatnonzero(right))
    passed = np.zeros(len(candidates), dtype=bool)
    passed[alive] = True
    return passed


def _pieces(length: int) -> Iterator[tuple[int, int]]:
    """Cuts of a tail: short pieces first."""
    first = 0
    sizes = iter(_FIRST_PIECES)
    while first < length:
        last = min(first + next(sizes, _LATER_PIECES), length)
        yield first, last
        first = last
