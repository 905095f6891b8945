"""The server as one ASGI application: requests in, answers out, long ones in threads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from cogmap.app.checking import check, parse_body
from cogmap.app.endpoints import ENDPOINTS, Endpoint
from cogmap.app.explorer import Call, Explorer
from cogmap.app.guard import Guard
from cogmap.app.hosts import Hosts
from cogmap.app.journeys import Journey
from cogmap.app.keeper import Keeper, encode_json
from cogmap.app.limits import Limits
from cogmap.app.openapi import description
from cogmap.app.opened_map import OpenedMap
from cogmap.app.pages import Pages
from cogmap.app.refusals import Refusal
from cogmap.app.schemas import request_schemas

_JSON = "application/json"


class Application:
    """Everything behind one address. `asgi` is what a server runs."""

    def __init__(self, keeper: Keeper, limits: Limits | None = None, hosts: Hosts | None = None) -> None:
        self.keeper = keeper
        self.limits = limits or Limits()
        self.explorer = Explorer(keeper, self.limits)
        self._schemas = request_schemas(self.limits)
        self._openapi = encode_json(description(self.limits))
        self._pool = ThreadPoolExecutor(self.limits.workers, thread_name_prefix="cogmap-explorer")
        self._under_way = 0
        pages = Pages()
        routes = [
            *_routes(self),
            Route("/", pages.index, methods=["GET"]),
            Route("/static/{path:path}", pages.static, methods=["GET"]),
            Route("/api/openapi.json", self._describe, methods=["GET"]),
        ]
        router = Router(routes, redirect_slashes=False, lifespan=self._lifespan)
        self.asgi = Guard(router, hosts or Hosts())

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """One answer, from the address to the bytes."""
        body = await self._body(request) if endpoint.body else {}
        if endpoint.body:
            check(body, self._schemas[endpoint.body])
        query = request.query_params if endpoint.by_map else {}
        call = Call(request.path_params, query, body)
        found = await self._work(endpoint, call)
        if isinstance(found, OpenedMap):
            return _map_response(found, request)
        if isinstance(found, Journey):
            found = self.explorer.journeys.keep(found).whole_answer()
        if found is None:
            return Response(status_code=endpoint.status)
        if isinstance(found, bytes):
            return Response(found, endpoint.status, media_type=endpoint.answer)
        return Response(encode_json(found), endpoint.status, media_type=_JSON)

    async def _work(self, endpoint: Endpoint, call: Call) -> Any:
        """Short answers at once, long ones in a thread; more than a few of those wait, more than many are refused."""
        if not endpoint.long:
            return endpoint.work(self.explorer, call)
        if self._under_way >= self.limits.waiting_jobs:
            rule = f"at most {self.limits.waiting_jobs} long answers may be under way"
            raise Refusal(429, f"{rule}, ask again in a second", retry_after=1)
        self._under_way += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, endpoint.work, self.explorer, call)
        finally:
            self._under_way -= 1

    async def _body(self, request: Request) -> Any:
        """The body's JSON, read no further than the limit."""
        limit, received = self.limits.body_bytes, bytearray()
        promised = request.headers.get("content-length", "0")
        if promised.isdecimal() and int(promised[:20]) > limit:
            raise Refusal(413, f"the body must have at most {limit} bytes, got {promised[:20]}")
        async for chunk in request.stream():
            received += chunk
            if len(received) > limit:
                raise Refusal(413, f"the body must have at most {limit} bytes, got more")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if received and kind != _JSON:
            raise Refusal(415, f"the body must be {_JSON}, got {kind[:80] or 'no content type'}")
        return parse_body(bytes(received))

    async def _describe(self, request: Request) -> Response:
        return Response(self._openapi, media_type=_JSON)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def _watch(self) -> None:
        """Look at the run folder now and then."""
        while True:
            await asyncio.sleep(self.limits.refresh_seconds)
            await asyncio.to_thread(self.keeper.refresh)


def _routes(application: Application) -> list[Route]:
    return [Route(one.path, _endpoint(application, one), methods=[one.method]) for one in ENDPOINTS]


def _endpoint(application: Application, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return await application.answer(endpoint, request)

    return serve


def _map_response(opened: OpenedMap, request: Request) -> Response:
    tag = f'"{opened.revision}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(opened.answer, headers=headers, media_type=_JSON)
