"""A log counted by two Ray workers on loopback, one of them killed in the middle. Run by test_counting.py, or by hand:

python tests/tasks/ray_two_counters.py FOLDER [STEPS]

It is a program of its own because Ray's warnings would be errors in pytest.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

import cogmap
from cogmap.environments.table import torus
from cogmap.maps.build import build_map
from cogmap.maps.store import save_map
from cogmap.records import Codes
from cogmap.tasks.counting import count_here, count_on_ray
from cogmap.training.progress import Silent
from cogmap.walks.log import log_of
from cogmap.walks.sample import sample_walks
from cogmap.walks.store import save_walks

LENGTH, SHARDS = 400, 20


class Told(Silent):
    """Keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def now(self, line: str) -> None:
        self.lines.append(line)


def start_ray() -> None:
    """A cluster of this machine alone, on loopback, for two tasks at once."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # ports are open to all
    import ray

    sizes = {"num_cpus": 2, "object_store_memory": 80_000_000, "include_dashboard": False}
    ray.init(address="local", _node_ip_address="127.0.0.1", log_to_driver=False, **sizes)


def counters() -> list[int]:
    """The processes that count a shard now."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if (folder / "cmdline").read_bytes().startswith(b"ray::_count_remotely"):
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def kill_one(told: Told, killed: list[int]) -> threading.Thread:
    """SIGKILL to a worker that counts, once a shard is counted."""

    def watch() -> None:
        while not told.lines or not (working := counters()):
            time.sleep(0.005)
        os.kill(working[0], signal.SIGKILL)
        killed.append(working[0])

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def main(folder: Path, steps: int) -> None:
    world = torus(5, 6, observations=3, one_way_doors=4, seed=1)
    walks, truth = sample_walks(world, steps // LENGTH, LENGTH, np.random.default_rng(0))
    path = folder / "log.walks"
    save_walks(path, walks)
    first = walks.rows(slice(0, 60))
    run = cogmap.learn(first, folder / "run", steps=2, quiet=True, width=16, num_codes=8)
    found = build_map(Codes(truth.positions[:60, :, None], first.lengths, 30), first)
    log, shard = log_of(walks), steps // SHARDS
    save_map(folder / "here.npz", count_here(found, log, steps=shard))
    start_ray()
    told, killed = Told(), list[int]()
    killer = kill_one(told, killed)
    save_map(folder / "ray.npz", count_on_ray(found, log, run.folder, path, told, shard))
    killer.join(10)
    print(json.dumps({"killed": killed, "told": told.lines}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6_000_000)
