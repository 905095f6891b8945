"""Networks are compared in double precision."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """Reading in pieces, in batches or step by step adds the same numbers in another order; so do other processors.

    In float32 that changes the seventh digit, and now and then the nearest code; in float64 the sixteenth. Every
    tolerance in this folder lies far above that, and far below what a mistake would do.
    """
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
