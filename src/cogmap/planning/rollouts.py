"""The baselines' planner: a model without a map samples rollouts and checks whether one of them reaches the target.

Appendix D of the paper. From a shared context the model rolls out random actions, and takes its likeliest next
observation as the one that follows. Every step of a rollout that shows the target's observation is a candidate. The
tail of the real walk confirms a candidate if the model, continued from there, predicts all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadConfig
from cogmap.records import Booleans, Floats, Integers

# A tail is read in pieces of these lengths. Most candidates are wrong and fail in the first steps.
_FIRST_PIECES = (1, 1, 2, 4, 8)
_LATER_PIECES = 16


class State(Protocol):
    """The hidden state of a predictor after R histories."""

    def rows(self, index: NDArray[np.integer[Any]]) -> Self:
        """The state of the histories at `index` (Q,), in that order; an index may occur several times."""


AnyState = TypeVar("AnyState", bound=State)


class Predictor(Protocol[AnyState]):
    """A sequence model for this planner. States are immutable: every method returns a new one.

    A network can be a predictor, and so can a script that knows the world.
    """

    def begin(self, observations: Integers, actions: Integers) -> AnyState:
        """The state after reading observations (R, C) with the actions (R, C - 1) between them."""

    def predict(self, state: AnyState, actions: Integers) -> tuple[Floats, AnyState]:
        """Logits (R, O) of the observation after these actions (R,), and the state after reading the actions."""

    def advance(self, state: AnyState, observations: Integers) -> AnyState:
        """The state after reading the observations (R,) that followed the actions given to `predict`."""

    def read(self, state: AnyState, actions: Integers, observations: Integers) -> tuple[Floats, AnyState]:
        """The same as T calls of `predict` and `advance` with the real actions and observations (R, T).

        Logits (R, T, O), where [:, t] predicts observations[:, t], and the state after the last step.
        A model that has no faster method can use `read_by_steps`.
        """


def read_by_steps(
    predictor: Predictor[AnyState], state: AnyState, actions: Integers, observations: Integers
) -> tuple[Floats, AnyState]:
    """`Predictor.read`, step by step."""
    logits = []
    for step in range(actions.shape[1]):
        predicted, state = predictor.predict(state, actions[:, step])
        logits.append(predicted)
        state = predictor.advance(state, observations[:, step])
    return np.stack(logits, axis=1), state


@dataclass(frozen=True, eq=False)
class RolloutProblems:
    """Q walks cut in three: a context up to the start, a hidden part from start to target, and a tail."""

    context_observations: Integers  # (Q, C) the last one is the start's
    context_actions: Integers  # (Q, C - 1)
    target_observation: Integers  # (Q,)
    tail_actions: Integers  # (Q, T) from the target on
    tail_observations: Integers  # (Q, T)
    num_actions: int
    rollout_steps: int  # actions from start to target in the real walk, N - 2C


@dataclass(frozen=True, eq=False)
class Rollouts:
    """The random actions, and every candidate along them."""

    actions: Integers  # (Q, W, T) of each problem's W rollouts
    problem: Integers  # (H,) of each candidate
    rollout: Integers  # (H,)
    length: Integers  # (H,) actions from the start to the candidate, from 0 to T
    passed: Booleans  # (H,) whether the tail confirmed it


def roll_out(
    predictor: Predictor[AnyState],
    problems: RolloutProblems,
    rng: np.random.Generator,
    rollouts: int = 100,
    rows_at_once: int = 2000,
    shown: Callable[[float], None] = lambda share: None,
) -> Rollouts:
    """Sample `rollouts` rollouts for each problem, and check all candidates by the tail.

    rows_at_once: rollouts that are computed together. Memory holds that many states, and as many again for
        tails in the worst case. The result does not depend on it.
    shown: called with the share that is done, after every step of the rollouts that are computed together.
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
        steps = _roll_out_rows(predictor, problems, rows // rollouts, rows % rollouts, actions)
        for step, candidates in enumerate(steps):
            found.append(candidates)
            share = (step + 1) / (problems.rollout_steps + 1)
            shown((first + share * len(rows)) / (count * rollouts))
    problem, rollout, length, passed = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((length, rollout, problem))
    return Rollouts(actions, problem[order], rollout[order], length[order], passed[order])


def first_rollouts(found: Rollouts, count: int) -> Rollouts:
    """The first `count` rollouts of each problem alone, with their candidates: what fewer rollouts would have found."""
    kept = found.rollout < count
    return Rollouts(
        found.actions[:, :count],
        found.problem[kept],
        found.rollout[kept],
        found.length[kept],
        found.passed[kept],
    )


_Candidates = tuple[Integers, Integers, Integers, Booleans]


def _roll_out_rows(
    predictor: Predictor[AnyState],
    problems: RolloutProblems,
    problem: Integers,
    rollout: Integers,
    actions: Integers,
) -> Iterator[_Candidates]:
    """Candidates of the rollouts given by `problem` and `rollout` (R,), step by step."""
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
        passed = _tails_predicted(predictor, state, problems, problem, here)
        yield problem[here], rollout[here], np.full(len(here), length), passed


def _tails_predicted(
    predictor: Predictor[AnyState],
    state: AnyState,
    problems: RolloutProblems,
    problem: Integers,
    candidates: NDArray[np.intp],
) -> Booleans:
    """(H,) whether the model, continued from each candidate row (H,), predicts the whole tail.

    The tail is read in pieces. A candidate is dropped at the first piece with a wrong prediction.
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
    """The first and last step of each piece of a tail, short pieces first."""
    first = 0
    sizes = iter(_FIRST_PIECES)
    while first < length:
        last = min(first + next(sizes, _LATER_PIECES), length)
        yield first, last
        first = last
