"""The ladder from the preset `paper` to the preset `fast`: one switch a rung, and it arrives."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from cogmap.errors import BadConfig
from cogmap.experiments import TABLES, Options, Trial, trials_of
from cogmap.experiments.tables import RUNGS
from cogmap.models.config import ModelConfig
from cogmap.training.config import SMALL_LOG, TrainingConfig, changed, preset_configs

BASE = {"num_observations": 4, "num_actions": 4, "num_targets": 4}
PARTS = ("has_alternating_tokens", "attention_kind", "attention_tokens", "dictionary_kind", "has_projection")


def configs(trial: Trial) -> tuple[ModelConfig, TrainingConfig]:
    """What `learn` makes of a rung."""
    asked: dict[str, Any] = TABLES["ladder"].training(trial) | trial.learn
    del asked["source"]
    base = ModelConfig(**BASE, encoder=asked.pop("encoder"))
    return changed(*preset_configs(asked.pop("preset"), base, SMALL_LOG - 1), asked)


def test_each_rung_changes_what_it_names_and_nothing_else() -> None:
    found = [
        {**asdict(model), **asdict(training)}
        for model, training in map(configs, trials_of("ladder", Options()))
    ]
    for before, after, rung in zip(found, found[1:], RUNGS[1:], strict=False):
        if rung.preset == "paper":
            different = {name for name in after if after[name] != before[name]}
            assert different - {"steps"} == set(rung.change), rung.name


def test_the_last_transformer_is_that_of_the_preset_fast() -> None:
    (trial,) = trials_of("ladder", Options(rungs=(7,)))
    model, training = configs(trial)
    fast = preset_configs("fast", ModelConfig(**BASE), SMALL_LOG - 1)
    assert asdict(training) | {"steps": 0} == asdict(fast[1]) | {"steps": 0}
    for part in (
        *PARTS,
        "width",
        "layers",
        "heads",
        "mlp_width",
        "num_codes",
        "dropout",
        "output_norm",
        "revival",
    ):
        assert getattr(model, part) == getattr(fast[0], part), part


def test_rungs_are_asked_for_by_number() -> None:
    trials = trials_of("ladder", Options(rungs=(0, 8), rooms=2))
    assert [(trial.seed, trial.options.rungs, trial.options.encoder) for trial in trials] == [
        (0, (0,), "transformer"),
        (0, (8,), "gru"),
        (1, (0,), "transformer"),
        (1, (8,), "gru"),
    ]
    with pytest.raises(BadConfig, match=r"`--rungs` must be from 0 to 8, got 9"):
        trials_of("ladder", Options(rungs=(9,)))
    with pytest.raises(BadConfig, match=r"the table table-1 has no option `--rungs`"):
        trials_of("table-1", Options(rungs=(0,)))
