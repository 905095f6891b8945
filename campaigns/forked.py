"""Work in a process of its own, which may be killed or limited: forked, so that torch is loaded only once."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

# Every change to a folder passes one of these on its way to the operating system.
_CHANGES = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
)


class Ended(NamedTuple):
    """How a process ended."""

    code: int  # exit code; negative for the signal that killed it
    seconds: float
    told: str  # its output


def forked(
    work: Callable[[], int], log: Path, kill_after: float | None = None, most_seconds: float = 600
) -> Ended:
    """Run `work` in a child, its output into `log`; SIGKILL after `kill_after` seconds, or when it takes too long."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _child(work, log)
    status = _waited(child, started + (most_seconds if kill_after is None else kill_after))
    told = log.read_text(errors="replace") if log.exists() else ""
    return Ended(os.waitstatus_to_exitcode(status), time.monotonic() - started, told)


def _waited(child: int, until: float) -> int:
    """How a child ended, by itself or killed: when its time is up, and when this process is stopped."""
    try:
        while time.monotonic() < until:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                return status
            time.sleep(0.002)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _child(work: Callable[[], int], log: Path) -> None:
    code = 99
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", closefd=False, errors="backslashreplace") for number in (1, 2)
        )
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def kill_at(point: int | None, folder: Path, count: Path) -> None:
    """From now on count the changes to `folder`, and kill this process right before the one numbered `point`."""
    seen = 0
    inside = str(folder.absolute())

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if not _changes(event, arguments, inside):
            return
        if seen == point:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1
        if point is None:
            handle = os.open(count, os.O_WRONLY | os.O_CREAT)  # outside of `folder`
            os.write(handle, b"%d" % seen)
            os.close(handle)

    sys.addaudithook(hook)


def _changes(event: str, arguments: tuple[Any, ...], inside: str) -> bool:
    if not arguments or not isinstance(arguments[0], str | bytes | os.PathLike):
        return False
    named = Path(
        os.fsdecode(arguments[0])
    ).absolute()  # temporary files are, whatever the folder was given as
    if not str(named).startswith(inside):
        return False
    if event == "open":
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return event in _CHANGES


def limit_memory(extra: int) -> None:
    """Let this process take at most `extra` bytes of addresses more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + extra
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
