"""The explorer beside a training: in a process of its own, which ends when the training's does.

A child and not a thread: it shares no lock with the training, and gives way to it. It is not in the terminal's process
group, so Ctrl-C reaches the training alone; its standard input is a pipe that closes when the training ends, however.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cogmap.app.server import LOOPBACK, address, check_extra, listen, serve
from cogmap.errors import BadConfig

_POLITE = 10  # niceness
_PATIENCE = 5.0  # seconds for the server to end


class Page:
    """The page of a training."""

    def __init__(self, server: subprocess.Popen[str], address: str) -> None:
        self._server, self.address = server, address

    def wait(self) -> None:
        """Keep the page up until Ctrl-C."""
        try:
            self._server.wait()
        except KeyboardInterrupt:
            return


@contextmanager
def served_beside(folder: str | Path, walks: str | Path | None = None) -> Iterator[Page | None]:
    """Serve a run folder that is about to be written, until the block ends.

    In a training over several processes only the first one serves; the others get None.
    """
    if os.environ.get("RANK", "0") != "0":
        yield None
        return
    check_extra()
    command = [sys.executable, "-m", "cogmap.app.beside", str(folder)]
    command += [] if walks is None else [str(walks)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        first = server.stdout.readline().strip() if server.stdout else ""
        if not first.startswith("http"):
            raise BadConfig(
                first or "the explorer must be able to start beside the training, it ended at once"
            )
        yield Page(server, first)
    finally:
        _end(server)


def _end(server: subprocess.Popen[str]) -> None:
    for pipe in (server.stdin, server.stdout):
        if pipe is not None:
            pipe.close()
    try:
        server.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def main(folder: Path, walks: Path | None) -> None:
    """The child: print the address in one line, and serve until standard input closes."""
    from cogmap.app.application import Application
    from cogmap.app.watcher import RunWatcher

    os.nice(_POLITE)
    try:
        listening = listen(LOOPBACK, None)
    except BadConfig as problem:
        print(problem, flush=True)
        return
    watcher = RunWatcher(folder, walks)
    watcher.refresh()

    def started(stop: Callable[[], None]) -> None:
        print(address(listening), flush=True)
        threading.Thread(target=_stop_at_the_end, args=(stop,), daemon=True).start()

    serve(Application(watcher).asgi, listening, started)


def _stop_at_the_end(stop: Callable[[], None]) -> None:
    sys.stdin.read()
    stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
