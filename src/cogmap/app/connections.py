"""Connections that do nothing are closed: uvicorn waits forever for the rest of a request, or for a reader.

A request that names its host twice, in the target and in a header, must name one host.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


def patient_protocol(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, with so many seconds for a request's head to arrive, and for a full buffer to be taken."""

    class Patient(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        _until = math.inf  # when the connection is closed, unless a request begins
        _look: asyncio.TimerHandle | None = None  # at that moment: one a connection, not one a request
        _taken: asyncio.TimerHandle | None = None  # closes it unless what was sent is taken

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect_request()
            self._look = self.loop.call_later(seconds, self._close_if_idle)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._expect_request()

        def on_headers_complete(self) -> None:
            """A target such as http://elsewhere/api/run names a host too, which must be that of the Host header."""
            named = _host_of_target(self.url)
            if named is not None and (b"host", named) not in self.headers:
                self.headers.append((b"host", named))  # two hosts are refused
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._expect_request()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._taken = self.loop.call_later(seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            _cancel(self._taken)
            self._taken = None

        def connection_lost(self, exc: Exception | None) -> None:
            _cancel(self._look)
            _cancel(self._taken)
            self._look = self._taken = None
            super().connection_lost(exc)

        def _expect_request(self) -> None:
            if self.cycle is not None and not self.cycle.response_complete:
                self._until = math.inf
            elif self._until == math.inf:
                self._until = self.loop.time() + seconds

        def _close_if_idle(self) -> None:
            left = min(self._until - self.loop.time(), seconds)
            if left <= 0:
                self.transport.abort()
            else:
                self._look = self.loop.call_later(left, self._close_if_idle)

    return Patient


def _host_of_target(target: bytes) -> bytes | None:
    """The host, with its port, that an absolute request target names; None for a path."""
    if target.startswith((b"/", b"*")):
        return None
    scheme, found, rest = target.partition(b"://")
    return rest.partition(b"/")[0].partition(b"?")[0] if found else scheme


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
