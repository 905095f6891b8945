"""While a map is searched for: how far it is, for a person to see, and Ctrl-C takes the shortest so far."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from cogmap.signals import Terminated, handled

if TYPE_CHECKING:
    from cogmap.training.progress import Progress


class SearchWatch:
    """A `cogmap.search.account.Watch`: it shows the progress, and ends the search once it was interrupted."""

    def __init__(self, progress: Progress | None, seconds: float) -> None:
        self._progress, self._most = progress, seconds
        self._began = time.perf_counter()
        self.interrupted = False

    def __call__(self, places: int) -> bool:
        if self._progress is not None:
            seconds = f"{time.perf_counter() - self._began:.0f} of at most {self._most:.0f} s"
            self._progress.now(f"searching the map: {places} places, {seconds}; Ctrl-C takes what there is")
        return not self.interrupted

    def note(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C is noted, to be obeyed between two rounds; SIGTERM and a second Ctrl-C end it all."""
        if number == signal.SIGTERM:
            raise Terminated
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True


@contextmanager
def watched(progress: Progress | None, seconds: float) -> Iterator[SearchWatch]:
    """A watch over a search of at most so many seconds."""
    watch = SearchWatch(progress, seconds)
    try:
        with handled(watch.note):
            yield watch
    finally:
        if progress is not None:
            progress.now_end()
