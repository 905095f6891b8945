"""The explorer as one ASGI application: requests in, answers out, long ones made in threads."""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles

from cogmap.app.bodies import check, encode_json, parse_json
from cogmap.app.endpoints import ENDPOINTS, Endpoint, description
from cogmap.app.handlers import Call, Handlers
from cogmap.app.schema import limited
from cogmap.app.security import Guard, Hosts, Limits, Refusal
from cogmap.app.shown_map import ShownMap
from cogmap.app.watcher import RunWatcher

_JSON = "application/json"
T = TypeVar("T")


class Application:
    """Everything behind one address. `asgi` is what a server runs."""

    def __init__(self, watcher: RunWatcher, limits: Limits | None = None, hosts: Hosts | None = None) -> None:
        self.watcher = watcher
        self.limits = limits or Limits()
        self.handlers = Handlers(watcher, self.limits)
        self._requests = limited(self.limits)
        # Answers that compute cannot keep those waiting that only show: each kind has its own threads.
        self._shows, self._computes = (_Pool(self.limits) for _ in range(2))
        pages = Pages("cogmap.app", "static")
        routes = [
            *(Route(one.path, _route(self, one), methods=[one.method]) for one in ENDPOINTS),
            Route("/", pages.index, methods=["GET"]),
            Mount("/static/shared", Pages("cogmap.report", "shared")),
            Mount("/static", pages),
            Route("/api/openapi.json", self._describe, methods=["GET"]),
        ]
        router = Router(routes, redirect_slashes=False, lifespan=self._lifespan)
        self.asgi = Guard(router, hosts or Hosts())

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """One answer, from the address to the bytes: short ones at once, long ones in a thread."""
        body = await self._body(request) if endpoint.body else b""
        large = endpoint.grows and self.watcher.largest_map > self.limits.large_map
        if not (endpoint.long or large):
            return self._answer(endpoint, request, body)
        pool = self._computes if endpoint.computes or large else self._shows
        # Short answers may wait in the queue.
        most = self.limits.connections if large else self.limits.waiting_jobs
        return await pool.run(lambda: self._answer(endpoint, request, body), most)

    def _answer(self, endpoint: Endpoint, request: Request, body: bytes) -> Response:
        asked = check(parse_json(body), self._requests[endpoint.body]) if endpoint.body else None
        query = request.query_params if endpoint.by_map else {}
        found = endpoint.work(self.handlers, Call(request.path_params, query, asked))
        if isinstance(found, ShownMap):
            return _map_response(found, request)
        if found is None:
            return Response(status_code=endpoint.status)
        if isinstance(found, bytes):
            return Response(found, endpoint.status, media_type=endpoint.answer)
        return Response(encode_json(found), endpoint.status, media_type=_JSON)

    async def _body(self, request: Request) -> bytes:
        """The body, read no further than the limit."""
        limit, received = self.limits.body_bytes, bytearray()
        promised = request.headers.get("content-length", "0")
        if promised.isdecimal() and int(promised[:20]) > limit:
            raise Refusal(413, f"the body must have at most {limit} bytes, got {promised[:20]}")
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                async for chunk in request.stream():
                    received += chunk
                    if len(received) > limit:
                        raise Refusal(413, f"the body must have at most {limit} bytes, got more")
        except TimeoutError:
            raise Refusal(
                408, f"the body must arrive within {self.limits.body_seconds} seconds, it did not"
            ) from None
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if received and kind != _JSON:
            raise Refusal(415, f"the body must be {_JSON}, got {kind[:80] or 'no content type'}")
        return bytes(received)

    async def _describe(self, request: Request) -> Response:
        return Response(await asyncio.to_thread(lambda: self._description), media_type=_JSON)

    @cached_property
    def _description(self) -> bytes:
        """Made when it is first asked for: few do, and a server should start fast."""
        return encode_json(description(self._requests))

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            for pool in (self._shows, self._computes):
                pool.threads.shutdown(wait=False, cancel_futures=True)

    async def _watch(self) -> None:
        """Look at the run folder now and then."""
        while True:
            await asyncio.sleep(self.limits.refresh_seconds)
            await asyncio.to_thread(self.watcher.refresh)


class _Pool:
    """Threads, with a limit on how many answers are made or wait in them."""

    def __init__(self, limits: Limits) -> None:
        self.threads = ThreadPoolExecutor(limits.workers, thread_name_prefix="cogmap-explorer")
        self._in_progress = 0

    async def run(self, work: Callable[[], T], most: int) -> T:
        if self._in_progress >= most:
            rule = f"at most {most} long answers may be in progress"
            raise Refusal(429, f"{rule}, ask again in a second", retry_after=1)
        self._in_progress += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, work)
        finally:
            self._in_progress -= 1


class Pages(StaticFiles):
    """A folder of the installed package. Browsers ask each time whether a file changed."""

    def __init__(self, package: str, folder: str) -> None:
        # Links are followed because some installers make the package's own files links.
        super().__init__(packages=[(package, folder)], follow_symlink=True)
        mimetypes.add_type("text/javascript", ".js")  # some systems say otherwise, and browsers are strict

    async def index(self, request: Request) -> Response:
        return await self.get_response("index.html", request.scope)

    async def get_response(self, path: str, scope: Any) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response


def _route(application: Application, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return await application.answer(endpoint, request)

    return serve


def _map_response(shown: ShownMap, request: Request) -> Response:
    tag = f'"{shown.revision}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(shown.answer, headers=headers, media_type=_JSON)
