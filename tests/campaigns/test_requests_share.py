"""A share of `make campaign`: hostile requests and a few planners against the explorer, its folder being rewritten."""

from __future__ import annotations

import pytest
from campaigns.requests import attacked


def test_every_request_is_answered_and_none_is_our_fault() -> None:
    pytest.importorskip("uvicorn")
    found, plans, failed, _ = attacked(requests=150, clients=10, seconds=1.0)
    assert found.failed == []
    assert plans > 0
    assert failed == 0
