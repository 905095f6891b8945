"""Processor time, which other load on the machine changes little."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Processor time, threads included, of the best of a few tries."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best
