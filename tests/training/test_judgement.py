"""What a training is judged by: known starts, surprisals against counting by hand, absorbing logs."""

from __future__ import annotations

import numpy as np
import pytest

from cogmap.environments.room import AliasedRoom
from cogmap.environments.table import from_tables
from cogmap.records import TableWorld, Walks
from cogmap.training.judgement import Judgement, known_start, surprisals
from cogmap.training.split import DataSplit, split_walks
from cogmap.walks.sample import sample_walks


def walked(world: TableWorld, walks: int, steps: int, start: int | None, slip: float = 0.0) -> Walks:
    """Random walks from one position, or from any."""
    rng = np.random.default_rng(0)
    places, choices = world.next_position.shape
    actions = rng.integers(choices, size=(walks, steps - 1)).astype(np.int32)
    position = rng.integers(places, size=walks) if start is None else np.full(walks, start)
    seen = [world.observation[position]]
    for step in range(steps - 1):
        taken = np.where(rng.random(walks) < slip, rng.integers(choices, size=walks), actions[:, step])
        position = world.next_position[position, taken]
        seen.append(world.observation[position])
    observations = np.stack(seen, axis=1).astype(np.int32)
    return Walks(observations, actions, np.full(walks, steps), world.num_observations, choices)


def a_room() -> TableWorld:
    return AliasedRoom(height=4, width=5, observations=3, patch=0, seed=0)


def a_protocol() -> TableWorld:
    """States 0 to 4 need action 0, 1, 0, 1, 0 in turn; any other leads to 5, forever. All but 0 and 4 look alike."""
    following = np.full((6, 3), 5)
    for state, action in enumerate((0, 1, 0, 1)):
        following[state, action] = state + 1
    following[4, 0] = 0
    return from_tables(following, np.array([0, 1, 1, 1, 2, 1]))


def split(walks: Walks) -> DataSplit:
    return split_walks(walks, walks.observations, 0)


@pytest.mark.parametrize(
    ("walks", "known"),
    [
        (walked(a_protocol(), 200, 30, start=0), True),
        (walked(a_room(), 200, 30, start=7), True),
        (walked(a_room(), 200, 30, start=None), False),
        (walked(a_room(), 200, 30, start=7, slip=0.2), False),
        (walked(a_room(), 2, 30, start=7), False),  # too few to tell
    ],
)
def test_a_start_is_known_where_repeated_histories_continue_alike(walks: Walks, known: bool) -> None:
    assert known_start(walks) is known


def test_walks_of_different_length_and_one_wrong_line_do_not_hide_a_known_start() -> None:
    walks = walked(a_protocol(), 400, 30, start=0)
    lengths = np.random.default_rng(1).integers(2, 31, size=400)
    observations = np.where(np.arange(30) < lengths[:, None], walks.observations, 0)
    observations[3, 1] = 2 - observations[3, 1]
    assert known_start(Walks(observations, walks.actions, lengths, 3, 3))


def test_surprisals_equal_a_count_by_hand() -> None:
    data = split(walked(a_room(), 30, 12, start=None))
    found = surprisals(data)
    train, held = data.training, data.validation
    for walk in range(held.num_walks):
        for step in range(held.num_steps - 1):
            context = (held.observations[walk, step], held.actions[walk, step])
            seen = [
                train.observations[b, n + 1]
                for b in range(train.num_walks)
                for n in range(train.num_steps - 1)
                if (train.observations[b, n], train.actions[b, n]) == context
            ]
            alike = sum(target == held.observations[walk, step + 1] for target in seen)
            assert found[walk, step] == pytest.approx(np.log((len(seen) + 3) / (alike + 1)))


def test_an_absorbing_state_does_not_hide_what_is_not_learned() -> None:
    """Someone who always says "still absorbed" is right nearly always, and knows nothing."""
    data = split(walked(a_protocol(), 2000, 60, start=0))
    judgement = Judgement(data, known_start=True)
    absorbed = data.validation.observations[:, 1:] == 1
    assert judgement.accuracy(absorbed) > 0.95
    assert judgement.late_accuracy(absorbed) > 0.99
    assert judgement.weighted_accuracy(absorbed) < 0.5
    everything = np.ones_like(absorbed)
    assert judgement.accuracy(everything) == 1
    assert judgement.weighted_accuracy(everything) == pytest.approx(1, abs=1e-3)


def test_in_an_ergodic_room_weights_hardly_matter() -> None:
    data = split(walked(a_room(), 500, 60, start=None))
    judgement = Judgement(data, known_start=False)
    right = np.random.default_rng(0).random((50, 59)) < 0.9
    assert judgement.weighted_accuracy(right) == pytest.approx(judgement.late_accuracy(right), abs=0.01)


def test_only_second_halves_are_judged_unless_the_start_is_known() -> None:
    data = split(sample_walks(a_room(), 100, 21, np.random.default_rng(0))[0])  # type: ignore[arg-type]
    late = np.zeros((10, 20), dtype=bool)
    late[:, 10:] = True
    assert Judgement(data, known_start=False).weighted_accuracy(late) == pytest.approx(100 / 101)
    assert Judgement(data, known_start=True).weighted_accuracy(late) == pytest.approx(0.5, abs=0.1)


def test_the_markov_chain_itself_has_loss_ratio_one() -> None:
    data = split(walked(a_room(), 100, 30, start=None))
    for known in (False, True):
        assert Judgement(data, known).loss_ratio(surprisals(data)) == pytest.approx(1)


def test_walks_of_two_steps_can_be_judged() -> None:
    data = split(walked(a_room(), 20, 2, start=None))
    assert Judgement(data, known_start=False).weighted_accuracy(np.ones((2, 1), dtype=bool)) == pytest.approx(
        2 / 3
    )


def test_the_highest_accuracy_is_that_of_all_right() -> None:
    walks, _ = sample_walks(AliasedRoom(6, 8, 4), 40, 30, np.random.default_rng(0))
    judged = Judgement(split_walks(walks, None, seed=0), known_start=False)
    every = np.ones(judged._known.shape, dtype=bool)
    assert 0.9 < judged.highest < 1
    assert judged.weighted_accuracy(every) == pytest.approx(judged.highest, rel=1e-12)
