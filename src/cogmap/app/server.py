"""From a run folder to a server that listens."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

from cogmap.errors import BadConfig, MissingExtra

DEFAULT_PORT = 8321
_TRIED = 20  # ports after the usual one, before giving up


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at a given port, or else at the usual one or the next that is free."""
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
        raise BadConfig(f"a port from {ports[0]} to {ports[-1]} must be free, none is: give --port 0")
    raise BadConfig(
        f"`--port` must be free, {port} is taken: give another, or none to take the next free one"
    )


def address(listening: socket.socket) -> str:
    """The page's address as it goes into a browser."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(
    application: object, listening: socket.socket, started: Callable[[Callable[[], None]], None]
) -> None:
    """Serve until told to stop: by a signal, or by the function that `started` is given once all is ready."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started(self.stop)

        def stop(self) -> None:
            self.should_exit = True

    config = uvicorn.Config(
        application,  # type: ignore[arg-type]
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        backlog=1024,
        timeout_graceful_shutdown=2,
    )
    Server(config).run(sockets=[listening])


def check_extra() -> None:
    """Say in one line how to install what serving needs."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as missing:
        raise MissingExtra(f'serving needs {missing.name}: pip install "cogmap[serve]"') from None


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
