"""Dictionaries: nearest entries, several at once, clones, and a dictionary updated by moving averages."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from cogmap.models.bottleneck import Bottlenecks, EMABottlenecks, make_bottlenecks
from cogmap.models.config import ModelConfig

CONFIG = ModelConfig(
    num_observations=5,
    num_actions=3,
    num_targets=5,
    width=16,
    heads=2,
    code_width=8,
    num_codes=30,
    bottlenecks=4,
)


def a_bottleneck(config: ModelConfig) -> Bottlenecks:
    torch.manual_seed(0)
    bottlenecks = make_bottlenecks(config)
    torch.nn.init.normal_(bottlenecks.dictionary)
    return bottlenecks


def outputs_and_observations() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    outputs = torch.randn(3, 7, 16, generator=generator)
    return outputs, torch.randint(5, (3, 7), generator=generator)


@pytest.mark.parametrize("form", ["paper", "fast"])
def test_codes_are_the_nearest_entries(form: str) -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, form=form))
    outputs, observations = outputs_and_observations()
    result = bottlenecks(outputs, observations)
    for index in range(4):
        apart = result.outputs[:, :, index, None] - bottlenecks.dictionary[index]  # (3, 7, 30, 8 or 16)
        distances = apart.square().sum(3)  # one difference at a time: torch.cdist rounds more coarsely
        first, second = distances.topk(2, dim=2, largest=False).values.unbind(2)
        assert (second - first).min() > 1e-6, "two entries are as near, and either may be taken"
        assert torch.equal(result.codes[:, :, index], distances.argmin(2))
        assert torch.equal(
            result.entries[:, :, index], bottlenecks.dictionary[index][result.codes[:, :, index]]
        )
    assert torch.allclose(result.vectors, result.entries.flatten(2), atol=1e-6)


@pytest.mark.parametrize("form", ["paper", "fast"])
def test_four_at_once_equal_four_single_ones(form: str) -> None:
    together = a_bottleneck(replace(CONFIG, form=form))
    outputs, observations = outputs_and_observations()
    result = together(outputs, observations)
    for index in range(4):
        single = a_bottleneck(replace(CONFIG, form=form, bottlenecks=1))
        with torch.no_grad():
            single.dictionary[0] = together.dictionary[index]
            if isinstance(single, EMABottlenecks) and isinstance(together, EMABottlenecks):
                rows = slice(index * 8, (index + 1) * 8)
                single.to_projection.weight.copy_(together.to_projection.weight[rows])
                single.to_projection.bias.copy_(together.to_projection.bias[rows])
        alone = single(outputs, observations)
        assert torch.equal(alone.codes[:, :, 0], result.codes[:, :, index])
        width = alone.vectors.shape[2]
        assert torch.allclose(alone.vectors, result.vectors[:, :, index * width : (index + 1) * width])


@pytest.mark.parametrize(
    ("changes", "kind", "width"),
    [
        ({"form": "paper"}, Bottlenecks, 16),
        ({"form": "paper", "projected": True}, Bottlenecks, 8),
        ({"form": "paper", "dictionary": "averages"}, EMABottlenecks, 16),
        ({"form": "fast"}, EMABottlenecks, 8),
        ({"form": "fast", "dictionary": "gradient"}, Bottlenecks, 8),
    ],
)
def test_each_part_of_a_form_can_be_chosen_alone(changes: dict, kind: type, width: int) -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, **changes))
    assert type(bottlenecks) is kind
    assert bottlenecks.dictionary.shape == (4, 30, width)
    assert bottlenecks.dictionary.requires_grad == (kind is Bottlenecks)
    assert bottlenecks(*outputs_and_observations()).outputs.shape == (3, 7, 4, width)


def test_a_uniform_start_has_entries_of_about_unit_length() -> None:
    lengths = {
        start: make_bottlenecks(
            replace(CONFIG, form="paper", dictionary_start=start, num_codes=500)
        ).dictionary.norm(dim=2)
        for start in ("normal", "uniform")
    }
    assert lengths["uniform"].max() <= math.sqrt(3)
    assert abs(lengths["uniform"].square().mean() - 1) < 0.1
    assert abs(lengths["normal"].square().mean() - 16) < 1.6


def test_without_revival_an_entry_that_nobody_needs_stays_dead() -> None:
    for revival in (True, False):
        bottlenecks = a_bottleneck(replace(CONFIG, bottlenecks=1, revival=revival))
        assert isinstance(bottlenecks, EMABottlenecks)
        outputs, observations = outputs_and_observations()
        known, generator = torch.ones(3, 7, dtype=torch.bool), torch.Generator().manual_seed(0)
        bottlenecks.initialise(outputs, observations, known, generator)
        with torch.no_grad():
            bottlenecks.dictionary[0, 0] = bottlenecks.sums[0, 0] = 1e3  # far from every output
        for _ in range(150):
            bottlenecks.update_dictionary(bottlenecks(outputs, observations), observations, known, generator)
        assert (bottlenecks.hits[0, 0] < EMABottlenecks.DEAD_BELOW) == (not revival)


def test_gradient_passes_straight_through() -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, form="paper", bottlenecks=1))
    outputs, observations = outputs_and_observations()
    outputs.requires_grad_()
    weights = torch.randn(3, 7, 16, generator=torch.Generator().manual_seed(5))
    (bottlenecks(outputs, observations).vectors * weights).sum().backward()
    assert torch.allclose(outputs.grad, weights)


@pytest.mark.parametrize("form", ["paper", "fast"])
def test_clone_structured_codes_stay_in_their_observations_set(form: str) -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, form=form, clone_structured=True))
    outputs, observations = outputs_and_observations()
    codes = bottlenecks(outputs, observations).codes
    assert bottlenecks.owners.tolist() == [code // 6 for code in range(30)]
    assert torch.equal(bottlenecks.owners[codes], observations.unsqueeze(2).expand_as(codes))
    free = a_bottleneck(replace(CONFIG, form=form))(outputs, observations).codes
    assert not torch.equal(free, codes), "the restriction must have mattered somewhere"


def test_every_observation_owns_a_code_however_few_there_are() -> None:
    for codes in (5, 7, 12):
        config = replace(CONFIG, clone_structured=True, num_codes=codes)
        assert set(make_bottlenecks(config).owners.tolist()) == set(range(5))


def test_clones_start_and_revive_on_outputs_of_their_own_observation() -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, clone_structured=True, bottlenecks=1))
    assert isinstance(bottlenecks, EMABottlenecks)
    outputs, observations = outputs_and_observations()
    known = torch.ones_like(observations, dtype=torch.bool)
    bottlenecks.initialise(outputs, observations, known, torch.Generator().manual_seed(0))
    projected = bottlenecks.project(outputs)[:, :, 0]
    for code, owner in enumerate(bottlenecks.owners.tolist()):
        own = projected[observations == owner]
        assert (own - bottlenecks.dictionary[0, code]).abs().sum(1).min() < 1e-6


def test_dictionary_follows_its_outputs_and_revives_dead_entries() -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, bottlenecks=1, num_codes=3))
    assert isinstance(bottlenecks, EMABottlenecks)
    outputs, observations = outputs_and_observations()
    known = torch.ones_like(observations, dtype=torch.bool)
    with torch.no_grad():
        bottlenecks.dictionary[0, 2] = 1000.0  # nearest to no output
        bottlenecks.hits.copy_(torch.tensor([[10.0, 10.0, 0.0]]))
        bottlenecks.sums.copy_(bottlenecks.dictionary * bottlenecks.hits[..., None])
    result = bottlenecks(outputs, observations)
    assigned = [result.outputs[:, :, 0][result.codes[:, :, 0] == code] for code in range(3)]
    expected = [
        (0.97 * 10 * bottlenecks.dictionary[0, code] + 0.03 * assigned[code].sum(0))
        / (9.7 + 0.03 * len(assigned[code]))
        for code in range(2)
    ]
    bottlenecks.update_dictionary(result, observations, known, torch.Generator().manual_seed(0))
    for code in range(2):
        assert torch.allclose(bottlenecks.dictionary[0, code], expected[code], atol=1e-5)
    distance = (result.outputs[:, :, 0] - bottlenecks.dictionary[0, 2]).square().sum(2)
    assert distance.min() < 1e-6, "the dead entry must now equal an output of the batch"


def test_unknown_steps_do_not_move_the_dictionary() -> None:
    bottlenecks = a_bottleneck(replace(CONFIG, bottlenecks=1))
    assert isinstance(bottlenecks, EMABottlenecks)
    outputs, observations = outputs_and_observations()
    known = torch.zeros_like(observations, dtype=torch.bool)
    known[0] = True
    bottlenecks.initialise(outputs, observations, known, torch.Generator().manual_seed(0))
    real = bottlenecks.project(outputs)[0, :, 0]
    # One difference at a time: torch.cdist rounds more coarsely.
    apart = (bottlenecks.dictionary[0][:, None] - real).norm(dim=2)  # (30, 7)
    assert (apart.min(1).values < 1e-12).all()
