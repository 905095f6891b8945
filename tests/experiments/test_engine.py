"""The engine of `cogmap reproduce`: trials in their own processes, killed and resumed, scored again, none run twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cogmap.cli import main
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadOutput, BadRun, CogmapError
from cogmap.experiments import (
    TABLES,
    Options,
    Running,
    Trial,
    reproduce,
    run_trial,
    state_of,
    survey,
    trials_of,
)
from cogmap.experiments import commits as commits_module
from cogmap.experiments import engine as engine_module
from cogmap.experiments import runner as runner_module
from cogmap.experiments.display import LiveTable, dry_run_lines
from cogmap.experiments.ledger import (
    Step,
    claimed,
    config_hash,
    read_record,
    read_step,
    trial_file,
    write_record,
    write_step,
)
from cogmap.experiments.places import Places
from cogmap.experiments.rows import COLUMNS, merge_rows, read_rows
from cogmap.experiments.runner import Job, Outcome

TINY = Places(
    "4x5 room",
    lambda seed: AliasedRoom(height=4, width=5, observations=4, patch=2, seed=seed),
    ("TDB(S=3, M=1)", "Vanilla LSTM"),
    walks=40,
    steps=60,
    context_length=10,
    test_walks=20,
    change={"width": 16, "num_codes": 16, "head_width": 16, "batch_size": 8, "validate_every": 20},
)
MEASURED = tuple(name for name in COLUMNS if name != "seconds")


class FailsToScore(Places):
    """A table whose last model cannot be scored."""

    def score(self, trial: Trial, run: Any, tell: Any) -> Any:
        if trial.method == "Vanilla LSTM":
            raise ZeroDivisionError("no problems\nwere posed")
        return super().score(trial, run, tell)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "tiny", TINY)
    monkeypatch.setattr(engine_module, "current_commit", lambda: "c0ffee1")
    monkeypatch.setattr(runner_module, "current_commit", lambda: "c0ffee1")


def asked(folder: Path, **more: Any) -> Options:
    return Options(
        **{"encoder": "gru", "steps": 20, "out": folder / "runs", "results": folder / "rows", **more}
    )


def quietly(folder: Path, running: Running | None = None, **more: Any) -> list[dict[str, Any]]:
    return reproduce("tiny", asked(folder, **more), lambda line: None, running)


def figures(folder: Path, *names: str) -> set[tuple[str, ...]]:
    """What the table's file says, but for the seconds, the commits and the order."""
    columns = names or tuple(name for name in MEASURED if not name.endswith("_at"))
    return {tuple(row[name] for name in columns) for row in read_rows(folder / "rows" / "tiny.csv")}


def weights_of(trial: Trial) -> Path:
    return trial.folder / "model.safetensors"


def kill_when_training(trial: Trial, step: int = 1) -> threading.Thread:
    """A thread that ends the process of a trial as soon as its training has come to a step."""

    def watch() -> None:
        while (seen := read_step(trial)) is None or seen.doing != "training" or seen.step < step:
            time.sleep(0.02)
        os.kill(seen.pid, signal.SIGKILL)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_processes_of_their_own_give_the_rows_of_one_process(tmp_path: Path) -> None:
    quietly(tmp_path / "one", Running(jobs=1))
    told: list[str] = []
    rows = reproduce("tiny", asked(tmp_path / "two"), told.append, Running(jobs=2))
    assert figures(tmp_path / "one") == figures(tmp_path / "two")
    assert len(rows) == len(figures(tmp_path / "two"))
    assert any(line.startswith("scored  4x5 room, seed 0: Vanilla LSTM") for line in told)
    assert "2 trials: 2 todo" in told[0]
    (pid,) = {read_step(trial).pid for trial in trials_of("tiny", asked(tmp_path / "one"))}  # type: ignore[union-attr]
    others = {read_step(trial).pid for trial in trials_of("tiny", asked(tmp_path / "two"))}  # type: ignore[union-attr]
    assert pid == os.getpid()
    assert len(others - {pid}) == 2


def test_a_trial_whose_process_is_killed_resumes_and_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    quietly(tmp_path / "calm", Running(jobs=2), steps=400)
    trials = trials_of("tiny", asked(tmp_path / "storm", steps=400))
    killer = kill_when_training(trials[0], 30)  # after its first checkpoint
    quietly(tmp_path / "storm", Running(jobs=2), steps=400)
    killer.join()
    assert "its process was killed" in trial_file(trials[0], "log").read_text()
    assert "its process was killed" not in trial_file(trials[1], "log").read_text()
    assert figures(tmp_path / "calm") == figures(tmp_path / "storm")
    calm = trials_of("tiny", asked(tmp_path / "calm", steps=400))
    for one, other in zip(calm, trials, strict=True):
        assert weights_of(one).read_bytes() == weights_of(other).read_bytes()


def is_alive(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# The command on two trials in processes of their own, as a program whose death nobody prepares for.
_PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_engine import TINY, asked
from cogmap.experiments import TABLES, Running, reproduce
TABLES["tiny"] = TINY
reproduce("tiny", asked(Path({folder!r}), steps=1500), lambda line: None, Running(jobs=2))
"""


def test_a_killed_command_takes_its_trials_along_and_the_next_one_resumes_them(tmp_path: Path) -> None:
    source = _PROGRAM.format(tests=str(Path(__file__).parent), folder=str(tmp_path / "storm"))
    trials = trials_of("tiny", asked(tmp_path / "storm", steps=1500))
    with subprocess.Popen([sys.executable, "-c", source]) as command:
        while not all((seen := read_step(trial)) is not None and seen.step > 20 for trial in trials):
            assert command.poll() is None
            time.sleep(0.02)
        command.kill()
    while "running" in (states := [state_of(trial) for trial in trials]):
        time.sleep(0.1)
    assert states == ["todo", "todo"]
    while any(is_alive(read_step(trial).pid) for trial in trials):  # type: ignore[union-attr]
        time.sleep(0.1)
    quietly(tmp_path / "storm", Running(jobs=1), steps=1500)
    quietly(tmp_path / "calm", Running(jobs=1), steps=1500)
    assert figures(tmp_path / "storm") == figures(tmp_path / "calm")


def test_trials_that_are_scored_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = quietly(tmp_path)
    before = figures(tmp_path, *COLUMNS)
    (tmp_path / "rows" / "tiny.csv").unlink()
    monkeypatch.setattr(engine_module, "run_trial", None)
    monkeypatch.setattr(Places, "score", None)
    told: list[str] = []
    assert reproduce("tiny", asked(tmp_path), told.append) == first
    assert figures(tmp_path, *COLUMNS) == before  # from the records
    assert "2 of 2 trials are scored already" in told


def test_another_number_of_rollouts_scores_the_models_without_a_map_again(tmp_path: Path) -> None:
    quietly(tmp_path, rollouts=3)
    tdb, vanilla = trials_of("tiny", asked(tmp_path, rollouts=5))
    assert (state_of(tdb), state_of(vanilla)) == ("scored", "trained")


def test_a_trial_is_todo_running_trained_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trials_of("tiny", asked(tmp_path, only=("TDB(S=3, M=1)",)))[0]
    assert state_of(trial) == "todo"
    assert not tmp_path.joinpath("runs").exists()  # to look changes nothing
    with claimed(trial):
        assert state_of(trial) == "running"
    assert state_of(trial) == "todo"

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner_module, "_scored", stop)
    with pytest.raises(KeyboardInterrupt):
        run_trial(trial)
    assert state_of(trial) == "trained"
    monkeypatch.undo()
    monkeypatch.setitem(TABLES, "tiny", TINY)
    assert run_trial(trial)
    assert state_of(trial) == "scored"
    assert state_of(replace(trial, options=replace(trial.options, steps=21))) == "todo"


def test_a_trial_of_another_process_is_left_to_it(tmp_path: Path) -> None:
    trial = trials_of("tiny", asked(tmp_path))[0]
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with claimed(trial):
            ready.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait()
    told: list[str] = []
    rows = reproduce("tiny", asked(tmp_path), told.append, Running(jobs=2))
    done.set()
    holder.join()
    assert f"another process runs {trial.title}" in told
    assert {row["method"] for row in rows} == {"Vanilla LSTM"}
    assert not trial.folder.exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_trial_that_fails_keeps_its_line_and_stops_no_other(
    tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = FailsToScore(**{name: getattr(TINY, name) for name in vars(TINY)})
    monkeypatch.setitem(TABLES, "tiny", fails)
    with pytest.raises(
        CogmapError, match=r"1 of 2 trials failed, .*Vanilla LSTM.*ZeroDivisionError: no problems were"
    ):
        quietly(tmp_path, Running(jobs=jobs))
    tdb, vanilla = survey("tiny", asked(tmp_path))
    assert (tdb.state, vanilla.state) == ("scored", "failed")
    assert vanilla.failed == "ZeroDivisionError: no problems were posed"
    assert {row["method"] for row in read_rows(tmp_path / "rows" / "tiny.csv")} == {"TDB(S=3, M=1), gru"}
    assert "Traceback" in trial_file(vanilla.trial, "log").read_text()
    weights = weights_of(vanilla.trial).stat().st_mtime_ns
    monkeypatch.setitem(TABLES, "tiny", TINY)
    quietly(tmp_path, Running(jobs=jobs))
    assert state_of(vanilla.trial) == "scored"
    assert weights_of(vanilla.trial).stat().st_mtime_ns == weights  # it had been trained


def test_scored_again_by_a_better_builder_and_metric_without_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quietly(tmp_path)
    assert figures(tmp_path, "trained_at", "scored_at") == {("c0ffee1", "c0ffee1")}
    trials = trials_of("tiny", asked(tmp_path))
    before = [weights_of(trial).stat().st_mtime_ns for trial in trials]
    maps = (trials[0].folder / "map.npz").stat().st_mtime_ns
    monkeypatch.setattr(runner_module, "current_commit", lambda: "beefed2")
    better = replace(TINY, test_walks=30)  # more walks to score on
    monkeypatch.setitem(TABLES, "tiny", better)
    told: list[str] = []
    reproduce("tiny", asked(tmp_path), told.append, Running(rescore=True))
    assert [weights_of(trial).stat().st_mtime_ns for trial in trials] == before
    assert (trials[0].folder / "map.npz").stat().st_mtime_ns > maps
    assert figures(tmp_path, "trained_at", "scored_at") == {("c0ffee1", "beefed2")}
    found = {row["value"] for row in read_rows(tmp_path / "rows" / "tiny.csv") if row["metric"] == "problems"}
    assert found == {"30.0"}


def test_what_is_not_trained_is_not_scored_again(tmp_path: Path) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    told: list[str] = []
    rows = reproduce("tiny", asked(tmp_path), told.append, Running(rescore=True))
    assert "1 of 2 trials are not trained, and left out" in told
    assert {row["method"] for row in rows} == {"Vanilla LSTM"}


def test_a_training_in_two_parts_names_both_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    monkeypatch.setattr(runner_module, "current_commit", lambda: "beefed2")
    quietly(tmp_path, only=("Vanilla LSTM",), steps=30)
    assert figures(tmp_path, "trained_at", "scored_at") == {("c0ffee1+beefed2", "beefed2")}


def test_a_run_without_record_is_of_the_commit_that_its_rows_name(tmp_path: Path) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    trial = trials_of("tiny", asked(tmp_path, only=("Vanilla LSTM",)))[0]
    trial_file(trial, "json").unlink()
    path = tmp_path / "rows" / "tiny.csv"
    old = path.read_text().replace("trained_at,scored_at", "commit").replace("c0ffee1,c0ffee1", "0ldc0de")
    path.write_text(old)
    quietly(tmp_path, only=("Vanilla LSTM",))
    assert figures(tmp_path, "trained_at", "scored_at") == {("0ldc0de", "c0ffee1")}


def test_rows_of_one_commit_are_read_and_rewritten_with_two(tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text(
        "method,environment,seed,map,metric,value,seconds,preset,commit,command\n"
        "a,room,0,minimal,test_accu,0.5,3,fast,0ldc0de,cogmap\n"
        "b,room,0,minimal,test_accu,0.6,3,fast,0ldc0de,cogmap\n"
    )
    fresh = dict.fromkeys(COLUMNS, "") | {"method": "a", "environment": "room", "seed": 0, "map": "minimal"}
    fresh |= {
        "metric": "test_accu",
        "value": 0.7,
        "preset": "fast",
        "trained_at": "c0ffee1",
        "scored_at": "beefed2",
    }
    merge_rows(path, [fresh])
    rows = read_rows(path)
    assert [(row["method"], row["value"], row["trained_at"], row["scored_at"]) for row in rows] == [
        ("a", "0.7", "c0ffee1", "beefed2"),
        ("b", "0.6", "", "0ldc0de"),
    ]


def test_a_run_of_another_configuration_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    monkeypatch.setitem(TABLES, "tiny", replace(TINY, noise=0.1))
    with pytest.raises(
        BadRun, match=r"must be of the configuration [0-9a-f]{12}, it is of [0-9a-f]{12}: move it away"
    ):
        quietly(tmp_path, Running(rescore=True), only=("Vanilla LSTM",))


def test_walks_that_are_drawn_otherwise_are_not_scored_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    other = replace(
        TINY, world=lambda seed: AliasedRoom(height=4, width=5, observations=4, patch=2, seed=seed + 1)
    )
    monkeypatch.setitem(TABLES, "tiny", other)
    with pytest.raises(BadRun, match="must be scored by the walks it was trained on"):
        quietly(tmp_path, Running(rescore=True), only=("Vanilla LSTM",))


def test_the_hash_is_of_what_decides_the_weights_alone(tmp_path: Path) -> None:
    trial = trials_of("tiny", asked(tmp_path))[0]
    same = replace(
        trial, options=replace(trial.options, steps=9, minutes=1.0, rollouts=2, out=Path("elsewhere"))
    )
    assert config_hash(TINY, same) == config_hash(TINY, trial)
    assert config_hash(replace(TINY, test_walks=9, context_length=5), trial) == config_hash(TINY, trial)
    others = [
        replace(trial, options=replace(trial.options, **change))
        for change in (
            {"first_seed": 1},
            {"encoder": "lstm"},
            {"preset": "paper"},
            {"only": ("Vanilla LSTM",)},
        )
    ]
    hashes = {config_hash(TINY, each) for each in (trial, *others)} | {
        config_hash(replace(TINY, walks=41), trial)
    }
    assert len(hashes) == 6


def test_rows_that_are_committed_must_be_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "current_commit", lambda: "c0ffee1-dirty")
    monkeypatch.setattr(runner_module, "current_commit", lambda: "c0ffee1-dirty")
    quietly(tmp_path, only=("Vanilla LSTM",))  # elsewhere they are marked
    assert figures(tmp_path, "trained_at", "scored_at") == {("c0ffee1-dirty", "c0ffee1-dirty")}
    before = (tmp_path / "rows" / "tiny.csv").read_bytes()
    monkeypatch.setattr(commits_module, "is_committed", lambda folder: True)
    with pytest.raises(
        BadOutput, match="must be of a commit, these would be of c0ffee1-dirty: commit the sources"
    ):
        quietly(tmp_path, only=("Vanilla LSTM",))
    monkeypatch.setattr(engine_module, "current_commit", lambda: "beefed2")
    monkeypatch.setattr(runner_module, "current_commit", lambda: "beefed2")
    for rescore in (False, True):  # what was trained by sources that nobody has stays out
        with pytest.raises(BadOutput, match="of c0ffee1-dirty"):
            quietly(tmp_path, Running(rescore=rescore), only=("Vanilla LSTM",))
    assert (tmp_path / "rows" / "tiny.csv").read_bytes() == before


def test_the_results_of_this_checkout_are_committed_and_its_runs_are_not() -> None:
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    assert commits_module.is_committed(root / "results")
    assert not commits_module.is_committed(root / "runs" / "reproduce")
    assert not commits_module.is_committed(Path("/tmp"))
    assert commits_module.current_commit() != commits_module.UNKNOWN


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_a_training_to_be_resumed(tmp_path: Path, number: signal.Signals) -> None:
    """They end `cogmap learn` early with a map; a trial that ended early would be scored as if it were whole."""
    trial = trials_of("tiny", asked(tmp_path, steps=1500, only=("Vanilla LSTM",)))[0]

    def interrupt() -> None:
        while (seen := read_step(trial)) is None or seen.step < 30:
            time.sleep(0.02)
        signal.raise_signal(number)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        quietly(tmp_path, steps=1500, only=("Vanilla LSTM",))
    assert state_of(trial) == "todo"
    assert not weights_of(trial).exists()
    quietly(tmp_path / "calm", steps=1500, only=("Vanilla LSTM",))
    quietly(tmp_path, steps=1500, only=("Vanilla LSTM",))
    assert figures(tmp_path) == figures(tmp_path / "calm")


def test_minutes_are_those_of_the_whole_training_however_often_it_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cogmap.tasks import learning

    limits: list[Any] = []
    real = learning.learn

    def learn(**choices: Any) -> Any:
        limits.append((choices["resume"], choices.get("minutes"), choices.get("steps")))
        if not choices["resume"]:
            raise RuntimeError("cut off")
        return real(**choices)

    options = asked(tmp_path, steps=20, minutes=5.0, only=("Vanilla LSTM",))
    trial = trials_of("tiny", options)[0]
    run_trial(replace(trial, options=replace(options, steps=8)), lambda line: None)
    weights_of(trial).unlink()  # as if it had been cut off
    write_record(trial, replace(read_record(trial), rows=(), steps=None))  # type: ignore[arg-type]
    monkeypatch.setattr(learning, "learn", learn)
    run_trial(replace(trial, options=replace(options, steps=8)), lambda line: None)
    assert limits == [(True, None, None)]


def test_a_dry_run_lists_trials_with_state_and_hours_and_runs_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    folders = ["--out", str(tmp_path / "runs"), "--results", str(tmp_path / "rows")]
    capsys.readouterr()
    words = ["reproduce", "tiny", "--encoder", "gru", "--steps", "20", *folders, "--dry-run", "--jobs", "3"]
    assert main(words) == 0
    head, tdb, vanilla, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["state", "config", "seed", "budget", "hours", "rows", "of", "trial"]
    assert tdb.split()[0] == "todo"
    assert vanilla.split()[0] == "scored"
    assert " 20 steps " in tdb
    assert " c0ffee1 " in vanilla
    assert last.startswith("2 trials: 1 scored, 1 todo; ")
    assert main([*words, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["state"], second["state"], second["hours_left"]) == ("todo", "scored", 0.0)
    assert first["config"] == config_hash(TINY, trials_of("tiny", asked(tmp_path))[0])


def test_the_live_table_shows_every_trial_that_runs_and_the_time_left(tmp_path: Path) -> None:
    jobs = [Job(trial, TINY) for trial in trials_of("tiny", asked(tmp_path, rooms=2))]
    table = LiveTable(jobs, at_once=2)
    write_step(
        jobs[1].trial, Step("training", step=300, last_step=900, steps_per_second=2.0, validation=0.875)
    )
    write_step(jobs[2].trial, Step("scoring"))
    drawn = Console(width=160, file=StringIO())
    with claimed(jobs[1].trial), claimed(jobs[2].trial):
        table.__enter__()
        table.ended(Outcome(jobs[0].trial, failed="it was too hard"))
        table.look()
        drawn.print(table._drawn())
        table.__exit__(None, None, None)
    shown = drawn.file.getvalue()  # type: ignore[attr-defined]
    assert re.search(r"step 300 of 900, 2.0 a second, validation 87.50% +5 min left", shown)
    assert "seed 1: TDB(S=3, M=1), gru, fast" in shown
    assert "0 of 4 done, 1 failed; still 3 trials: 2 running, 1 todo;" in shown


def test_all_is_every_table_and_each_trial_once() -> None:
    trials = trials_of("all", Options())
    # `short-windows` deviates from the paper.
    assert {trial.table for trial in trials} == set(TABLES) - {"tiny", "short-windows"}
    assert len({trial.folder for trial in trials}) == len(trials) == len({trial.command for trial in trials})
    some = trials_of("all", Options(only=("Vanilla LSTM",), minutes=3.0))
    assert {trial.method for trial in some} == {"Vanilla LSTM"}
    assert {trial.options.minutes for trial in some} == {3.0}


def test_hours_left_are_measured_ones(tmp_path: Path) -> None:
    quietly(tmp_path, only=("Vanilla LSTM",))
    path = tmp_path / "rows" / "tiny.csv"
    rows = [dict(row, seconds="7200", preset="fast") for row in read_rows(path)]
    merge_rows(path, rows)

    def hours(**more: Any) -> float | None:
        options = asked(tmp_path, first_seed=1, only=("Vanilla LSTM",), **{"steps": None} | more)
        return survey("tiny", options)[0].hours_left

    assert hours() == pytest.approx(2.0)
    assert hours(steps=40) == pytest.approx(4.0)  # of the measured 20
    assert hours(minutes=30.0) == pytest.approx(0.5)
    (gru,) = survey("tiny", asked(tmp_path, only=("TDB(S=3, M=1)",)))
    assert gru.hours_left is None  # nothing like it was measured
    assert hours(steps=40, encoder="gru") == pytest.approx(4.0)


def test_a_trial_that_is_scored_has_no_training_left(tmp_path: Path) -> None:
    trial = trials_of("tiny", asked(tmp_path, minutes=60.0))[0]
    for step, hours in ((Step("training", 10, 100, 0.01), 0.72), (Step("scoring"), 0.0)):
        write_step(trial, step)
        with claimed(trial):
            status = survey("tiny", asked(tmp_path, minutes=60.0))[0]
        assert status.state == "running"
        assert status.hours_left == pytest.approx(hours, abs=0.01)
    write_step(trial, Step("training", 10, 100, 0.01))
    status = survey("tiny", asked(tmp_path, minutes=60.0))[0]
    assert dry_run_lines([status], 1)[1].endswith("gru, fast, from step 10")
