"""cogmap reproduce icl on tiny trainings and on the stored model: rows, figures, and what is refused."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cogmap.cli import main
from cogmap.experiments import TABLES
from cogmap.runs.run import load_run
from cogmap.tasks import family

STORED = Path(__file__).parents[2] / "results" / "models" / "rooms-4x5"
TINY = {"width": 16, "num_codes": 8, "head_width": 16, "batch_size": 8, "steps": 4, "validate_every": 2}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few walks and rooms, tiny models, and a quick answer to the slowest question."""
    for name, rooms in (("icl", (6, 30)), ("icl-small", (6, 30)), ("icl-rule", (12,))):
        steps = 240  # not much above twice the context
        few = {
            "training_walks": 120,
            "training_rooms": rooms,
            "scored_rooms": 2,
            "steps": steps,
            "change": TINY,
        }
        monkeypatch.setitem(TABLES, name, replace(TABLES[name], **few))
    monkeypatch.setattr(family, "_disentanglement", lambda codes: 0.5)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def reproduce(tmp_path: Path, table: str, *more: str) -> int:
    folders = ["--out", str(tmp_path / "out"), "--results", str(tmp_path / "results")]
    return main(["reproduce", table, *folders, *more])


def test_a_model_that_is_there_is_scored_and_not_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out" / "icl-small" / "tdb-s-3--m-4-gru-fast-1000-0"
    shutil.copytree(STORED, folder)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    asked = ("--only", "TDB(S=3, M=4)", "--encoder", "gru", "--names", "seen", "--training-rooms", "1000")
    assert reproduce(tmp_path, "icl-small", *asked) == 0
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    rows = rows_of(tmp_path / "results" / "icl-small.csv")
    assert {row["map"] for row in rows} == {"", *family.MAP_KINDS}
    assert {row["environment"] for row in rows} == {"icl-small: 1000 rooms"}
    found = {(row["map"], row["metric"]): float(row["value"]) for row in rows}
    assert 0.9 < found["", "test_accu"] <= found["", "ceiling"] + 0.01
    assert found["atlas", "problems"] == 8
    assert (
        'cogmap reproduce icl-small --first-seed 0 --only "TDB(S=3, M=4)" --training-rooms 1000'
        in rows[0]["command"]
    )
    assert (tmp_path / "results" / "icl-small-emergence.png").stat().st_size > 10_000
    assert (folder / "figures" / "accuracy_by_step.png").is_file()
    assert "1000 training rooms" in capsys.readouterr().out


def test_a_baseline_without_a_map_plans_by_rollouts_for_every_number_of_rooms(tmp_path: Path) -> None:
    assert reproduce(tmp_path, "icl-small", "--only", "Vanilla LSTM", "--names", "plain") == 0
    rows = rows_of(tmp_path / "results" / "icl-small.csv")
    assert {row["environment"] for row in rows} == {"icl-small: 6 rooms", "icl-small: 30 rooms"}
    assert {row["method"] for row in rows} == {"Vanilla LSTM, plain"}
    by_rollouts = {"imp_fallback", "imp_fallback_1", "imp_fallback_10", "rollouts"}
    assert {"test_accu", "ceiling", *by_rollouts} <= {row["metric"] for row in rows}
    assert {row["map"] for row in rows} == {""}


def test_the_rule_has_a_row_for_each_family_of_rooms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reproduce(tmp_path, "icl-rule", "--encoder", "gru") == 0
    rows = [row for row in rows_of(tmp_path / "results" / "icl-rule.csv") if row["metric"] == "test_accu"]
    assert [row["environment"] for row in rows] == [f"icl-rule: {name}" for name in "ABCD"]
    assert "in rooms D:" in capsys.readouterr().out


def test_a_grus_observations_have_no_names_unless_told(tmp_path: Path) -> None:
    asked = ("--only", "TDB(S=3, M=4)", "--encoder", "gru", "--training-rooms", "8", "--steps", "4")
    assert reproduce(tmp_path, "icl-small", *asked) == 0
    rows = rows_of(tmp_path / "results" / "icl-small.csv")
    assert {row["method"] for row in rows} == {"TDB(S=3, M=4), gru, nameless"}
    assert "--names none" in rows[0]["command"]
    run = load_run(tmp_path / "out" / "icl-small" / "tdb-s-3--m-4-gru-fast-nameless-8-0")
    assert run.model.config.slot_encoder
    assert not run.model.config.seen_so_far
