"""A run folder is written by one process at a time; every start of a run can be resumed or counts as nothing."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.cli import main
from cogmap.errors import BadOutput, BadRun, Diverged, Stopped
from cogmap.runs.folder import RunFolder
from cogmap.runs.writing import writing
from cogmap.signals import Terminated, noted_signals
from cogmap.training.checkpoint import load_tensors, save_tensors
from cogmap.training.loop import checkpoint_path
from cogmap.training.progress import Silent

TINY = {"width": 16, "head_width": 16, "num_codes": 20, "batch_size": 8, "window": 10, "bottleneck_from": 2}
SHORT = {"encoder": "gru", "steps": 9, "validate_every": 4, "quiet": True, "device": "cpu", **TINY}


@pytest.fixture(scope="module")
def walks() -> cogmap.Walks:
    room = cogmap.AliasedRoom(4, 5, observations=3, patch=0, seed=0)
    return cogmap.sample_walks(room, 20, 30, np.random.default_rng(0))[0]


@pytest.fixture(scope="module")
def learned(walks: cogmap.Walks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned") / "run"
    cogmap.learn(walks, folder, **SHORT)
    return folder


def final(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / name).read_bytes() for name in ("config.json", "model.safetensors", "map.npz"))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[int]:
    """Another process that holds the folder `run`, and its number."""
    script = (
        "import sys; from cogmap.runs.writing import writing\n"
        "with writing(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield other.pid
        other.kill()


def test_a_second_learner_is_refused_in_one_line(walks: cogmap.Walks, tmp_path: Path, held: int) -> None:
    with pytest.raises(
        BadOutput, match=rf"must be written by one process at a time, process {held} is writing"
    ):
        cogmap.learn(walks, tmp_path / "run", **SHORT)
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_the_lock_of_a_dead_process_is_taken_over(walks: cogmap.Walks, tmp_path: Path, held: int) -> None:
    os.kill(held, signal.SIGKILL)
    os.waitid(os.P_PID, held, os.WEXITED | os.WNOWAIT)
    cogmap.learn(walks, tmp_path / "run", **SHORT)


def test_maps_scores_and_reports_wait_for_the_folder(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogmap.runs.writing.writing.__wrapped__.__defaults__", (0.0,))
    run = cogmap.load_run(learned)
    with writing(learned), pytest.raises(BadOutput, match="written by one process at a time"):
        cogmap.write_report(run)


def test_two_threads_do_not_write_to_one_folder(tmp_path: Path) -> None:
    found: list[str] = []

    def second() -> None:
        try:
            with writing(tmp_path / "run", patience=0):
                found.append("held")
        except BadOutput as error:
            found.append(str(error))

    with writing(tmp_path / "run"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert "must be written by one process at a time" in found[0]


def test_a_folder_that_was_not_written_to_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing"), writing(tmp_path / "run"):
        raise ValueError("nothing")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EROFS])
def test_a_file_system_that_refuses_locks_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    with (
        pytest.raises(BadOutput, match=f"cannot write .*run: {os.strerror(number)}"),
        writing(tmp_path / "run"),
    ):
        pass


def test_a_file_system_without_locks_works_with_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOSYS, "no locks")

    monkeypatch.setattr("fcntl.flock", flock)
    with writing(tmp_path / "run"):
        (tmp_path / "run" / "file").touch()
        with pytest.raises(BadOutput, match="one process at a time"), writing(tmp_path / "run", patience=0):
            pass
    with writing(tmp_path / "run", patience=0):
        pass


def test_a_run_is_copied_to_a_file_system_without_locks(
    learned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOSYS, "no locks")

    shutil.copytree(learned, tmp_path / "run")
    assert (tmp_path / "run" / ".lock").read_text() == ""
    monkeypatch.setattr("fcntl.flock", flock)
    with writing(tmp_path / "run", patience=0):
        pass


WITHOUT_LOCKS = """
import errno, fcntl, sys
def flock(*_): raise OSError(errno.ENOSYS, "no locks")
fcntl.flock = flock
from cogmap.errors import BadOutput
from cogmap.runs.writing import writing
try:
    with writing(sys.argv[1], float(sys.argv[2])):
        print("held", flush=True)
        sys.stdin.read()
except BadOutput as problem:
    print(problem)
"""


def test_without_locks_a_folder_is_held_for_as_long_as_its_process_lives(tmp_path: Path) -> None:
    def started(patience: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WITHOUT_LOCKS, str(tmp_path / "run"), str(patience)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    # A file that filelock cannot read would be taken after 2 s.
    with started(0) as first, started(4) as second:
        assert first.stdout is not None
        assert second.stdout is not None
        told = {process.pid: process.stdout.readline() for process in (first, second) if process.stdout}
        holder = next(pid for pid, line in told.items() if line == "held\n")
        refused = next(line for pid, line in told.items() if pid != holder)
        assert f"must be written by one process at a time, process {holder} is writing" in refused
        os.kill(holder, signal.SIGKILL)
    with started(4) as third:
        assert third.communicate("")[0] == "held\n"


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_every_start_of_a_run_can_be_learned_again_and_resumed_from_its_config_on(
    walks: cogmap.Walks, learned: Path, tmp_path: Path, kept: int
) -> None:
    """What is there right before the first checkpoint, and before the files before it."""
    run = tmp_path / "run"
    run.mkdir()
    for name in ["config.json", "metrics.jsonl", "checkpoint"][:kept]:
        if name == "checkpoint":
            (run / name).mkdir()
            (run / name / ".checkpoint.safetensors.x.part").write_bytes(b"half")
        else:
            (run / name).write_bytes((learned / name).read_bytes() if name == "config.json" else b"")
    (run / ".config.json.y.part").write_text("{")
    if kept:
        cogmap.learn(walks, run, resume=True, quiet=True, device="cpu")
    else:
        with pytest.raises(BadRun, match=r"there must be a training to resume, .* leave out --resume"):
            cogmap.learn(walks, run, resume=True)
        cogmap.learn(walks, run, **SHORT)
    assert final(run) == final(learned)
    assert not list(run.rglob("*.part"))


def test_a_start_counts_as_nothing(walks: cogmap.Walks, learned: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name, content in {
        "config.json": "{}",
        "quantizer.npz": "of other walks",
        "metrics.jsonl": "",
    }.items():
        (run / name).write_text(content)
    cogmap.learn(walks, run, **SHORT)
    assert final(run) == final(learned)
    assert not (run / "quantizer.npz").exists()


@pytest.mark.parametrize("name", ["notes.txt", "map.npz", "model.safetensors"])
def test_anything_else_is_not_overwritten(walks: cogmap.Walks, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(BadOutput, match="the run folder must be new or empty"):
        cogmap.learn(walks, tmp_path, **SHORT)
    assert (tmp_path / name).read_text() == "mine"


class SignalAt(Silent):
    """Sends this process a signal at a step."""

    def __init__(self, step: int, number: int) -> None:
        self._step, self._number = step, number

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
        if step == self._step:
            os.kill(os.getpid(), self._number)


def test_sigterm_saves_a_checkpoint_builds_the_map_and_resuming_is_exact(
    walks: cogmap.Walks, learned: Path, tmp_path: Path
) -> None:
    options = {name: value for name, value in SHORT.items() if name != "quiet"}
    with pytest.raises(Stopped, match="stopped by SIGTERM after 6 steps: resume with --resume"):
        cogmap.learn(walks, tmp_path / "run", progress=SignalAt(6, signal.SIGTERM), **options)
    assert load_tensors(checkpoint_path(tmp_path / "run"))[1]["done_steps"] == 6
    assert cogmap.load_run(tmp_path / "run").has_map  # as after Ctrl-C
    cogmap.learn(walks, tmp_path / "run", resume=True, quiet=True, device="cpu")
    assert final(tmp_path / "run") == final(learned)
    assert untimed(tmp_path / "run") == untimed(learned)  # row 8 is a mean over steps before and after


def untimed(folder: Path) -> list[dict]:
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_ctrl_c_saves_a_checkpoint_and_builds_the_map(
    walks: cogmap.Walks, learned: Path, tmp_path: Path
) -> None:
    options = {name: value for name, value in SHORT.items() if name != "quiet"}
    run = cogmap.learn(walks, tmp_path / "run", progress=SignalAt(6, signal.SIGINT), **options)
    assert run.has_map
    cogmap.learn(walks, tmp_path / "run", resume=True, quiet=True, device="cpu")
    assert final(tmp_path / "run") == final(learned)


def test_a_second_signal_ends_it_all() -> None:
    with noted_signals() as noted:
        os.kill(os.getpid(), signal.SIGINT)
        assert noted.received == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Terminated):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


def test_a_program_keeps_its_own_handlers() -> None:
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with noted_signals() as noted:
            os.kill(os.getpid(), signal.SIGTERM)
        assert noted.received is None
    finally:
        signal.signal(signal.SIGTERM, before)


def test_sigterm_outside_of_a_training_is_one_line_with_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cogmap.cli._dispatch", lambda arguments: os.kill(os.getpid(), signal.SIGTERM))
    assert main(["check"]) == 143
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert capsys.readouterr().err == "cogmap: stopped\n"


def test_losses_that_are_not_finite_end_a_training_in_one_line(
    walks: cogmap.Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cogmap.training import step

    monkeypatch.setattr(
        step, "observation_loss", lambda *rest: step.torch.tensor(float("nan"), requires_grad=True)
    )
    rule = r"losses must stay finite, at step 1 the observation loss is nan: learn again with a lower `learning_rate`"
    with pytest.raises(Diverged, match=rule):
        cogmap.learn(walks, tmp_path / "run", **SHORT)
    assert load_tensors(checkpoint_path(tmp_path / "run"))[1]["done_steps"] == 0


def test_both_rates_are_named_where_there_are_two(
    walks: cogmap.Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cogmap.training import step

    monkeypatch.setattr(
        step, "observation_loss", lambda *rest: step.torch.tensor(float("inf"), requires_grad=True)
    )
    options = SHORT | {"encoder": "transformer", "layers": 1, "heads": 2, "mlp_width": 16}
    with pytest.raises(
        Diverged, match=r"loss is inf: .*`learning_rate` \(=0.002\) and `muon_rate` \(=0.02\)"
    ):
        cogmap.learn(walks, tmp_path / "run", **options)


def broken_checkpoints() -> dict:
    import torch

    def without(tensors: dict, part: str) -> None:
        del tensors[next(name for name in tensors if part in name)]

    def reshaped(tensors: dict, part: str) -> None:
        name = next(name for name in tensors if part in name)
        tensors[name] = tensors[name].reshape(-1)[:-1].clone()

    def typed(tensors: dict, part: str) -> None:
        name = next(name for name in tensors if part in name)
        tensors[name] = tensors[name].to(torch.int16)

    changes = {
        f"{verb.__name__} {part}": lambda tensors, numbers, verb=verb, part=part: verb(tensors, part)
        for verb in (without, reshaped, typed)
        for part in ("model/", "exp_avg", "exp_avg_sq", "state/", "rng/torch", "rng/draws")
    }
    numbers = {
        "done_steps": "3",
        "seconds": None,
        "rows": -1,
        "sampler": {},
        "schedule": {"quantize_from": 0, "decay_from": 3},
        "reports": [{"losses": 3}],
        "tensors": 3,
    }
    for name, wrong in numbers.items():
        changes[name] = lambda tensors, numbers, name=name, wrong=wrong: numbers.update({name: wrong})
    for name, wrong in {"walk": [10**9] * 8, "start": [-1] * 8, "rng": {"state": 3}}.items():
        changes[name] = lambda tensors, numbers, name=name, wrong=wrong: numbers["sampler"].update(
            {name: wrong}
        )
    return changes


@pytest.mark.parametrize("name", broken_checkpoints())
def test_broken_checkpoints_are_one_line(
    walks: cogmap.Walks, learned: Path, tmp_path: Path, name: str
) -> None:
    tensors, numbers = load_tensors(checkpoint_path(learned))
    broken_checkpoints()[name](tensors, numbers)
    (tmp_path / "config.json").write_bytes((learned / "config.json").read_bytes())
    (tmp_path / "metrics.jsonl").write_bytes((learned / "metrics.jsonl").read_bytes())
    save_tensors(checkpoint_path(tmp_path), tensors, numbers)
    with pytest.raises(BadRun) as caught:
        cogmap.learn(walks, tmp_path, resume=True, quiet=True, device="cpu")
    assert "\n" not in str(caught.value)


def test_a_run_that_cannot_be_written_to_still_prints_its_scores(
    learned: Path,
    walks: cogmap.Walks,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cogmap.save_walks(tmp_path / "test.npz", walks)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    assert main(["evaluate", str(learned), "--walks", str(tmp_path / "test.npz")]) == 2
    told = capsys.readouterr()
    assert "TestAccu" in told.out
    assert told.err == f"cogmap: cannot write {learned}: Read-only file system\n"


def test_a_run_that_was_moved_opens_and_resumes(walks: cogmap.Walks, learned: Path, tmp_path: Path) -> None:
    import shutil

    moved = Path(shutil.copytree(learned, tmp_path / "else" / "where"))
    assert RunFolder(moved).map.num_nodes == RunFolder(learned).map.num_nodes
    assert (
        cogmap.learn(walks, moved, resume=True, steps=12, quiet=True, device="cpu").metrics()[-1]["step"]
        == 12
    )


def test_a_copy_of_a_run_is_as_finished_as_the_run(learned: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(learned, tmp_path / "copy"))
    os.utime(copy / "metrics.jsonl")  # copied last
    assert RunFolder(copy).state() == "finished"
    (copy / ".lock").write_text("12345\n")  # as a process leaves it that is writing, or was killed
    assert RunFolder(copy).state() == "training"


def test_a_run_without_its_map_that_nobody_writes_is_stopped(learned: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(learned, tmp_path / "copy"))
    (copy / "map.npz").unlink()
    assert RunFolder(copy).state() == "stopped"
