"""GINC: the time to make the whole published set and its ceiling on one core, and the speed of its random draws.

python -m benchmarks.ginc
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from cogmap.environments.ginc import GincConfig, build_world, sample_prompts, write_ginc
from cogmap.evaluation.prompts import ceiling

LIMIT = 180.0  # seconds, for the set
PLAIN_PROMPTS = 50  # prompts sampled with one call of the generator per token, to compare


def make_set() -> str:
    with tempfile.TemporaryDirectory() as folder:
        files = write_ginc(Path(folder) / "ginc", GincConfig())
        return f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.0f} MB"


def make_ceiling() -> str:
    config = GincConfig()
    world = build_world(config, np.random.RandomState(config.seed))
    rows = list(ceiling(world, sample_prompts(world, config)))
    return f"{len(rows)} kinds of {config.prompts} prompts"


def draws_ratio() -> float:
    """How many times faster prompts are sampled by `draws.py` than by one call of the generator per token."""
    config = replace(GincConfig(), prompt_lengths=(5,), prompt_examples=(16,))
    random = np.random.RandomState(config.seed)
    world = build_world(config, random)
    transitions = world.transitions()
    start = time.process_time()
    for _ in range(PLAIN_PROMPTS * 17):  # examples of prompts in distribution
        state = random.randint(0, world.num_values) * world.num_slots + 1
        for _ in range(4):
            state = random.choice(world.emission.size, p=transitions[0, state])
    plain = (time.process_time() - start) / PLAIN_PROMPTS
    start = time.process_time()
    next(sample_prompts(world, config))
    return plain / ((time.process_time() - start) / config.prompts)


def main() -> bool:
    """Print the table; true if every row is within its limit."""
    print("GINC, the published set: processor time and wall time")
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
        allowed = "" if limit is None else f" (limit {limit:.0f} s)"
        print(f"  {name:12s} {spent:6.1f} s, {clock:6.1f} s{allowed}  {made}")
    print(f"prompts: {draws_ratio():.0f} times faster than one call of the generator per token")
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
