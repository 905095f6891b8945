"""Two processes of one thread that share every batch, against one process of one thread, in turns.

python -m benchmarks.processes
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import time
from typing import Any

import torch
from benchmarks._report import Figure, report
from benchmarks.neighbours import trainer

from cogmap.training.devices import joined_processes
from cogmap.training.loop import Trainer

STEPS, ROUNDS = 15, 3
LEAST = 1.6  # times as fast as one process, on a quiet machine


def _rank(rank: int, count: int, port: int, encoder: str, told: Any) -> None:
    os.environ |= {
        "RANK": str(rank), "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    torch.set_num_threads(1)
    alone, shared = trainer(encoder, 1), None
    alone.step()
    for _ in range(ROUNDS):
        if rank == 0:
            told.put(("one", _seconds(alone)))
        with joined_processes(torch.device("cpu")) as processes:  # waits for the first one
            shared = shared or Trainer(alone.model.config, alone.config, alone.data, alone.device, processes)
            shared.step()
            torch.distributed.barrier()
            seconds = _seconds(shared)
            if rank == 0:
                told.put(("two", seconds))


def _seconds(each: Trainer) -> float:
    started = time.perf_counter()
    for _ in range(STEPS):
        each.step()
    return time.perf_counter() - started


def speeds(encoder: str) -> dict[str, float]:
    """The best seconds of some steps by one process and by two."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    ranks = [context.Process(target=_rank, args=(rank, 2, port, encoder, told)) for rank in range(2)]
    for process in ranks:
        process.start()
    found = [told.get() for _ in range(2 * ROUNDS)]
    for process in ranks:
        process.join()
    return {name: min(seconds for of, seconds in found if of == name) for name in ("one", "two")}


def main() -> bool:
    figures = []
    for encoder in ("transformer", "gru"):
        best = speeds(encoder)
        ratio = best["one"] / best["two"]
        print(
            f"{encoder}, {STEPS} steps: one process {best['one']:.1f} s, two {best['two']:.1f} s: "
            f"{ratio:.2f} times as fast (goal {LEAST} on a quiet machine)",
            flush=True,
        )
        figures.append(Figure(f"{encoder}: two processes", ratio, least=LEAST))
    return report("processes", figures)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
