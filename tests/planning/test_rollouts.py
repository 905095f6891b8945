"""The baselines' planner: perfect with a perfect predictor, and equal to plain loops with a poor one."""

from dataclasses import dataclass

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import torus
from cogmap.errors import BadConfig
from cogmap.planning.rollouts import RolloutProblems, _pieces, first_rollouts, read_by_steps, roll_out
from cogmap.walks.sample import sample_walks

CONTEXT, STEPS = 12, 40


@dataclass
class Positions:
    at: np.ndarray  # (R,)

    def rows(self, index):
        return Positions(self.at[index])


class KnowsTheWorld:
    """Knows where each problem's walk starts, and follows every action in the world itself."""

    def __init__(self, world, start):
        self.world, self.start = world, start

    def begin(self, observations, actions):
        # The planner passes whole contexts; each is found again among those given.
        contexts = zip(observations, actions, strict=True)
        return Positions(np.array([self.start[tuple(seen), tuple(done)] for seen, done in contexts]))

    def predict(self, state, actions):
        at = self.world.next_position[state.at, actions]
        return np.eye(self.world.num_observations)[self.world.observation[at]], Positions(at)

    def advance(self, state, observations):
        return state

    def read(self, state, actions, observations):
        return read_by_steps(self, state, actions, observations)


@dataclass
class Histories:
    read: list[tuple[int, ...]]

    def rows(self, index):
        return Histories([self.read[row] for row in index])


class PoorPredictor:
    """A deterministic predictor that depends on its whole history and is often wrong."""

    def guess(self, history):
        mixed = 17
        for item in history[-6:]:
            mixed = (mixed * 31 + item + 7) % 1009
        return mixed % 3

    def begin(self, observations, actions):
        histories = []
        for seen, done in zip(observations, actions, strict=True):
            history = [int(seen[0])]
            for action, following in zip(done, seen[1:], strict=True):
                history += [int(action), int(following)]
            histories.append(tuple(history))
        return Histories(histories)

    def predict(self, state, actions):
        after = [(*history, int(action)) for history, action in zip(state.read, actions, strict=True)]
        return np.eye(3)[[self.guess(history) for history in after]], Histories(after)

    def advance(self, state, observations):
        return Histories(
            [(*history, int(seen)) for history, seen in zip(state.read, observations, strict=True)]
        )

    def read(self, state, actions, observations):
        return read_by_steps(self, state, actions, observations)


def problems_from(walks, context=CONTEXT):
    start, target = context - 1, walks.num_steps - context - 1
    return RolloutProblems(
        context_observations=walks.observations[:, :context],
        context_actions=walks.actions[:, :start],
        target_observation=walks.observations[:, target],
        tail_actions=walks.actions[:, target:],
        tail_observations=walks.observations[:, target + 1 :],
        num_actions=walks.num_actions,
        rollout_steps=target - start,
    )


@pytest.mark.parametrize("world", [AliasedRoom(5, 6), torus(4, 5, one_way_doors=4)], ids=["room", "torus"])
def test_a_perfect_predictor_gives_perfect_rollouts(world):
    walks, truth = sample_walks(world, 6, STEPS, np.random.default_rng(0))
    problems = problems_from(walks)
    start = truth.positions[:, CONTEXT - 1]
    keys = [
        (tuple(seen), tuple(done))
        for seen, done in zip(problems.context_observations, problems.context_actions, strict=True)
    ]
    predictor = KnowsTheWorld(world, dict(zip(keys, start, strict=True)))
    rollouts = roll_out(predictor, problems, np.random.default_rng(1), rollouts=20, rows_at_once=33)

    found = set()
    for problem in range(6):
        for rollout in range(20):
            position = int(start[problem])
            for length in range(problems.rollout_steps + 1):
                if length:
                    position = world.next_position[position, rollouts.actions[problem, rollout, length - 1]]
                if world.observation[position] == problems.target_observation[problem]:
                    ahead = position
                    predicted = []
                    for action in problems.tail_actions[problem]:
                        ahead = world.next_position[ahead, action]
                        predicted.append(int(world.observation[ahead]))
                    right = predicted == problems.tail_observations[problem].tolist()
                    found.add((problem, rollout, length, right))
                    if position == truth.positions[problem, -CONTEXT - 1]:
                        assert right
    columns = (rollouts.problem, rollouts.rollout, rollouts.length, rollouts.passed)
    assert set(zip(*(column.tolist() for column in columns), strict=True)) == found
    assert 0 < rollouts.passed.sum() < len(rollouts.passed)


def test_agrees_with_plain_loops_whatever_is_held_at_once():
    walks, _ = sample_walks(torus(4, 5, 3), 3, 20, np.random.default_rng(2))
    problems = problems_from(walks, context=4)
    # A tail that the poor predictor sometimes predicts: two steps of it.
    problems = RolloutProblems(**{**vars(problems), "tail_actions": problems.tail_actions[:, :2]})
    problems = RolloutProblems(**{**vars(problems), "tail_observations": problems.tail_observations[:, :2]})
    poor = PoorPredictor()
    everything = [
        roll_out(poor, problems, np.random.default_rng(3), rollouts=30, rows_at_once=rows)
        for rows in (1, 7, 1000)
    ]
    expected = []
    for problem in range(3):
        for rollout in range(30):
            seen, done = problems.context_observations[problem], problems.context_actions[problem]
            (history,) = poor.begin(seen[None], done[None]).read
            for length in range(problems.rollout_steps + 1):
                if length:
                    history = (*history, int(everything[0].actions[problem, rollout, length - 1]))
                    history = (*history, poor.guess(history))
                if history[-1] == problems.target_observation[problem]:
                    branch, right = history, True
                    tail = problems.tail_actions[problem], problems.tail_observations[problem]
                    for action, following in zip(*tail, strict=True):
                        branch = (*branch, int(action))
                        right &= poor.guess(branch) == following
                        branch = (*branch, int(following))
                    expected.append((problem, rollout, length, bool(right)))
    assert len({right for *_, right in expected}) == 2
    for rollouts in everything:
        columns = (rollouts.problem, rollouts.rollout, rollouts.length, rollouts.passed)
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


@pytest.mark.parametrize("length", [0, 1, 2, 5, 16, 50])
def test_pieces_cover_a_tail_once(length):
    steps = [step for first, last in _pieces(length) for step in range(first, last)]
    assert steps == list(range(length))


def test_bad_numbers():
    walks, _ = sample_walks(torus(4, 5, 3), 3, 20, np.random.default_rng(2))
    with pytest.raises(BadConfig, match="`rollouts` must be at least 1, got 0"):
        roll_out(PoorPredictor(), problems_from(walks, 4), np.random.default_rng(0), rollouts=0)


class TheseActions:
    """A generator that draws what it is given."""

    def __init__(self, actions):
        self.actions = actions

    def integers(self, high, size, dtype):
        assert self.actions.shape == size
        return self.actions


def test_the_first_rollouts_are_those_that_would_have_been_found_alone():
    walks, _ = sample_walks(torus(4, 5, 3), 3, 20, np.random.default_rng(2))
    questions = problems_from(walks, context=4)
    many = roll_out(PoorPredictor(), questions, np.random.default_rng(5), 6)
    few = first_rollouts(many, 2)
    alone = roll_out(PoorPredictor(), questions, TheseActions(many.actions[:, :2]), 2)
    for name in ("actions", "problem", "rollout", "length", "passed"):
        np.testing.assert_array_equal(getattr(few, name), getattr(alone, name))
    assert 0 < len(few.length) < len(many.length)
