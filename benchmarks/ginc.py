"""GINC: how long the whole published set takes to make, and its ceiling, on one core.

python -m benchmarks.ginc
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cogmap.environments.ginc import GincConfig, build_world, sample_prompts, write_ginc
from cogmap.evaluation.prompts import ceiling

LIMIT = 180.0  # seconds, for the set


def make_set() -> str:
    with tempfile.TemporaryDirectory() as folder:
        files = write_ginc(Path(folder) / "ginc", GincConfig())
        return f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB"


def make_ceiling() -> str:
    config = GincConfig()
    world = build_world(config, np.random.RandomState(config.seed))
    rows = list(ceiling(world, sample_prompts(world, config)))
    return f"{len(rows)} kinds of {config.prompts} prompts"


def main() -> bool:
    """Print the table; true if every row is within its limit."""
    print("GINC, the published set: processor time, and by the clock")
    good = True
    rows: dict[str, tuple[Callable[[], str], float | None]] = {
        "the set": (make_set, LIMIT),
        "the ceiling": (make_ceiling, None),
    }
    for name, (make, limit) in rows.items():
        spent, clock = time.process_time(), time.perf_counter()
        made = make()
        spent, clock = time.process_time() - spent, time.perf_counter() - clock
        good &= limit is None or spent < limit
        told = "" if limit is None else f" (limit {limit:.0f} s)"
        print(f"  {name:12s} {spent:6.1f} s, {clock:6.1f} s{told}  {made}")
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
