"""Memory that a step frees is there for the next one, and goes back in the end."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from cogmap.training.heap import kept_memory

MEGABYTES = 24
PAGES = MEGABYTES * (1 << 20) // resource.getpagesize()


def faults_of_a_step() -> int:
    """Pages that had to be fetched from the system."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(MEGABYTES << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def resident_pages() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing changes")
def test_freed_memory_is_kept_for_the_next_step_and_given_back_in_the_end() -> None:
    with kept_memory():
        faults_of_a_step()
        assert sum(faults_of_a_step() for _ in range(5)) < PAGES
        kept = resident_pages()
    assert resident_pages() <= kept - PAGES // 2


def test_other_systems_keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with kept_memory():
        pass
