"""Trials: independent, made again by their command, and named as the rows that are stored."""

from __future__ import annotations

import csv
import pickle
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from cogmap.cli import main
from cogmap.commands import reproduce as command
from cogmap.experiments import METHODS, TABLES, Options, Trial, training_state, trials_of
from cogmap.experiments.rows import read_rows
from cogmap.models.config import ModelConfig
from cogmap.report.paper_rows import PAPER_TABLES

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def trials_asked_for(monkeypatch: pytest.MonkeyPatch):
    """The trials that a command line asks for, none of them run."""

    def trials(line: str) -> list[Trial]:
        asked: list[Trial] = []
        monkeypatch.setattr(
            command,
            "reproduce",
            lambda table, options, tell, running: asked.extend(trials_of(table, options)),
        )
        assert main(shlex.split(line)[1:]) == 0
        return asked

    return trials


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(encoder="gru", preset="paper", first_seed=3, minutes=1.5),
        Options(encoder="lstm", steps=7, only=("TDB(S=5, M=4)", "Vanilla GRU", "TDB(S=3, M=1), clones")),
    ],
)
@pytest.mark.parametrize("table", TABLES)
def test_a_trials_command_makes_it_again(table: str, options: Options, trials_asked_for) -> None:
    trials = trials_of(table, options)
    assert len({trial.folder for trial in trials}) == len(trials) > 0
    for trial in trials:
        assert trials_asked_for(trial.command) == [trial]


def test_options_of_one_kind_are_in_its_commands(trials_asked_for) -> None:
    asked = {
        "table-1": Options(rooms=2, first_seed=4, rollouts=3, only=("Vanilla LSTM",)),
        "ginc": Options(splice=0.0),
        "icl-small": Options(names="plain", training_rooms=(5, 6)),
        "icl-rule": Options(names="seen", encoder="gru"),
    }
    for table, options in asked.items():
        for trial in trials_of(table, options):
            assert trials_asked_for(trial.command) == [trial]
    assert [trial.seed for trial in trials_of("table-1", asked["table-1"])] == [4, 5]
    assert [trial.options.training_rooms for trial in trials_of("icl-small", asked["icl-small"])][:2] == [
        (5,),
        (6,),
    ]


@pytest.mark.parametrize(
    "path",
    # Of no table of the paper: attacks, worlds with chance, the bench of worlds, maps. Of networkx: by a script.
    sorted(
        path
        for path in RESULTS.glob("*.csv")
        if path.stem not in ("campaign", "chance", "worlds", "maps", "networkx")
    ),
    ids=lambda path: path.stem,
)
def test_stored_rows_are_of_the_trial_that_their_command_names(path: Path, trials_asked_for) -> None:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    named = {(row["command"], row["method"], int(row["seed"]), row["preset"]) for row in rows}
    for line, method, seed, preset in named:
        if line != "cogmap ginc --ceiling":
            (trial,) = trials_asked_for(line)
            assert (trial.label, trial.seed, trial.options.preset) == (method, seed, preset)


@pytest.mark.parametrize(
    "path",
    # Of no table of the paper: attacks, worlds with chance, the bench of worlds, maps.
    sorted(
        path for path in RESULTS.glob("*.csv") if path.stem not in ("campaign", "chance", "worlds", "maps")
    ),
    ids=lambda path: path.stem,
)
def test_stored_rows_are_of_commits(path: Path) -> None:
    rows = read_rows(path)
    assert all(row["scored_at"] for row in rows)
    assert not {row["scored_at"] for row in rows if "-dirty" in row["scored_at"] + row["trained_at"]}


def test_another_process_can_run_a_trial() -> None:
    for table in TABLES:
        assert pickle.dumps(trials_of(table, Options())[0])


def test_a_trial_is_new_begun_or_finished(tmp_path: Path) -> None:
    trial = trials_of("icl-small", Options(encoder="gru", names="seen", only=("TDB(S=3, M=4)",)))[0]
    assert training_state(replace(trial, folder=tmp_path)) == "new"
    (tmp_path / "checkpoint").mkdir()
    assert training_state(replace(trial, folder=tmp_path)) == "new"  # killed before its first checkpoint
    (tmp_path / "checkpoint" / "checkpoint.safetensors").touch()
    assert training_state(replace(trial, folder=tmp_path)) == "begun"
    stored = replace(trial, folder=RESULTS / "models" / "rooms-4x5")
    assert training_state(stored) == "finished"
    more = replace(trial.options, steps=10**9)
    assert training_state(replace(stored, options=more)) == "new"  # nothing to resume from


def test_methods_are_named_as_their_models_are_and_as_the_paper_prints_them() -> None:
    for name, choices in METHODS.items():
        sizes = {"num_observations": 4, "num_actions": 4, "num_targets": 4}
        steps = {"prediction_steps": 1} if choices.get("vanilla") else {}
        assert ModelConfig(**sizes, **steps, **choices).name == name
    printed = {row.method for table in PAPER_TABLES for row in table.rows}
    assert printed <= set(METHODS)
    assert "TDB(S=3, M=1), clones" not in printed
