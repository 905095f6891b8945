"""`cogmap reproduce`: what it refuses, before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogmap.cli import main


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (["reproduce", "table-99"], "the table must be one of small-room, ladder"),
        (["reproduce", "table-1", "--only", "TDB(S=2, M=2)"], "a method must be one of Vanilla transformer;"),
        (["reproduce", "ginc", "--only", "GPT"], "a method must be one of Vanilla transformer; "),
        (["reproduce", "table-1", "--rollouts", "0"], "`--rollouts` must be at least 1, got 0"),
        (
            ["reproduce", "icl", "--training-rooms", "1"],
            "`--training-rooms` must be numbers of at least 2, got (1,)",
        ),
        (["reproduce", "icl", "--rooms", "2"], "the table icl has no option `--rooms`"),
        (["reproduce", "table-cube", "--splice", "0"], "the table table-cube has no option `--splice`"),
        (
            ["reproduce", "icl-rule", "--training-rooms", "9"],
            "the table icl-rule has no option `--training-rooms`",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_first(
    told: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*told, "--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
