"""cogmap reproduce ginc on a tiny set: rows, the table, and that a run that is there is not trained again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cogmap.cli import main
from cogmap.environments.ginc import GincConfig, write_ginc

TINY = GincConfig(
    concepts=2,
    symbols=8,
    values=2,
    slots=4,
    documents=4,
    document_length=300,
    validation_documents=2,
    validation_length=60,
    prompts=4,
    prompt_lengths=(3, 5, 8, 10),
    prompt_examples=(0, 2),
)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_ours_stand_beside_the_papers_and_the_ceiling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_ginc(tmp_path / "out" / "ginc" / "data", TINY, lambda name, share: None)
    asked = ["reproduce", "ginc", "--out", str(tmp_path / "out"), "--results", str(tmp_path / "results")]
    asked += ["--only", "TDB(S=1, M=1)", "--encoder", "gru", "--steps", "4"]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert "in-context accuracy (%)  TDB(S=1, M=1), gru, documents spliced 0.03  best of the paper's" in told
    assert "50.2 (1.0)" in told  # the paper's best for k=3, n=0
    rows = rows_of(tmp_path / "results" / "ginc.csv")
    ours = [row for row in rows if row["method"].startswith("TDB(S=1, M=1), gru")]
    kinds = {row["environment"] for row in ours if row["metric"] == "in_context_accuracy"}
    assert kinds == {f"ginc: k={k} n={n}" for k in (3, 5, 8, 10) for n in (0, 2)}
    assert {"concept_purity", "positions_per_second", "nodes"} <= {row["metric"] for row in ours}
    assert '--only "TDB(S=1, M=1)" --encoder gru --splice 0.03' in ours[0]["command"]
    assert len([row for row in rows if row["method"].startswith("exact filter")]) == 16
    assert main(asked) == 0
    assert "finished after" not in capsys.readouterr().out
    assert len(rows_of(tmp_path / "results" / "ginc.csv")) == len(rows)
