"""Temporary files and folders beside what is written, held by a lock that ends with their process.

So the next process that writes to the same path knows which of them are left of processes that were killed.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # where there are no such locks, what is left stays
    fcntl = None  # type: ignore[assignment]

PART = ".part"  # ends the name of what is being written


def new_part(path: Path, is_folder: bool = False) -> tuple[int, Path]:
    """An empty file or folder beside `path`, locked while its handle is open. Those that nobody holds are removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_dead(path)
    while True:
        handle, part = _made(path, is_folder)
        with suppress(OSError):  # of a file system without locks
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
        if part.exists():
            return handle, part
        os.close(handle)  # before it was locked, another process took it for a dead one


def _made(path: Path, is_folder: bool) -> tuple[int, Path]:
    if not is_folder:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
        return handle, Path(name)
    while True:
        name = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
        with suppress(FileNotFoundError):
            return os.open(name, os.O_RDONLY), Path(name)


def _remove_dead(path: Path) -> None:
    """Remove what killed processes left of this path: what can be locked. What they moved away comes back."""
    if fcntl is None:
        return
    # The names that tempfile makes.
    named = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}" + re.escape(PART))
    with os.scandir(path.parent) as entries:
        found = [Path(entry.path) for entry in entries if named.fullmatch(entry.name)]
    for part in found:
        with suppress(OSError):  # held by a living process, or gone already
            handle = os.open(part, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if (part / path.name).is_dir() and not path.exists():
                    (part / path.name).rename(path)
                remove(part)
            finally:
                os.close(handle)


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


_AT_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


def exchange(one: Path, other: Path) -> bool:
    """Let two paths change places at once; False where the operating system or the file system cannot."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if swap is None:
        return False
    sys.audit("os.rename", str(one), str(other), -1, -1)  # as `os.rename` does
    done: int = swap(_AT_HERE, os.fsencode(one), _AT_HERE, os.fsencode(other), _EXCHANGE)
    return done == 0
