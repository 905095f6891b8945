"""What an encoder's output may depend on, and that chunks give the same result as the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from cogmap.models.attention import Rotation
from cogmap.models.config import ModelConfig
from cogmap.models.inference import STEPS_AT_ONCE, StreamingEncoder, encode_and_predict
from cogmap.models.recurrent import RecurrentEncoder
from cogmap.models.tdb import TDB, VanillaModel, make_model, previous_actions

SMALL = ModelConfig(
    num_observations=5,
    num_actions=3,
    num_targets=5,
    width=16,
    layers=2,
    heads=2,
    mlp_width=32,
    head_width=16,
    code_width=8,
    num_codes=40,
    attention_span=6,
    context_length=6,
)
FORMS = {
    "fast transformer": SMALL,
    "paper transformer": replace(SMALL, form="paper"),
    "one token a step, relative": replace(SMALL, form="paper", alternating=False),
    "alternating, by path": replace(SMALL, alternating=True),
    "gru": replace(SMALL, encoder="gru"),
    "lstm": replace(SMALL, encoder="lstm"),
}


def a_model(config: ModelConfig, seed: int = 0) -> TDB:
    torch.manual_seed(seed)
    model = make_model(config)
    assert isinstance(model, TDB)
    torch.nn.init.normal_(model.bottlenecks.dictionary, std=0.5)
    return model.eval()


def a_walk(walks: int = 3, steps: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (
        rng.integers(5, size=(walks, steps)).astype(np.int32),
        rng.integers(3, size=(walks, steps - 1)).astype(np.int32),
    )


def outputs_of(model: TDB, observations: np.ndarray, actions: np.ndarray) -> torch.Tensor:
    seen, done = torch.from_numpy(observations).long(), torch.from_numpy(actions).long()
    none = torch.zeros(len(seen), dtype=torch.long)
    return model.encoder(seen, previous_actions(done, none, seen.shape[1]))[0]


@pytest.mark.parametrize("form", FORMS)
def test_output_at_n_does_not_depend_on_the_action_at_n_nor_anything_later(form: str) -> None:
    model, step = a_model(FORMS[form]), 7
    observations, actions = a_walk()
    before = outputs_of(model, observations, actions)
    changed_observations, changed_actions = observations.copy(), actions.copy()
    changed_observations[:, step + 1 :] = (observations[:, step + 1 :] + 1) % 5
    changed_actions[:, step:] = (actions[:, step:] + 1) % 3
    after = outputs_of(model, changed_observations, changed_actions)
    assert torch.equal(before[:, : step + 1], after[:, : step + 1])
    assert not torch.allclose(before[:, step + 1], after[:, step + 1])


@pytest.mark.parametrize("form", FORMS)
def test_output_at_n_depends_on_the_observation_and_the_action_before(form: str) -> None:
    model, step = a_model(FORMS[form]), 7
    observations, actions = a_walk()
    before = outputs_of(model, observations, actions)
    other_observations, other_actions = observations.copy(), actions.copy()
    other_observations[:, step] = (observations[:, step] + 1) % 5
    other_actions[:, step - 1] = (actions[:, step - 1] + 1) % 3
    assert not torch.allclose(before[:, step], outputs_of(model, other_observations, actions)[:, step])
    assert not torch.allclose(before[:, step], outputs_of(model, observations, other_actions)[:, step])


@pytest.mark.parametrize("form", ["fast transformer", "paper transformer"])
def test_a_layer_looks_back_over_its_span_and_no_further(form: str) -> None:
    config = replace(FORMS[form], layers=1)
    model = a_model(config)
    observations, actions = a_walk()
    changed = observations.copy()
    changed[:, 0] = (observations[:, 0] + 1) % 5
    before, after = outputs_of(model, observations, actions), outputs_of(model, changed, actions)
    last = config.attention_span - 1
    if form == "fast transformer":
        # Path-integrated angles add up over the walk, but only differences between them count.
        assert torch.allclose(before[:, last + 1 :], after[:, last + 1 :], atol=1e-5)
    else:  # two tokens a step: the span of 2 * context tokens reaches back from x_n to x_{n - context + 1}
        assert torch.equal(before[:, last + 1 :], after[:, last + 1 :])
    assert not torch.allclose(before[:, last], after[:, last], atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_codes_in_chunks_of_any_size_and_step_by_step_are_the_same(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = a_model(FORMS[form])
    observations, actions = a_walk(walks=2, steps=31)
    codes, predicted = encode_and_predict(model, observations, actions)
    assert codes.shape == (2, 31, 1)
    for chunk in (1, 4, 30, 31):
        monkeypatch.setattr("cogmap.models.inference.STEPS_AT_ONCE", dict.fromkeys(STEPS_AT_ONCE, chunk))
        again, predicted_again = encode_and_predict(model, observations, actions)
        np.testing.assert_array_equal(codes, again)
        np.testing.assert_array_equal(predicted, predicted_again)
    for walk in range(2):
        stream = StreamingEncoder(model)
        previous = [None, *actions[walk].tolist()]
        steps = [stream.step(x, a) for x, a in zip(observations[walk].tolist(), previous, strict=True)]
        np.testing.assert_array_equal(np.array(steps), codes[walk])


def test_fused_and_alternating_forms_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which inputs change an output must not depend on the form: one token a step or two."""

    def seen_by_last(form: str) -> list[bool]:
        model = a_model(replace(FORMS[form], layers=1))
        observations, actions = a_walk(walks=1, steps=6)
        base = outputs_of(model, observations, actions)[:, 4]
        changes = []
        for step in range(5):
            other = actions.copy()
            other[0, step] = (actions[0, step] + 1) % 3
            changes.append(bool((outputs_of(model, observations, other)[:, 4] - base).abs().max() > 1e-6))
        return changes

    assert seen_by_last("fast transformer") == seen_by_last("paper transformer") == [True] * 4 + [False]


def test_gru_on_cpu_equals_torch_in_outputs_and_gradients() -> None:
    torch.manual_seed(1)
    encoder = RecurrentEncoder(replace(FORMS["gru"], layers=2)).double()
    observations, actions = (torch.from_numpy(part).long() for part in a_walk(walks=4, steps=9))
    previous = previous_actions(actions, torch.zeros(4, dtype=torch.long), 9)
    state = encoder.initial_state(4, torch.device("cpu"))
    first = torch.randn(2, 4, 16, dtype=torch.float64)
    own, own_state = encoder(observations, previous, replace(state, tensors=(first,)))
    weights = torch.randn_like(own)
    (own * weights).sum().backward()
    gradients = {name: parameter.grad.clone() for name, parameter in encoder.named_parameters()}
    encoder.zero_grad()
    embedded = encoder.observation_embedding(observations) + encoder.action_embedding(previous)
    theirs, final = encoder.cell(embedded, first)
    (theirs * weights).sum().backward()
    assert torch.allclose(own, theirs)
    assert torch.allclose(own_state.tensors[0], final)
    for name, parameter in encoder.named_parameters():
        assert torch.allclose(gradients[name], parameter.grad), name


@pytest.mark.parametrize("form", ["gru", "fast transformer"])
def test_lower_precision_changes_outputs_and_gradients_a_little(form: str) -> None:
    """A product in bfloat16 has 8 bits: errors of some hundredths, where a wrong term would be of the size of one."""
    model = a_model(FORMS[form]).float().train()
    walk, found = a_walk(), []
    for enabled in (False, True):
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            outputs = outputs_of(model, *walk)
        outputs.square().sum().backward()
        assert outputs.dtype == torch.float32
        gradients = [each.grad for each in model.encoder.parameters() if each.grad is not None]
        found.append([outputs.detach(), *(each.clone() for each in gradients)])
    assert not torch.equal(found[0][0], found[1][0])
    for exact, rough in zip(*found, strict=True):
        assert (rough - exact).norm() <= 0.1 * exact.norm() + 1e-3


def test_rotated_queries_and_keys_and_their_gradients() -> None:
    """Against the formula as autograd differentiates it, in double precision."""
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(2, 3, 5, 8, generator=generator, dtype=torch.float64) for _ in range(2))
    angles = torch.randn(2, 3, 5, 4, generator=generator, dtype=torch.float64)
    inputs = [part.requires_grad_() for part in (query, key, angles)]
    turned = [torch.complex(*part.chunk(2, dim=3)) * torch.exp(1j * angles) for part in (query, key)]
    plain = [torch.cat([part.real, part.imag], dim=3) for part in turned]
    own = Rotation.apply(*inputs)
    weights = [torch.randn(part.shape, generator=generator, dtype=torch.float64) for part in own]
    gradients = [
        torch.autograd.grad(
            sum((part * weight).sum() for part, weight in zip(parts, weights, strict=True)), inputs
        )
        for parts in (plain, own)
    ]
    for expected, got in zip([*plain, *gradients[0]], [*own, *gradients[1]], strict=True):
        assert torch.allclose(expected, got)


@pytest.mark.parametrize("form", FORMS)
def test_state_of_rows_continues_as_those_rows(form: str) -> None:
    model = a_model(FORMS[form])
    observations, actions = (torch.from_numpy(part).long() for part in a_walk(walks=3, steps=12))
    previous = previous_actions(actions, torch.zeros(3, dtype=torch.long), 12)
    _, state = model.encoder(observations[:, :8], previous[:, :8])
    whole, _ = model.encoder(observations[:, 8:], previous[:, 8:], state)
    rows = torch.tensor([2, 0, 2])
    some, _ = model.encoder(observations[rows, 8:], previous[rows, 8:], state.rows(rows))
    assert torch.allclose(some, whole[rows], atol=1e-6)
    fresh = torch.tensor([False, True, False])
    after_reset, _ = model.encoder(observations[:, 8:], previous[:, 8:], state.reset(fresh))
    from_nothing, _ = model.encoder(observations[1:2, 8:], previous[1:2, 8:])
    assert torch.allclose(after_reset[0], whole[0], atol=1e-6)
    assert torch.allclose(after_reset[1], from_nothing[0], atol=1e-6)


@pytest.mark.parametrize("action_at_head", [False, True])
@pytest.mark.parametrize("encoder", ["transformer", "gru", "lstm"])
def test_vanilla_prediction_sees_the_action_at_n(encoder: str, action_at_head: bool) -> None:
    choice = {"vanilla": True, "prediction_steps": 1, "action_at_head": action_at_head}
    config = replace(SMALL, encoder=encoder, **choice)
    torch.manual_seed(0)
    model = make_model(config).eval()
    assert isinstance(model, VanillaModel)
    observations, actions = (torch.from_numpy(part).long() for part in a_walk(walks=2, steps=10))
    none = torch.zeros(2, dtype=torch.long)
    before = model(observations[:, :9], actions, none).logits[0]
    changed = actions.clone()
    changed[:, 5] = (actions[:, 5] + 1) % 3
    after = model(observations[:, :9], changed, none).logits[0]
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5], after[:, 5])


@pytest.mark.parametrize("form", FORMS)
def test_a_vanilla_model_reads_chunks_as_it_reads_the_whole(form: str) -> None:
    torch.manual_seed(0)
    choice = {"vanilla": True, "prediction_steps": 1, "action_at_head": True}
    model = make_model(replace(FORMS[form], **choice)).eval()
    observations, actions = a_walk(steps=2 * STEPS_AT_ONCE[model.config.encoder] + 5)
    seen, done = torch.from_numpy(observations).long(), torch.from_numpy(actions).long()
    whole = model(seen[:, :-1], done, torch.zeros(len(seen), dtype=torch.long)).logits[0].argmax(2)
    np.testing.assert_array_equal(encode_and_predict(model, observations, actions)[1], whole)


@pytest.mark.parametrize("form", FORMS)
def test_a_last_step_that_is_a_chunk_of_its_own_is_read(form: str) -> None:
    """Its observation has no action after it, so that there is nothing for a vanilla model to read."""
    torch.manual_seed(0)
    model = make_model(replace(FORMS[form], vanilla=True, prediction_steps=1))
    at_once = STEPS_AT_ONCE[model.config.encoder]
    observations, actions = a_walk(steps=at_once + 1)
    predicted = encode_and_predict(model, observations, actions)[1]
    assert predicted.shape == (3, at_once)
    before = encode_and_predict(model, observations[:, :-1], actions[:, :-1])[1]
    np.testing.assert_array_equal(predicted[:, :-1], before)
