"""Ctrl-C and SIGTERM: an end that leaves nothing half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], None]


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived. As with Ctrl-C, every `finally` on the way out is run."""


class Noted:
    """Which signal has asked for an end."""

    received: int | None = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """The first is noted, to be obeyed between two steps; a second one ends it all."""
        if self.received is not None:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        self.received = number


@contextmanager
def raised_when_terminated() -> Iterator[None]:
    """During the block SIGTERM raises `Terminated`, unless the program has a handler of its own for it."""
    if not _in_main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def noted_signals() -> Iterator[Noted]:
    """Note Ctrl-C and SIGTERM during the block instead of raising them, unless the program has its own handlers."""
    noted = Noted()
    with handled(noted.note):
        yield noted


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Handle Ctrl-C and SIGTERM by this function during the block; handlers that the program has set are kept."""
    if not _in_main_thread():
        yield
        return
    usual = {signal.SIGINT: (signal.default_int_handler,), signal.SIGTERM: (signal.SIG_DFL, _terminate)}
    before = {number: signal.getsignal(number) for number in usual}
    taken = [number for number, handlers in usual.items() if before[number] in handlers]
    for number in taken:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
