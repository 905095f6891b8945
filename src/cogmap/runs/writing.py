"""One process at a time writes to a run folder, and finds no remains of those that were killed."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cogmap.errors import BadOutput
from cogmap.files import remove_leftovers
from cogmap.runs.names import LOCK_FILE

PATIENCE = 10.0  # seconds that a command waits which writes for a moment only
_MOMENT = 0.5  # seconds


@contextmanager
def writing(folder: str | Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the run folder for the block; `BadOutput` if another process holds it for longer than `patience` seconds."""
    folder = Path(folder)
    is_new = not folder.exists()
    with held(folder / LOCK_FILE, folder, patience):
        remove_leftovers(folder)
        try:
            yield
        finally:
            if is_new and [path.name for path in folder.iterdir()] == [LOCK_FILE]:  # the block wrote nothing
                with suppress(OSError):
                    (folder / LOCK_FILE).unlink()
                    folder.rmdir()


@contextmanager
def held(lock: Path, what: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold a lock file for the block, in the name of what is written under it.

    The operating system frees a lock when its process ends, however it ends. Where a file system has no such locks,
    filelock uses a file that names the process, and takes no notice of one whose process is gone.
    """
    from filelock import FileLock, SoftFileLock, Timeout

    mine = FileLock(lock)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the file system has no locks: we know, and it works
            try:
                mine.acquire(timeout=0)
            except Timeout:
                if isinstance(mine, SoftFileLock):
                    _remove_empty(lock)
                mine.acquire(timeout=patience)
    except Timeout:
        rule = f"{what} must be written by one process at a time"
        raise BadOutput(f"{rule}, {_holder(lock)} is writing to it") from None
    except (OSError, NotImplementedError) as problem:
        told = getattr(problem, "strerror", None) or problem
        raise BadOutput(f"cannot write {what}: {told}") from problem
    has_locks = not isinstance(mine, SoftFileLock)  # else what the file says is the lock, and filelock's own
    try:
        if has_locks:
            with suppress(OSError):
                lock.write_text(f"{os.getpid()}\n")
        yield
    finally:
        if has_locks:
            with suppress(OSError):
                lock.write_text("")  # empty: no process is writing, which holds in a copy of the folder, too
        with suppress(OSError):
            mine.release()


def _remove_empty(lock: Path) -> None:
    """Without locks a file means that its folder is held, unless it is empty: left by a process that had locks.

    The folder was copied from there. A process that makes the file writes its number to it in the same moment.
    """
    with suppress(OSError):
        if lock.stat().st_size == 0:
            time.sleep(_MOMENT)
            if lock.stat().st_size == 0:
                lock.unlink()


def _holder(lock: Path) -> str:
    with suppress(OSError, ValueError, IndexError):
        return f"process {int(lock.read_text(encoding='ascii').split()[0][:10])}"
    return "another process"
