"""From a run folder to a server that listens."""

from __future__ import annotations

import errno
import gc
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cogmap.errors import BadConfig, MissingExtra

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8321
_TRIED = 20  # ports after the usual one, before giving up
_NEEDED = ("starlette", "uvicorn", "pydantic", "PIL")  # modules of the serve extra


@dataclass(frozen=True)
class Served:
    """A server that has just started."""

    address: str  # of the page, as it goes into a browser
    problems: tuple[str, ...]  # what could not be read of the run, one line each
    on_loopback: bool  # only this machine can reach it
    stop: Callable[[], None]


def serve_run(
    folder: str | Path,
    walks: str | Path | None = None,
    host: str = LOOPBACK,
    port: int | None = None,
    started: Callable[[Served], None] | None = None,
) -> None:
    """Serve the explorer of a run folder until Ctrl-C, or until `stop` of what `started` is given is called.

    walks: to replay; with <name>.truth.npz beside them, also the true world and the true places of nodes.
    host: address to listen on; any but a loopback address lets other machines in.
    port: to listen on, 0 for any; by default 8321 or the next one that is free.
    started: called once the page can be opened.
    """
    check_extra()
    from cogmap.app.security import is_loopback
    from cogmap.app.watcher import RunWatcher

    watcher = RunWatcher(Path(folder), None if walks is None else Path(walks))
    watcher.open()
    listening = listen(host, port)

    def tell(stop: Callable[[], None]) -> None:
        if started is not None:
            started(Served(address(listening), tuple(watcher.problems), is_loopback(host), stop))

    from cogmap.app.application import Application
    from cogmap.app.security import Hosts

    try:
        serve(Application(watcher, hosts=Hosts.of(host)).asgi, listening, tell)
    except KeyboardInterrupt:
        return


def check_extra() -> None:
    """Say in one line how to install what serving needs."""
    for module in _NEEDED:
        if _is_missing(module):
            name = {"PIL": "pillow"}.get(module, module)
            raise MissingExtra(f'serving needs {name}: pip install "cogmap[serve]"')


def _is_missing(module: str) -> bool:
    try:
        return find_spec(module) is None
    except ValueError:  # imported, but without a spec, or blocked
        return True


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at a given port, or else at the usual one or the next one that is free."""
    if port is not None and not 0 <= port < 65536:
        raise BadConfig(f"`--port` must be from 0 to 65535, got {port}")
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _TRIED) if port is None else (port,)
    for candidate in ports:
        try:
            return _bind(host, candidate)
        except OSError as problem:
            if problem.errno != errno.EADDRINUSE:
                told = problem.strerror or problem
                raise BadConfig(
                    f"`--host` and `--port` must be of this machine: {host}:{candidate}: {told}"
                ) from None
    if port is None:
        raise BadConfig(f"a port from {ports[0]} to {ports[-1]} must be free, all are taken: give --port 0")
    raise BadConfig(
        f"`--port` must be free, {port} is taken: give another, or none to take the next free one"
    )


def address(listening: socket.socket) -> str:
    """The page's address as it goes into a browser."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(
    application: object, listening: socket.socket, started: Callable[[Callable[[], None]], None]
) -> None:
    """Serve until a signal, or until the function is called that `started` is given once all is ready."""
    import uvicorn

    from cogmap.app.connections import patient_protocol
    from cogmap.app.security import Limits

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            gc.freeze()  # what is there now stays: the collector need not look at it again beside every few answers
            started(self.stop)

        def stop(self) -> None:
            self.should_exit = True

    config = uvicorn.Config(
        application,  # type: ignore[arg-type]
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # there is no proxy in front of it, and anybody could write them
        lifespan="on",
        # uvloop accepts one connection between two rounds of answers, so new clients starve beside busy ones.
        loop="asyncio",
        http=patient_protocol(Limits().idle_seconds),
        ws="none",
        limit_concurrency=Limits().connections,
        backlog=1024,
        timeout_graceful_shutdown=2,
    )
    Server(config).run(sockets=[listening])


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as problem:
        raise BadConfig(f"`--host` must be an address of this machine, got {host!r}: {problem}") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
    except OSError:
        listening.close()
        raise
    return listening
