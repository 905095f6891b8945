"""What every request passes: who may ask, how much, how a refusal is reported, and the headers of every answer."""

from __future__ import annotations

import ipaddress
import json
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogmap.errors import BadConfig, BadRun, BadWalks, BadWorld, CogmapError, MissingExtra, NoPath, NotOnMap


@dataclass(frozen=True)
class Limits:
    """How much one server does at once. Beyond any of these a request is refused, not served slowly."""

    body_bytes: int = 1 << 20
    problems: int = 1000  # in one request
    history: int = 10_000  # observations of one history, actions of one walk that is resumed
    sessions: int = 256  # the least recently used one makes room
    session_seconds: float = 1800.0  # since the last request
    kept_steps: int = 1000  # of a session's history
    waiting_jobs: int = 64  # long answers in progress or waiting, before 429; as many of each kind
    workers: int = 2  # threads for answers that compute, and as many for those that only show
    large_map: int = 20_000  # nodes, from which on every answer about the map is made in a thread
    replayed: int = 200_000_000  # steps times nodes of one replay
    answer_seconds: float = 20.0  # for one answer that computes
    body_seconds: float = 10.0  # for a body to arrive
    idle_seconds: float = 15.0  # without a request, or without taking an answer, until a connection is closed
    connections: int = 1000
    refresh_seconds: float = 1.0  # between two looks at the run folder


# The first kind that fits. A run that is incomplete, damaged or without a map is in conflict with the question.
_STATUS: tuple[tuple[type[CogmapError], int], ...] = (
    (NoPath, 404),
    (NotOnMap, 404),
    (MissingExtra, 404),
    (BadRun, 409),
    (BadWalks, 422),
    (BadWorld, 422),
    (BadConfig, 422),
)


class Refusal(CogmapError):
    """A request that is not served, with the status that says why."""

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Deadline:
    """The moment by which an answer must be made. Work that can be long asks `check` now and then."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._seconds, self._until = clock, seconds, clock() + seconds

    def check(self) -> None:
        if self._clock() > self._until:
            rule = f"an answer must be made within {self._seconds} seconds"
            raise Refusal(503, f"{rule}, this one takes longer: ask for less at once")


def status_of(error: CogmapError) -> int:
    """The status code of an error that a user can fix."""
    if isinstance(error, Refusal):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


@dataclass(frozen=True)
class Hosts:
    """The names that a server answers to. A page of another site can only reach it under another name."""

    beyond_loopback: bool = False
    names: tuple[str, ...] = ("localhost",)

    @classmethod
    def of(cls, host: str) -> Hosts:
        if is_loopback(host):
            return cls()
        return cls(True, ("localhost", socket.gethostname().lower(), host.lower()))

    @lru_cache(maxsize=256)  # noqa: B019 (there is one of these, and it lives as long as the server)
    def allow(self, header: str) -> bool:
        """Whether a Host header names this server: an address of its own, or a name that it was given."""
        name = header.rpartition(":")[0] if header.rpartition(":")[2].isdecimal() else header
        name = name.lower()
        if name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return self.beyond_loopback or address.is_loopback


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_LOG = logging.getLogger("cogmap.app")


class Guard:
    """Wraps the routes. Nothing that a request does gets past it as a traceback."""

    def __init__(self, routes: ASGIApp, hosts: Hosts) -> None:
        self._routes = routes
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._routes(scope, receive, send)
            return
        began = False

        async def guarded(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            await send(message)

        scope["app"] = self  # so that routes raise what they do not know instead of answering in plain text
        try:
            self._check_sender(scope)
            await self._routes(scope, receive, guarded)
        except ClientDisconnect:
            return
        except Exception as problem:
            if began:
                raise
            await _refused(problem)(scope, receive, guarded)

    def _check_sender(self, scope: Scope) -> None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        host = b", ".join(hosts).decode("latin-1")
        if len(hosts) > 1 or not self._hosts.allow(host):
            raise Refusal(400, f"the Host header must name this server, got {host[:80]!r}")
        if not scope["path"].startswith("/") and scope["path"] != "*":
            raise Refusal(400, f"the target of a request must be a path, got {scope['path'][:80]!r}")
        origin = next((value for name, value in scope["headers"] if name == b"origin"), None)
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise Refusal(403, "a request must come from this server's own page, or from no page")


def _refused(problem: Exception) -> Response:
    headers = {}
    if isinstance(problem, CogmapError):
        status, told = status_of(problem), str(problem)
        if isinstance(problem, Refusal) and problem.retry_after is not None:
            headers["retry-after"] = str(problem.retry_after)
    elif isinstance(problem, HTTPException):
        status, headers = problem.status_code, dict(problem.headers or {})
        told = {404: "there is no such address", 405: "this address does not allow the method"}.get(
            status, problem.detail
        )
    else:
        _LOG.exception("a request failed", exc_info=problem)
        status, told = 500, f"this is a bug of ours: {type(problem).__name__}"
    body = json.dumps({"error": " ".join(told.split())}).encode()
    return Response(body, status, headers, media_type="application/json")
