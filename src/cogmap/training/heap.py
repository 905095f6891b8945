"""Memory of one training step is kept for the next one.

A step on a CPU allocates and frees some hundred megabytes. The C library gives large pieces back to the system at
once, and the system fills each page with zeros when it is used again: a tenth of the time of a step.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_ALL, _LARGEST = (1 << 31) - 1, 1 << 25  # bytes: never trimmed; the largest threshold that glibc takes


@contextmanager
def kept_memory() -> Iterator[None]:
    """Where the C library is glibc; elsewhere nothing changes. What is free at the end goes back to the system."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        yield
        return
    library.mallopt(_TRIM_THRESHOLD, _ALL)
    library.mallopt(_MMAP_THRESHOLD, _LARGEST)
    try:
        yield
    finally:
        library.mallopt(_TRIM_THRESHOLD, 2 * _LARGEST)  # what glibc itself arrives at
        library.malloc_trim(0)
