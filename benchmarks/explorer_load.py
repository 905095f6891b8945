"""The explorer under load: 200 clients that plan at once, on loopback, with the server in its own process.

python -m benchmarks explorer_load

Every client keeps its connection and requests its next plan as soon as it has the last one: the worst case. All clients
run in one process on the other core and read answers as bytes, so that they cost little.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cogmap.environments import AliasedRoom
from cogmap.environments.table import from_tables
from cogmap.evaluation.ged import true_map
from cogmap.files import write_json
from cogmap.maps.store import save_map
from cogmap.records import CognitiveMap, TableWorld

from .planning import grid

CLIENTS, SECONDS = 200, 6.0
SLOWEST = 100.0  # milliseconds, of 99 in 100 plans at 300 nodes
LARGE_SIDE = 100


def large_world() -> TableWorld:
    colours = np.random.default_rng(0).integers(4, size=LARGE_SIDE**2)
    return from_tables(grid(LARGE_SIDE).next_position, colours)


def write_run(folder: Path, found: CognitiveMap) -> None:
    """Write the minimum that a run folder needs to be served."""
    seen = found.num_observations
    sizes = {"num_observations": seen, "num_targets": seen, "num_actions": found.num_actions}
    config = {"format": 1, "name": "TDB(S=3, M=1)", "model": sizes, "training": {}}
    write_json(folder / "config.json", config)
    save_map(folder / "map.npz", replace(found, kind="minimal"))


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`cogmap serve` in its own process, and its port."""
    command = [sys.executable, "-m", "cogmap", "serve", str(folder), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline() if server.stdout else ""
        yield server, int(line.partition("127.0.0.1:")[2].partition("/")[0])
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(10)
        if server.stdout:
            server.stdout.close()


def request(start: int, goal: int) -> bytes:
    body = b'{"start": %d, "goal": %d}' % (start, goal)
    head = "POST /api/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, asked: bytes) -> int:
    """Send one request over an open connection; returns its status."""
    writer.write(asked)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


async def client(port: int, nodes: int, seed: int, until: float, took: list[float]) -> int:
    """Request plans between random nodes until the time is over; returns how many did not have status 200."""
    rng = np.random.default_rng(seed)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    failed = 0
    while time.perf_counter() < until:
        start, goal = rng.integers(nodes, size=2).tolist()
        began = time.perf_counter()
        failed += await ask(reader, writer, request(start, goal)) != 200
        took.append(time.perf_counter() - began)
    writer.close()
    return failed


async def crowd(port: int, nodes: int, clients: int, seconds: float) -> tuple[list[float], int]:
    """Run all clients at once; returns the seconds of each plan, and the number of failures."""
    took: list[float] = []
    until = time.perf_counter() + seconds
    failed = await asyncio.gather(*(client(port, nodes, seed, until, took) for seed in range(clients)))
    return took, sum(failed)


class Outcome(NamedTuple):
    took: np.ndarray  # (R,) milliseconds that clients waited for each plan
    failed: int
    spent: float  # milliseconds of the server's processor time per plan
    seconds: float


def under_load(found: CognitiveMap, clients: int, seconds: float) -> Outcome:
    """Measure a server with this map under many clients."""
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), found)
        with served(Path(folder)) as (server, port):
            asyncio.run(crowd(port, found.num_nodes, 4, 0.5))  # to warm up
            before = processor_seconds(server.pid)
            took, failed = asyncio.run(crowd(port, found.num_nodes, clients, seconds))
            spent = processor_seconds(server.pid) - before
    return Outcome(1000 * np.array(took), failed, 1000 * spent / len(took), seconds)


def processor_seconds(process: int) -> float:
    """Processor time of a process so far; nan where there is no /proc."""
    path = Path(f"/proc/{process}/stat")
    if not path.exists():
        return float("nan")
    ticks = path.read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def print_row(name: str, found: Outcome, slowest: float) -> bool:
    p50, p99 = np.percentile(found.took, [50, 99])
    waits = f"p50 {p50:6.1f} ms  p99 {p99:6.1f} ms (limit {slowest:g})"
    work = f"{len(found.took) / found.seconds:6.0f} plans/s, {found.spent:.2f} ms of processor each"
    print(f"  {name:26s} {waits}  {work}  {found.failed} errors")
    return p99 < slowest and found.failed == 0


def killed_and_restarted() -> bool:
    """SIGKILL under load, twice; then the run must open as before."""
    found = true_map(AliasedRoom())
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), found)
        for _ in range(2):
            with served(Path(folder)) as (server, port):
                asyncio.run(_kill_under_load(server, port, found.num_nodes))
        with served(Path(folder)) as (_, port):
            took, failed = asyncio.run(crowd(port, found.num_nodes, 4, 0.5))
    print(f"  killed twice under load, then served again: {len(took)} plans, {failed} errors")
    return bool(took) and failed == 0


async def _kill_under_load(server: subprocess.Popen[str], port: int, nodes: int) -> None:
    asked = asyncio.gather(
        *(client(port, nodes, seed, time.perf_counter() + 5, []) for seed in range(50)),
        return_exceptions=True,
    )
    await asyncio.sleep(0.5)
    os.kill(server.pid, signal.SIGKILL)
    await asked


def main() -> bool:
    """Print the table; true if every row is within its limit."""
    print("the explorer, wall time of clients on loopback, server and clients in one process each")
    small, large = true_map(AliasedRoom()), true_map(large_world())
    good = print_row("one client, 300 nodes", under_load(small, 1, 2), SLOWEST)
    good &= print_row("one client, 10,000 nodes", under_load(large, 1, 2), 500)
    good &= print_row("200 clients, 300 nodes", under_load(small, CLIENTS, SECONDS), SLOWEST)
    good &= print_row("200 clients, 10,000 nodes", under_load(large, CLIENTS, SECONDS), 500)
    return good & killed_and_restarted()


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
