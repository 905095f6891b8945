"""What every request passes through: who may ask, how errors are told, and the headers of every answer."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cogmap.app.hosts import Hosts
from cogmap.app.keeper import encode_json
from cogmap.app.refusals import Refusal, status_of
from cogmap.errors import CogmapError

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
            await _refuse(problem)(scope, receive, guarded)

    def _check_sender(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._hosts.allow(host):
            raise Refusal(400, f"the Host header must name this server, got {host[:80]!r}")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").partition("://")[2] != host:
            raise Refusal(403, "a request must come from this server's own page, or from no page")


def _refuse(problem: Exception) -> Response:
    headers = {}
    if isinstance(problem, CogmapError):
        status, told = status_of(problem), str(problem)
        if isinstance(problem, Refusal) and problem.retry_after is not None:
            headers["retry-after"] = str(problem.retry_after)
    elif isinstance(problem, HTTPException):
        status, headers = problem.status_code, dict(problem.headers or {})
        told = {404: "there is no such address", 405: "this address does not know the method"}.get(
            status, problem.detail
        )
    else:
        _LOG.exception("a request failed", exc_info=problem)
        status, told = 500, f"this is a bug of ours: {type(problem).__name__}"
    body = encode_json({"error": " ".join(told.split())})
    return Response(body, status, headers, media_type="application/json")
