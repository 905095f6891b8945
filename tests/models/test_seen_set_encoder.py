"""The encoder with the set of observations seen, and the rollout predictor of a model trained in base."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from cogmap.errors import BadConfig
from cogmap.models.config import ModelConfig
from cogmap.models.inference import StreamingEncoder, encode_and_predict
from cogmap.models.rollout_predictor import NEVER, InBaseRolloutPredictor
from cogmap.models.seen_set_encoder import SeenSetEncoder
from cogmap.models.tdb import TDB, VanillaModel, make_model, previous_actions
from cogmap.walks.family import observations_of_ranks

SMALL = ModelConfig(
    num_observations=6,
    num_actions=3,
    num_targets=3,
    in_base=True,
    seen_so_far=True,
    width=16,
    layers=2,
    heads=2,
    mlp_width=32,
    head_width=16,
    code_width=8,
    num_codes=40,
    attention_span=30,
)
ENCODERS = ("transformer", "gru", "lstm")


def a_model(encoder: str, vanilla: bool = False) -> TDB | VanillaModel:
    torch.manual_seed(0)
    choice = {"encoder": encoder, "vanilla": vanilla, "prediction_steps": 1 if vanilla else 3}
    model = make_model(replace(SMALL, **choice))
    if isinstance(model, TDB):
        torch.nn.init.normal_(model.bottlenecks.dictionary, std=0.5)
    return model.eval()


def a_walk(walks: int = 3, steps: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    colours = np.stack([rng.permutation(6)[:3] for _ in range(walks)])
    seen = np.take_along_axis(colours, rng.integers(3, size=(walks, steps)), axis=1)
    return seen.astype(np.int32), rng.integers(3, size=(walks, steps - 1)).astype(np.int32)


def read(model: TDB, observations: np.ndarray, actions: np.ndarray, state=None, first: int = 0):
    seen, done = torch.from_numpy(observations).long(), torch.from_numpy(actions).long()
    previous_action = torch.full((len(seen),), first)
    return model.encoder(seen, previous_actions(done, previous_action, seen.shape[1]), state)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_chunks_give_the_same_result_as_the_whole(encoder: str) -> None:
    model = a_model(encoder)
    observations, actions = a_walk()
    whole, _ = read(model, observations, actions)
    first, state = read(model, observations[:, :9], actions[:, :8])
    seen, done = torch.from_numpy(observations).long(), torch.from_numpy(actions).long()
    second, _ = model.encoder(seen[:, 9:], done[:, 8:] + 1, state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_an_output_sees_nothing_that_comes_later(encoder: str) -> None:
    model = a_model(encoder)
    observations, actions = a_walk()
    before, _ = read(model, observations, actions)
    observations[:, 12:] = (observations[:, 12:] + 1) % 6
    after, _ = read(model, observations, actions)
    torch.testing.assert_close(after[:, :12], before[:, :12])
    assert not torch.allclose(after[:, 12:], before[:, 12:])


def test_the_set_of_what_was_seen_reaches_the_tokens_and_order_does_not() -> None:
    model = a_model("gru")
    assert isinstance(model.encoder, SeenSetEncoder)
    one = torch.tensor([[0, 1, 2, 3]])
    other = torch.tensor([[1, 0, 2, 3]])
    lacking = torch.tensor([[0, 0, 2, 3]])
    last = [model.encoder.present_logits(walk, None)[0, -1] for walk in (one, other, lacking)]
    torch.testing.assert_close(last[0], last[1])
    assert not torch.allclose(last[0], last[2])


def test_what_was_seen_is_cleared_with_the_rest() -> None:
    model = a_model("gru")
    observations, actions = a_walk()
    _, state = read(model, observations, actions)
    assert state.tensors[-1].dtype == torch.bool
    assert state.tensors[-1].sum(2).tolist() == [[len(set(row)) for row in observations.tolist()]]
    cleared = state.reset(torch.tensor([True, False, True]))
    assert cleared.tensors[-1].sum(2).tolist()[0][0] == 0
    fresh, _ = read(model, observations[:1], actions[:1])
    again, _ = read(model, observations[:1], actions[:1], cleared.rows(torch.tensor([0])))
    torch.testing.assert_close(again, fresh)


def test_a_stream_gives_the_codes_of_the_whole_walk() -> None:
    model = a_model("gru")
    observations, actions = a_walk(walks=1)
    codes, _ = encode_and_predict(model, observations, actions)
    stream = StreamingEncoder(model)
    steps = [stream.step(int(observations[0, 0]))]
    steps += [stream.step(int(o), int(a)) for o, a in zip(observations[0, 1:], actions[0], strict=True)]
    np.testing.assert_array_equal(np.array(steps), codes[0])


def test_the_papers_form_has_no_such_encoder() -> None:
    with pytest.raises(BadConfig, match="`seen_so_far` must be off in the paper's form"):
        replace(SMALL, form="paper")


@pytest.mark.parametrize("encoder", ["lstm", "transformer"])
def test_a_rollout_predictor_in_base_predicts_observations(encoder: str) -> None:
    model = a_model(encoder, vanilla=True)
    observations, actions = a_walk(steps=14)
    predictor = InBaseRolloutPredictor(model)
    history = predictor.begin(observations[:, :10], actions[:, :9])
    by_read, _ = predictor.read(history, actions[:, 9:], observations[:, 10:])
    logits = []
    for step in range(9, 13):
        found, history = predictor.predict(history, actions[:, step])
        logits.append(found)
        history = predictor.advance(history, observations[:, step + 1])
    np.testing.assert_allclose(np.stack(logits, axis=1), by_read, atol=1e-5)
    _, ranks = encode_and_predict(model, observations, actions)
    known = 0
    for walk in range(3):
        seen = np.isin(np.arange(6), observations[walk, :10])[None]
        shown = by_read[walk, 0] > NEVER
        assert shown.tolist() == seen[0].tolist()
        predicted = observations_of_ranks(ranks[walk, 9:10], seen)[0]
        assert predicted == (by_read[walk, 0].argmax() if ranks[walk, 9] < seen.sum() else -1)
        known += predicted >= 0
    assert known
