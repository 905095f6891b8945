"""Temporary files beside what is written: those of killed processes go, those of living ones stay."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cogmap.cli import main
from cogmap.errors import BadOutput, BadWalks
from cogmap.files import open_file, remove_leftovers, write_folder, write_json
from cogmap.parts import new_part

WRITER = """
import sys
from cogmap.files import write_folder, write_whole
with (write_folder if sys.argv[2] else write_whole)(sys.argv[1]):
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("is_folder", ["", "yes"])
def test_what_a_killed_process_wrote_is_removed_by_the_next_and_not_before(
    tmp_path: Path, is_folder: str
) -> None:
    path = tmp_path / "log.walks"
    command = [sys.executable, "-c", WRITER, str(path), is_folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "writing\n"
        write_json(path, 1)
        assert len(list(tmp_path.glob(".log.walks.*.part"))) == 1
        os.kill(other.pid, signal.SIGKILL)
    write_json(tmp_path / "other", 1)  # of another name: nothing to do with it
    assert len(list(tmp_path.glob(".log.walks.*.part"))) == 1
    write_json(path, 2)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log.walks", "other"]


def test_files_of_other_names_are_nobodys_leftovers(tmp_path: Path) -> None:
    mine = tmp_path / ".walks.npz.backup.part"
    mine.write_text("mine")
    (tmp_path / "target").mkdir()
    (tmp_path / ".walks.npz.aaaaaaaa.part").symlink_to(tmp_path / "target")
    write_json(tmp_path / "walks.npz", 1)
    assert mine.read_text() == "mine"
    assert (tmp_path / "target").is_dir()


def test_a_part_that_is_taken_away_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real, seen = fcntl.flock, []

    def flock(handle: int, how: int) -> None:
        if not seen:
            seen.extend(tmp_path.iterdir())
            seen[0].unlink()  # as another process would that took it for a dead one
        real(handle, how)

    monkeypatch.setattr("cogmap.parts.fcntl.flock", flock)
    handle, part = new_part(tmp_path / "x")
    assert part.exists()
    assert part not in seen
    os.close(handle)


def test_a_file_system_without_locks_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(handle: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("cogmap.parts.fcntl.flock", flock)
    (tmp_path / ".x.aaaaaaaa.part").write_text("whose is unknown")
    write_json(tmp_path / "x", 1)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".x.aaaaaaaa.part", "x"]


def test_leftovers_are_removed_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".precious.part").write_text("mine")
    run = tmp_path / "run"
    (run / "figures").mkdir(parents=True)
    (run / "figures" / ".a.part").touch()
    (run / "linked").symlink_to(tmp_path / "elsewhere")
    (run / ".b.part").symlink_to(tmp_path / "elsewhere")
    remove_leftovers(run)
    assert (tmp_path / "elsewhere" / ".precious.part").read_text() == "mine"
    assert sorted(each.name for each in run.rglob("*")) == ["figures", "linked"]


def test_a_full_disk_is_reported_of_what_is_written_and_not_of_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "read").touch()
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        pytest.raises(BadOutput, match=r"cannot write .*log\.walks: No space left on device"),
        write_folder(tmp_path / "log.walks"),
        open_file(tmp_path / "read", BadWalks),
    ):
        raise full
    assert [each.name for each in tmp_path.iterdir()] == ["read"]


def test_rewards_are_not_lost_by_a_conversion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = '{"observations": [0, 1, 0], "actions": [0, 0], "rewards": [1, 2.5]}\n'
    (tmp_path / "w.jsonl").write_text(line)
    (tmp_path / "w.csv").write_text("walk,step,observation,action,reward\n0,0,0,0,1\n0,1,1,0,2\n")
    for name, told in {"w.jsonl": "has rewards, for which", "w.csv": "the header must be"}.items():
        assert main(["convert", str(tmp_path / name), "--out", str(tmp_path / "w.walks")]) == 2
        assert told in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "w.jsonl"), "--out", str(tmp_path / "w.npz")]) == 0
    assert main(["convert", str(tmp_path / "w.npz"), "--out", str(tmp_path / "w.walks")]) == 2
    assert "a .walks folder has no rewards, these walks do" in capsys.readouterr().err
    assert not (tmp_path / "w.walks").exists()


def test_a_reward_of_any_number_of_digits_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for reward in ("1" + "0" * 400, "-1" + "0" * 400, "NaN", "1e999"):
        (tmp_path / "w.jsonl").write_text(
            f'{{"observations": [0, 1], "actions": [0], "rewards": [{reward}]}}\n'
        )
        assert main(["check", str(tmp_path / "w.jsonl")]) == 2
        assert "`rewards` must hold finite numbers, got" in capsys.readouterr().err


def _old_and_new(folder: Path) -> None:
    """A folder that is replaced by another one with the same names of files."""
    folder.mkdir()
    (folder / "a").write_text("old")
    with write_folder(folder) as fresh:
        (fresh / "a").write_text("new")


def _without_exchange(one: Path, other: Path) -> bool:
    return False


def test_a_folder_takes_the_place_of_another_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(self: Path, target: Path) -> None:
        raise AssertionError(f"{self} must not be moved away")

    monkeypatch.setattr("pathlib.Path.rename", rename)
    _old_and_new(tmp_path / "log.walks")
    assert (tmp_path / "log.walks" / "a").read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["log.walks"]


def test_a_link_to_a_folder_is_replaced_and_what_it_led_to_stays(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_text("old")
    (tmp_path / "log.walks").symlink_to(tmp_path / "far")
    with write_folder(tmp_path / "log.walks") as fresh:
        (fresh / "a").write_text("new")
    assert (tmp_path / "far" / "a").read_text() == "old"
    assert (tmp_path / "log.walks" / "a").read_text() == "new"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["far", "log.walks"]


KILLED_BETWEEN = """
import os, sys
from pathlib import Path
import cogmap.files
cogmap.files.exchange = lambda one, other: False
renamed = Path.rename
def rename(self, target):
    renamed(self, target)
    os.kill(os.getpid(), 9)
Path.rename = rename
with cogmap.files.write_folder(sys.argv[1]) as fresh:
    (fresh / "a").write_text("new")
"""


def test_without_an_exchange_what_a_killed_process_moved_away_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "log.walks"
    path.mkdir()
    (path / "a").write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED_BETWEEN, str(path)])
    assert killed.returncode == -signal.SIGKILL
    assert not path.exists()
    with pytest.raises(BadOutput), write_folder(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert (path / "a").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["log.walks"]


def test_without_an_exchange_a_rename_that_fails_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogmap.files.exchange", _without_exchange)
    path, real = tmp_path / "log.walks", Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name.endswith(".part"):
            raise OSError(errno.EIO, "Input/output error")
        return real(self, target)

    monkeypatch.setattr("pathlib.Path.rename", rename)
    with pytest.raises(BadOutput, match=r"cannot write .*: Input/output error"):
        _old_and_new(path)
    assert (path / "a").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["log.walks"]
    monkeypatch.undo()
    monkeypatch.setattr("cogmap.files.exchange", _without_exchange)
    _old_and_new(tmp_path / "other")
    assert (tmp_path / "other" / "a").read_text() == "new"
