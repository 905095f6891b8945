"""Pictures as PNG, with nothing but the standard library."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLOUR_TYPES = {1: 0, 3: 2, 4: 6}  # by channels


def png_bytes(image: NDArray[Any]) -> bytes:
    """An image (H, W, C) of bytes as a PNG file: grey, colours, or colours and opacity."""
    height, width, channels = image.shape
    # Each row begins with its filter, 0: none.
    rows = np.zeros((height, 1 + channels * width), dtype=np.uint8)
    rows[:, 1:] = image.reshape(height, channels * width)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
