"""cogmap learn, evaluate and report on a text, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cogmap.cli import main
from cogmap.environments.ginc import GincConfig, write_ginc
from cogmap.runs.run import load_run
from cogmap.walks.text import text_walks

SENTENCES = "the cat sat on the mat . the dog ran to the cat . a bird flew over the mat . "
SMALL = ["width=16", "num_codes=30", "batch_size=4", "window=10", "bottleneck_from=5", "head_width=16"]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "book.txt"
    path.write_text(SENTENCES * 30)
    return path


@pytest.fixture(scope="module")
def run(book: Path) -> Path:
    out = book.parent / "run"
    told = ["learn", str(book), "--words", "--out", str(out), "--encoder", "gru", "--steps", "40", "--json"]
    assert main([*told, "--change", *SMALL]) == 0
    return out


def test_learning_tells_of_a_graph(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads((run / "text.json").read_text())["unit"] == "words"
    assert main(["learn", str(run.parent / "book.txt"), "--words", "--out", str(run), "--resume"]) == 0
    assert "a latent graph of" in capsys.readouterr().out


def test_a_text_is_scored_in_the_vocabulary_of_the_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run.parent / "new.txt").write_text("the cat sat . the dog sat .")
    assert main(["evaluate", str(run), "--walks", str(run.parent / "new.txt"), "--json"]) == 0
    learned = load_run(run)
    text = text_walks("the cat sat . the dog sat .", labels=learned.observation_labels)
    right = learned.encode(text)[1] == text.observations[:, 1:]
    assert json.loads(capsys.readouterr().out)["test_accu"] == right.mean()
    (run.parent / "strange.txt").write_text("the cow sat")
    assert main(["evaluate", str(run), "--walks", str(run.parent / "strange.txt")]) == 2
    assert "label 'cow' in `text` is not known" in capsys.readouterr().err


def test_a_text_gets_a_report_of_its_own(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run)]) == 0
    assert "The latent graph that TDB(S=3, M=1) learned" in (run / "report.html").read_text()
    assert main(["report", str(run), "--walks", "x.npz"]) == 2
    assert "takes neither --walks nor --beside" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "exactly one must be given"),
        (["--words", "--characters"], "exactly one must be given"),
        (["--words", "--least-count", "0"], "`least_count` (=0) must be at least 1"),
        (["--words", "--splice", "2"], "`splice` (=2.0) must be from 0 to 1"),
    ],
)
def test_impossible_choices_are_reported_in_one_line(
    book: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert main(["learn", str(book), "--out", str(tmp_path / "run"), *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_prompts_are_scored_by_number_of_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = GincConfig(
        concepts=2,
        symbols=8,
        values=2,
        slots=4,
        documents=4,
        document_length=300,
        validation_documents=2,
        validation_length=50,
        prompts=2500,
        prompt_lengths=(3,),
        prompt_examples=(0, 1),
    )
    write_ginc(tmp_path / "data", config, lambda name, share: None)
    out = str(tmp_path / "run")
    learn = ["learn", str(tmp_path / "data" / "train.txt"), "--words", "--out", out, "--encoder", "gru"]
    assert main([*learn, "--steps", "10", "--json", "--change", *SMALL]) == 0
    capsys.readouterr()
    prompts = tmp_path / "data" / "id_prompts_randomsample_3.json"
    lines = prompts.read_text().splitlines()
    few = tmp_path / "few.json"
    few.write_text("\n".join([*lines[:3], *lines[2500:2502]]))
    assert main(["evaluate", out, "--walks", str(few), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["length"], row["examples"], row["prompts"]) for row in rows] == [(3, 0, 3), (3, 1, 2)]
    few.write_text(lines[0].replace('"text":"', '"text":"zz '))
    assert main(["evaluate", out, "--walks", str(few)]) == 2
    assert "every token of a prompt must be in the vocabulary, line 1 of" in capsys.readouterr().err
