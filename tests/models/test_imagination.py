"""What a model imagines after its codes: the same as if the imagined steps had been seen."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cogmap.models import imagination
from cogmap.models.config import ModelConfig
from cogmap.models.imagination import action_sequences, imagined_futures
from cogmap.models.inference import encode, predict_next
from cogmap.models.tdb import TDB
from cogmap.records import Walks


def untrained(encoder: str) -> TDB:
    torch.manual_seed(0)
    config = ModelConfig(
        num_observations=4,
        num_actions=3,
        num_targets=4,
        encoder=encoder,
        width=16,
        layers=1,
        heads=2,
        num_codes=12,
        prediction_steps=2,
    )
    made = TDB(config)
    torch.nn.init.normal_(made.bottlenecks.dictionary)
    return made.eval()


def some_walks() -> Walks:
    rng = np.random.default_rng(0)
    lengths = np.array([30, 25, 30])
    return Walks(rng.integers(0, 4, (3, 30)), rng.integers(0, 3, (3, 29)), lengths, 4, 3)


@pytest.mark.parametrize("encoder", ["gru", "lstm", "transformer"])
def test_imagined_steps_are_what_the_model_predicts_once_they_are_seen(encoder: str, monkeypatch) -> None:
    monkeypatch.setattr(imagination, "_SURE", 0.0)  # an untrained model is sure of nothing
    model, walks = untrained(encoder), some_walks()
    index = np.where(walks.step_mask(), np.arange(90).reshape(3, 30), -1)  # every step is a code of its own
    imagined = imagined_futures(model, index, walks)
    tests = action_sequences(walks, 512)
    assert imagined is not None
    by_test = imagined.reshape(-1, *tests.shape)
    for walk, step, test in [(0, 0, 0), (1, 12, 3), (2, 29, len(tests) - 1)]:
        seen = list(walks.observations[walk, : step + 1])
        done = [*walks.actions[walk, :step], *tests[test]]
        for action in range(len(tests[test])):  # each prediction is appended, and the whole read again
            whole = Walks(
                np.array([[*seen, 0]]), np.array([done[: len(seen)]]), np.array([len(seen) + 1]), 4, 3
            )
            seen.append(int(predict_next(model, whole)[0, -1]))
            assert by_test[index[walk, step], test, action] == seen[-1]


def test_histories_of_one_code_that_differ_say_nothing() -> None:
    said = np.array([[1, 2, -1], [1, 3, 0], [2, 2, 2]], dtype=np.int32)
    agreed = imagination._agreed(said, np.array([0, 0, 1]), 3)
    assert agreed.tolist() == [[1, -1, 0], [2, 2, 2], [-1, -1, -1]]


def test_sequences_of_actions_start_from_every_observation() -> None:
    rng = np.random.default_rng(1)
    observations = np.zeros((4, 40), dtype=int)
    observations[2, 5] = 1  # seen once in all walks
    walks = Walks(observations, rng.integers(0, 2, (4, 39)), np.full(4, 40), 2, 2)
    after = walks.actions[2, 5 : 5 + imagination.LENGTH].tolist()
    assert after in action_sequences(walks, 2).tolist()


def test_many_codes_of_a_large_model_are_not_asked(monkeypatch) -> None:
    monkeypatch.setattr(imagination, "_MOST_PRODUCTS", 1e5)
    walks = some_walks()
    assert imagined_futures(untrained("gru"), walks.observations, walks) is None


def test_the_code_after_an_imagined_move_is_that_of_the_longer_history(monkeypatch) -> None:
    monkeypatch.setattr(imagination, "_SURE", 0.0)
    model, walks = untrained("gru"), some_walks()
    index = np.where(walks.step_mask(), np.arange(90).reshape(3, 30), -1)
    tuples = np.arange(12)[:, None]
    moves = imagination.imagined_moves(model, tuples, index, walks)
    for row in (0, 40, len(moves.code) - 1):
        walk, step = np.argwhere(index == moves.code[row])[0]
        for action in range(3):
            seen = [*walks.observations[walk, : step + 1], moves.observation[row, action]]
            done = [*walks.actions[walk, :step], action]
            longer = Walks(np.array([seen]), np.array([done]), np.array([len(seen)]), 4, 3)
            codes, predicted = encode(model, longer)
            assert predicted[0, -1] == moves.observation[row, action]
            assert codes.codes[0, -1, 0] == moves.next_code[row, action]


def test_pieces_of_long_walks_have_every_step_once_and_what_was_seen_before(monkeypatch) -> None:
    monkeypatch.setattr(imagination, "_LONG", 4)
    rng = np.random.default_rng(0)
    lengths = np.array([23, 3, 9])
    walks = Walks(rng.integers(0, 4, (3, 23)), rng.integers(0, 3, (3, 22)), lengths, 4, 3)
    index = np.where(walks.step_mask(), np.arange(69).reshape(3, 23), -1)
    pieces_index, pieces = imagination._pieces(index, walks)
    assert sorted(pieces_index[pieces_index >= 0].tolist()) == index[index >= 0].tolist()
    for piece, step in np.argwhere(pieces_index >= 0):
        walk, at = divmod(int(pieces_index[piece, step]), 23)
        first = at - int(step)
        assert step < pieces.lengths[piece]
        assert step >= 4 or first == 0
        before = pieces.observations[piece, : step + 1].tolist(), pieces.actions[piece, :step].tolist()
        assert before[0] == walks.observations[walk, first : at + 1].tolist()
        assert before[1] == walks.actions[walk, first:at].tolist()


@pytest.mark.parametrize("encoder", ["gru", "transformer"])
def test_a_model_that_is_sure_of_nothing_imagines_nothing(encoder: str, monkeypatch) -> None:
    monkeypatch.setattr(imagination, "_SURE", 1.0)
    walks = some_walks()
    index = np.where(walks.step_mask(), walks.observations, -1)
    imagined = imagined_futures(untrained(encoder), index, walks)
    assert imagined is not None
    assert (imagined == -1).all()
