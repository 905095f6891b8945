"""`--change NAME=VALUE`: strings are parsed as the type of the option, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from cogmap.errors import BadConfig
from cogmap.models.config import EncoderKind, ModelConfig
from cogmap.training.config import (
    CODES_OF_A_PLACE,
    MOST_CODES,
    TRIES,
    Preset,
    TrainingConfig,
    changed,
    chosen_encoder,
    fitting_codes,
    preset_configs,
)
from cogmap.training.step import lower_precision

MODEL = ModelConfig(num_observations=4, num_actions=4, num_targets=4)


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("width", "64", 64),
        ("learning_rate", "1e-2", 0.01),
        ("decays", "False", False),
        ("clip", "None", None),
        ("muon_rate", "0.5", 0.5),
        ("encoder", "gru", "gru"),
        ("width", 32, 32),
        ("attention", "relative", "relative"),
        ("alternating", "True", True),
        ("alternating", "none", None),
        ("bfloat16", "false", False),
    ],
)
def test_a_string_is_parsed_as_the_type_of_the_option(name: str, value: Any, meant: Any) -> None:
    model, training = changed(MODEL, TrainingConfig(), {name: value})
    found = getattr(model, name) if hasattr(model, name) else getattr(training, name)
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("width", "wide", "`width` must be like 256, got 'wide'"),
        ("width", "1.5", "`width` must be like 256, got '1.5'"),
        ("width", "true", "`width` must be like 256, got 'true'"),
        ("decays", "3", "`decays` must be like True, got '3'"),
        ("clip", "true", "`clip` must be like 1.0, got 'true'"),
        ("widht", "3", "got 'widht', did you mean `width`?"),
        ("alternating", "3", "alternating"),
        ("attention", "flash", "attention"),
    ],
)
def test_a_value_of_another_type_is_reported(name: str, value: str, message: str) -> None:
    with pytest.raises(BadConfig) as refused:
        changed(MODEL, TrainingConfig(), {name: value})
    assert message in str(refused.value)


def test_the_former_name_of_an_option_is_understood() -> None:
    family = ModelConfig(
        num_observations=4, num_actions=4, num_targets=4, encoder="gru", layers=1, in_base=True
    )
    assert changed(family, TrainingConfig(), {"nameless": "true"})[0].slot_encoder


@pytest.mark.parametrize(
    ("preset", "device", "steps", "encoder"),
    [
        ("fast", "cpu", 10_000, "gru"),
        ("fast", "cpu", 10_000_000, "gru"),
        ("fast", "cuda", 399_999, "gru"),
        ("fast", "cuda", 400_000, "transformer"),
        ("fast", "mps", 400_000, "transformer"),
        ("paper", "cpu", 10_000, "transformer"),
    ],
)
def test_the_encoder_follows_from_preset_device_and_log(
    preset: Preset, device: str, steps: int, encoder: str
) -> None:
    assert chosen_encoder(preset, device, steps) == encoder


def test_walks_from_a_known_start_are_often_read_from_there() -> None:
    base = ModelConfig(num_observations=4, num_actions=4, num_targets=4, encoder="gru")
    assert preset_configs("fast", base, known_start=True)[1].start_share == 0.5
    assert preset_configs("fast", base)[1].start_share == 0
    assert preset_configs("paper", base, known_start=True)[1].start_share == 0


def test_a_tenth_of_the_minutes_is_left_for_the_map() -> None:
    assert TrainingConfig(minutes=10).training_seconds == 540
    assert TrainingConfig().training_seconds is None


def test_only_a_transformer_on_a_very_small_log_gets_dropout() -> None:
    def dropout(encoder: EncoderKind, steps: int) -> float:
        base = ModelConfig(num_observations=4, num_actions=4, num_targets=4, encoder=encoder)
        return preset_configs("fast", base, steps)[0].dropout

    assert dropout("transformer", 99_999) == 0.1
    assert dropout("transformer", 100_000) == dropout("gru", 1000) == 0.0


@pytest.mark.parametrize("units", [False, True])
def test_products_are_in_bfloat16_where_that_is_faster(units: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": units})

    def in_bfloat16(wanted: bool | None, **sizes: Any) -> bool:
        with lower_precision("cpu", replace(MODEL, **sizes), wanted):
            return torch.is_autocast_enabled("cpu")

    assert in_bfloat16(None, encoder="gru") == in_bfloat16(None) == units
    assert not in_bfloat16(None, encoder="lstm")
    assert not in_bfloat16(None, form="paper")
    assert in_bfloat16(True)
    assert not in_bfloat16(False)


def test_the_papers_preset_computes_in_32_bits() -> None:
    assert preset_configs("paper", MODEL)[1].bfloat16 is False
    assert preset_configs("fast", MODEL)[1].bfloat16 is None


def test_a_world_of_very_many_places_has_more_codes() -> None:
    usual = fitting_codes(10_000_000, 4, 10)
    assert usual == MOST_CODES
    assert fitting_codes(10_000_000, 4, 10, places=200) == usual
    assert fitting_codes(10_000_000, 4, 10, places=2_000) == CODES_OF_A_PLACE * 2_000
    # The log cannot distinguish more.
    assert fitting_codes(40_000, 4, 10, places=2_000) == 40_000 // (TRIES * 4)
    assert fitting_codes(10_000_000, 4, 10, places=10**6) == 20 * MOST_CODES
