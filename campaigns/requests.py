"""Hostile requests and many planners against the explorer, while its run folder is rewritten.

Every answer must come, and none may be a 500. In a quiet run, planning is compared with the barest answer of Starlette.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.explorer_load import crowd, processor_seconds, served, write_run

PATIENCE = 30.0  # seconds for an answer, or for a connection to be closed
PATHS = [
    "/", "/api/run", "/api/live", "/api/metrics", "/api/map/minimal", "/api/map/paper", "/api/room", "/api/replay/0",
    "/api/replay/0/3", "/api/view/0", "/api/concepts", "/api/plan", "/api/plans", "/api/locate", "/api/walks",
    "/api/walks/x", "/api/walks/x/steps", "/api/openapi.json", "/static/../server.py", "/static/%2e%2e/cli.py", "/%00",
    "/api/replay/99999999999", "/api/map/..%2f..%2fetc%2fpasswd", "//evil.example/", "/api/" + "a" * 5000,
    "http://localhost/api/run", "http://evil.example/api/run", "https://[::1/api", "*", "evil.example:443", "http://",
]  # fmt: skip
BODIES = [
    b"", b"{}", b"[]", b"null", b"{", b"[" * 50_000, b"\xff\xfe", b"9" * 5000, b'"\\ud800"', b"NaN", b"1e999",
    b'{"start": 0, "goal": 1}', b'{"start": -1, "goal": 1}', b'{"start": 1e99, "goal": 1}', b'{"problems": []}',
    b'{"start": 0, "goal": 5, "avoid": ["\\ud83d"]}', b'{"observations": [0], "actions": []}',
    b'{"problems": [{"start": 0, "goal": 299}]}', b'{"observations": [0, 1, 2, 3], "actions": [0, 1, 2]}',
    b'{"seed": 1, "actions": [0, 0, 1, 1]}', b'{"action": 0}', b'{"map": "paper", "start": 0, "goal": 1}',
    b'{"start": 0, "goal": 1, "x": ' + b"[" * 900 + b"]" * 900 + b"}", b"a" * 100_000,
]  # fmt: skip
HEADS = [
    "Host: localhost", "Host: evil.example", "Host: localhost\r\nHost: evil.example", "Host:", "", "Host: [::1]:1",
    "Host: localhost\r\nOrigin: https://evil.example", "Host: localhost\r\nContent-Type: text/plain",
    "Host: localhost\r\nContent-Type: application/json", "Host: localhost\r\nTransfer-Encoding: chunked",
    "Host: localhost\r\nX: " + "a" * 20_000, "Host: localhost\r\nIf-None-Match: \"x\"", "Host: localhost\r\nA\x01: b",
]  # fmt: skip


class Answered(NamedTuple):
    """What became of hostile requests."""

    requests: int
    failed: list[str]  # one line for each that got a 500 or no answer


def hostile(rng: random.Random) -> bytes:
    """The bytes of a request that nobody should send."""
    body = rng.choice(BODIES)
    head = rng.choice(HEADS if rng.random() < 0.4 else ["Host: localhost\r\nContent-Type: application/json"])
    method = rng.choice(["GET", "POST", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "get", "G\x00T"])
    length = len(body) if rng.random() < 0.9 else rng.choice([0, 1, 10**12, -1])
    sent = f"{method} {rng.choice(PATHS)} HTTP/1.1\r\n{head}\r\nConnection: close\r\n"
    if "chunked" not in head and (body or rng.random() < 0.5):
        sent += f"Content-Length: {length}\r\n"
    content = bytearray(sent.encode("latin-1") + b"\r\n" + body)
    if rng.random() < 0.15:
        content[rng.randrange(len(content))] ^= rng.randrange(1, 256)
    if rng.random() < 0.05:
        del content[rng.randrange(len(content)) :]
    return bytes(content)


async def send(port: int, content: bytes) -> str | None:
    """What is wrong with how a request was answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(content)
        if writer.can_write_eof():
            writer.write_eof()
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read()
    except TimeoutError:
        return f"no answer within {PATIENCE} s to {content[:80]!r}"
    except ConnectionError:
        return None  # refused without an answer, as a request that is none may be
    finally:
        writer.close()
    if answer.startswith(b"HTTP/1.1 500"):
        return f"{answer[-80:]!r} to {content[:80]!r}"
    return None


async def storm(port: int, requests: int, seed: int, at_once: int = 16) -> Answered:
    """Send hostile requests, some at once."""
    rng = random.Random(seed)
    waiting = [hostile(rng) for _ in range(requests)]
    failed: list[str] = []

    async def sender() -> None:
        while waiting:
            wrong = await send(port, waiting.pop())
            if wrong:
                failed.append(wrong)

    await asyncio.gather(*(sender() for _ in range(at_once)))
    return Answered(requests, failed)


def write_room(folder: Path) -> int:
    """A run on a room of 300 places; returns its nodes."""
    from cogmap.environments import AliasedRoom
    from cogmap.evaluation.ged import true_map

    found = true_map(AliasedRoom())
    write_run(folder, found)
    return found.num_nodes


@contextmanager
def rewritten(folder: Path) -> Iterator[None]:
    """Write the run's files again and again during the block, sometimes broken, the map always whole."""
    from cogmap.files import read_bytes, write_whole

    kept = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    broken = {
        "metrics.jsonl": [b"{", b'{"step": 1, "loss": NaN}\n'],
        "scores.json": [b"[]"],
        "views.npz": [b"x"],
    }
    stop = threading.Event()

    def rewrite() -> None:
        rng = random.Random(0)
        while not stop.wait(0.05):
            name = rng.choice([*kept, *broken])
            with write_whole(folder / name) as stream:
                stream.write(kept[name] if name in kept else rng.choice(broken[name]))

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        assert read_bytes(folder / "map.npz", ValueError) == kept["map.npz"]  # type: ignore[arg-type]


def attacked(
    requests: int, clients: int, seconds: float, seed: int = 0
) -> tuple[Answered, int, int, np.ndarray]:
    """Hostile requests, then planners, while the folder is rewritten: answers, plans, failed plans, milliseconds."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        nodes = write_room(folder)
        with served(folder) as (server, port), rewritten(folder):
            found = asyncio.run(storm(port, requests, seed))
            took, failed = asyncio.run(crowd(port, nodes, clients, seconds))
            if server.poll() is not None:
                found.failed.append(f"the server ended with {server.returncode}")
    return found, len(took), failed, 1000 * np.array(took)


_BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def answer(request):
    await request.body()
    return Response(b"{}", media_type="application/json")
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)
app = Starlette(routes=[Route("/api/plan", answer, methods=["POST"])])
Server(uvicorn.Config(app, port=0, log_level="error", access_log=False, loop="asyncio")).run()
"""


class Beside(NamedTuple):
    """Milliseconds of a plan at 300 nodes and of the barest answer, in one run."""

    p99: float
    bare_p99: float
    processor: float  # of the server, for each plan: does not depend on what else the machine does
    bare_processor: float
    plans: int

    def __str__(self) -> str:
        waits = f"p99 {self.p99:.1f} ms, {self.p99 / self.bare_p99:.2f} of a bare answer"
        ratio = self.processor / self.bare_processor
        return f"{waits}; {self.processor:.3f} ms of processor, {ratio:.2f} of a bare answer"


def beside_bare(clients: int, seconds: float) -> Beside:
    """A plan and the barest answer, one after the other."""
    with tempfile.TemporaryDirectory() as temporary:
        nodes = write_room(Path(temporary))
        with served(Path(temporary)) as (explorer, port):
            own = _waited(explorer.pid, port, nodes, clients, seconds)
    with subprocess.Popen([sys.executable, "-c", _BARE], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        bare = _waited(server.pid, port, nodes, clients, seconds)
        server.terminate()
    return Beside(own[0], bare[0], own[1], bare[1], own[2])


def _waited(server: int, port: int, nodes: int, clients: int, seconds: float) -> tuple[float, float, int]:
    """p99 of the answers of a server, and its processor time for each, in milliseconds; and how many they were."""
    asyncio.run(crowd(port, nodes, 4, 0.5))  # to warm up
    before = processor_seconds(server)
    took, _ = asyncio.run(crowd(port, nodes, clients, seconds))
    spent = processor_seconds(server) - before
    return float(np.percentile(took, 99)) * 1000, 1000 * spent / len(took), len(took)
