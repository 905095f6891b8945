"""`cogmap report` on a run trained for a moment: what it writes, with and without walks, and what it refuses."""

import base64
import json

import pytest

from cogmap.cli import main
from cogmap.evaluation.scores import Scores
from cogmap.tasks.learning import learn
from cogmap.walks.store import load_walks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run, another beside it, and test walks with their truth."""
    folder = tmp_path_factory.mktemp("runs")
    room = ["walk", "room", "--height", "4", "--width", "5", "--steps", "40"]
    assert main([*room, "--walks", "12", "--out", str(folder / "room.npz")]) == 0
    assert main([*room, "--walks", "6", "--walk-seed", "1", "--out", str(folder / "test.npz")]) == 0
    walks = load_walks(folder / "room.npz")
    for name, ahead in (("own", 3), ("one_step", 1)):
        change = {"num_codes": 50, "width": 32, "bottleneck_from": 0}
        learn(walks, folder / name, encoder="gru", prediction_steps=ahead, steps=5, **change, quiet=True)
    return folder


def told(capsys, *arguments):
    code = main(["report", *map(str, arguments)])
    return code, capsys.readouterr()


def test_a_run_alone(folder, capsys):
    code, printed = told(capsys, folder / "own")
    assert code == 0
    assert f"wrote {folder / 'own' / 'report.html'}" in printed.out
    assert "add --walks" in printed.out
    page = (folder / "own" / "report.html").read_text(encoding="utf-8")
    assert "How to reproduce this page" in page
    assert "cogmap learn WALKS --out" in page
    assert (
        "--encoder gru --prediction-steps 3 --bottlenecks 1 --seed 0 --change num_codes=50 width=32 steps=5 "
        "bottleneck_from=0" in page
    )
    for name in ("map", "training"):
        picture = (folder / "own" / "figures" / f"{name}.svg").read_bytes()
        assert picture.startswith(b"<svg ")
        assert base64.b64encode(picture).decode() in page


def test_scores_that_evaluate_wrote_are_shown(folder, capsys):
    Scores(test_accu=0.4321).save(folder / "own" / "scores.json")
    code, _ = told(capsys, folder / "own")
    (folder / "own" / "scores.json").unlink()
    assert code == 0
    assert '<th scope="row">TDB(S=3, M=1), here</th><td>43.21</td>' in (
        folder / "own" / "report.html"
    ).read_text(encoding="utf-8")


def test_walks_with_truth_and_a_run_beside_it(folder, capsys):
    arguments = ["--walks", folder / "test.npz", "--beside", folder / "one_step", "--json"]
    code, printed = told(capsys, folder / "own", *arguments)
    assert code == 0
    assert json.loads(printed.out) == {
        "report": str(folder / "own" / "report.html"),
        "figures": str(folder / "own" / "figures"),
    }
    page = (folder / "own" / "report.html").read_text(encoding="utf-8")
    for heading in ("Scores", "The map beside the truth", "For comparison: TDB(S=1, M=1)", "Diagnostics"):
        assert f">{heading}</h2>" in page
    assert "TDB(S=3, M=1), here, the paper&#x27;s map" in page
    assert f"--beside {folder / 'one_step'}" in page


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nowhere"], "a run must be a folder made by `cogmap learn`, there is no folder nowhere"),
        (["{own}", "--walks", "nowhere.npz"], "cannot read nowhere.npz: No such file or directory"),
        (
            ["{own}", "--beside", "nowhere"],
            "a run must be a folder made by `cogmap learn`, there is no folder nowhere",
        ),
        (
            ["{own}", "--walks", "{own}/config.json"],
            "a walks file must end in .npz, .jsonl, .csv or .walks, got 'config.json'",
        ),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(folder, capsys, arguments, line):
    page = folder / "own" / "report.html"
    page.unlink(missing_ok=True)
    code, printed = told(capsys, *(argument.format(own=folder / "own") for argument in arguments))
    assert code == 2
    assert printed.err == f"cogmap: {line}\n"
    assert not page.exists()


def test_damaged_metrics_are_one_line(folder, capsys):
    metrics = folder / "one_step" / "metrics.jsonl"
    whole = metrics.read_bytes()
    metrics.write_bytes(b"{")
    code, printed = told(capsys, folder / "one_step")
    metrics.write_bytes(whole)
    assert code == 2
    assert printed.err.startswith(f"cogmap: {metrics} must hold one JSON object per line")
    assert printed.err.count("\n") == 1
