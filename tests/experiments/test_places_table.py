"""`cogmap reproduce` in a room of twenty places: rows for every map and metric, and nothing trained twice."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cogmap.cli import main
from cogmap.environments.room import AliasedRoom
from cogmap.evaluation import scores as score_module
from cogmap.experiments import TABLES
from cogmap.experiments.places import Places

TINY = Places(
    "4x5 room",
    lambda seed: AliasedRoom(height=4, width=5, observations=4, patch=2, seed=seed),
    ("TDB(S=3, M=4)", "Vanilla LSTM"),
    walks=40,
    steps=60,
    context_length=10,
    test_walks=20,
)


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setitem(TABLES, "tiny", TINY)
    folders = ["--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    return ["reproduce", "tiny", "--encoder", "gru", "--steps", "20", *folders]


def rows(tmp_path: Path) -> list[dict[str, str]]:
    with (tmp_path / "results" / "tiny.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_model_gets_its_rows(arguments: list[str], tmp_path: Path) -> None:
    assert main(arguments) == 0
    found = rows(tmp_path)
    metrics = {(row["method"], row["map"], row["metric"]) for row in found}
    assert len(metrics) == len(found)
    for kind in ("minimal", "minimal, by codes", "paper", "paper, as printed"):
        assert ("TDB(S=3, M=4), gru", kind, "imp_fallback") in metrics
    for name in ("disentanglement", "training_accu", "accuracy_after_30", "codes_in_use"):
        assert ("TDB(S=3, M=4), gru", "", name) in metrics
    for kind in ("minimal, k-means of states", "paper, k-means of states", "minimal, observations alone"):
        assert ("Vanilla LSTM", kind, "norm_ged") in metrics
    for name in ("imp_fallback", "imp_fallback_1", "imp_fallback_10"):
        assert ("Vanilla LSTM", "", name) in metrics
    assert {row["value"] for row in found if row["metric"] == "training_steps"} == {"20.0"}


def test_a_run_that_is_there_is_scored_again_and_not_trained_again(
    arguments: list[str], tmp_path: Path
) -> None:
    arguments += ["--only", "Vanilla LSTM"]
    assert main(arguments) == 0
    first = rows(tmp_path)
    assert {row["command"] for row in first} == {
        'cogmap reproduce tiny --first-seed 0 --only "Vanilla LSTM" --preset fast --steps 20'
    }
    weights = tmp_path / "runs" / "tiny" / "vanilla-lstm-lstm-fast-0" / "model.safetensors"
    made = weights.stat().st_mtime_ns
    assert main(arguments) == 0
    assert weights.stat().st_mtime_ns == made
    assert rows(tmp_path) == first


def test_a_run_that_is_there_continues_if_more_steps_are_allowed(
    arguments: list[str], tmp_path: Path
) -> None:
    arguments += ["--only", "Vanilla LSTM"]
    for steps in ("20", "30", "10"):
        arguments[arguments.index("--steps") + 1] = steps
        assert main(arguments) == 0
    assert {row["value"] for row in rows(tmp_path) if row["metric"] == "training_steps"} == {"30.0"}


def test_fewer_rollouts_can_be_asked_for_and_are_reported(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    real = score_module.roll_out
    monkeypatch.setattr(score_module, "roll_out", lambda *told: asked.append(told[3]) or real(*told))
    assert main([*arguments, "--only", "Vanilla LSTM", "--rollouts", "3"]) == 0
    assert asked == [3]
    values = {row["metric"]: row["value"] for row in rows(tmp_path)}
    assert values["rollouts"] == "3.0"
    assert float(values["imp_fallback_1"]) <= float(values["imp_fallback"])
    assert "imp_fallback_10" not in values
    assert all(row["command"].endswith(" --rollouts 3") for row in rows(tmp_path))


def test_a_training_cut_off_before_its_first_checkpoint_starts_over(
    arguments: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "tiny" / "vanilla-lstm-lstm-fast-0"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert main([*arguments, "--only", "Vanilla LSTM"]) == 0
    assert (folder / "model.safetensors").is_file()
