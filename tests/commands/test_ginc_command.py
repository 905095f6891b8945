"""`cogmap ginc`: a folder of files, the ceiling, and one clear line on what makes no sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cogmap.cli import main

FEW = [
    "--documents",
    "2",
    "--document-length",
    "20",
    "--validation-documents",
    "1",
    "--validation-length",
    "20",
    "--prompts",
    "40",
]
SHORT = [*FEW, "--prompt-lengths", "3", "5", "--prompt-examples", "0", "2"]


def test_a_small_set_and_its_ceiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ginc", "--out", str(tmp_path / "set"), "--ceiling", *SHORT]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith(f"wrote 12 files to {tmp_path / 'set'} in ")
    assert len(list((tmp_path / "set").iterdir())) == 12
    assert shown[2].split() == [
        "k",
        "n",
        "knowing",
        "how",
        "prompts",
        "are",
        "made",
        "taking",
        "them",
        "for",
        "documents",
    ]
    assert [line.split()[:2] for line in shown[3:]] == [["3", "0"], ["3", "2"], ["5", "0"], ["5", "2"]]


def test_the_ceiling_alone_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ginc", "--ceiling", "--json", *SHORT]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"ceiling"}
    assert told["ceiling"][-1].keys() == {"length", "examples", "prompts", "as_prompts", "as_documents"}
    assert told["ceiling"][-1]["as_prompts"] == 1.0


def test_two_sets_of_one_seed_are_one_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "other"):
        main(["ginc", "--out", str(tmp_path / name), "--seed", "4", "--json", *SHORT])
    files = json.loads(capsys.readouterr().out.split("}\n")[0] + "}")["files"]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "`--out` must name a folder to write, or `--ceiling` be asked for"),
        (["--out", "{full}"], "the output folder must be empty or absent, {full} is not empty"),
        (["--out", "new", "--concepts", "0"], "`concepts` (=0) must be at least 1"),
        (["--out", "new", "--symbols", "90000"], "`symbols` (=90000) must be at most 16277"),
        (["--ceiling", "--prompt-lengths", "1"], "`prompt_lengths` must be at least 2 each, got 1"),
    ],
)
def test_what_makes_no_sense_is_reported_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    (tmp_path / "something").touch()
    given = [argument.format(full=tmp_path) for argument in arguments]
    assert main(["ginc", *given]) == 2
    assert capsys.readouterr().err == f"cogmap: {line.format(full=tmp_path)}\n"
