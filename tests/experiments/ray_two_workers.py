"""A table by two Ray workers on loopback, one of them killed in the middle. Run by test_ray_engine.py, or by hand:

python tests/experiments/ray_two_workers.py FOLDER

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
from dataclasses import asdict
from pathlib import Path

from cogmap.environments.room import AliasedRoom
from cogmap.experiments import TABLES, Options, Running, Trial, reproduce, trials_of
from cogmap.experiments.ledger import read_step
from cogmap.experiments.places import Places

TINY = Places(
    "4x5 room",
    lambda seed: AliasedRoom(height=4, width=5, observations=4, patch=2, seed=seed),
    ("TDB(S=3, M=1)", "TDB(S=3, M=4)", "Vanilla LSTM"),
    walks=40,
    steps=60,
    context_length=10,
    test_walks=20,
    change={"width": 16, "num_codes": 16, "head_width": 16, "batch_size": 8, "validate_every": 20},
)
STEPS, KILLED_AT = 600, 100


def asked(folder: Path) -> Options:
    return Options(encoder="gru", steps=STEPS, out=folder / "runs", results=folder / "rows")


def start_ray() -> None:
    """A cluster of this machine alone, on loopback, for two trials at once."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # ports are open to all
    import ray

    sizes = {"num_cpus": 2, "object_store_memory": 80_000_000, "include_dashboard": False}
    ray.init(address="local", _node_ip_address="127.0.0.1", log_to_driver=False, **sizes)


def kill_in_the_middle(trials: list[Trial], killed: list[dict[str, object]]) -> threading.Thread:
    """SIGKILL to the worker of the first trial, while it trains between two checkpoints and another trial runs."""

    def watch() -> None:
        while (seen := read_step(trials[0])) is None or seen.step < KILLED_AT or read_step(trials[1]) is None:
            time.sleep(0.02)
        os.kill(seen.pid, signal.SIGKILL)
        killed.append(asdict(seen))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def main(folder: Path) -> None:
    TABLES["tiny"] = TINY
    calm, storm = asked(folder / "calm"), asked(folder / "storm")
    reproduce("tiny", calm, lambda line: None, Running(jobs=1))
    start_ray()
    trials, killed, told = trials_of("tiny", storm), [], []  # type: ignore[var-annotated]
    killer = kill_in_the_middle(trials, killed)
    reproduce("tiny", storm, told.append, Running(engine="ray"))
    killer.join()
    again: list[str] = []
    reproduce("tiny", storm, again.append, Running(engine="ray"))
    steps = [read_step(trial) for trial in trials]
    found = {"killed": killed, "workers": [step.pid for step in steps if step is not None]}
    print(json.dumps({**found, "driver": os.getpid(), "told": told, "again": again}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
