"""Training beside other busy processes: the number of threads that is chosen, against one thread and all cores.

Blocks of steps of the three take turns in one process, so that what else happens on the machine happens to all.

python -m benchmarks.neighbours
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from benchmarks._report import Figure, report
from benchmarks.training import base_config

from cogmap.environments.room import AliasedRoom
from cogmap.training.config import preset_configs
from cogmap.training.devices import Processes
from cogmap.training.loop import Trainer
from cogmap.training.split import split_walks
from cogmap.training.threads import own_threads
from cogmap.walks.sample import sample_walks

MOST = 1.15  # times the seconds of the better of one thread and all cores
ROUNDS, BLOCK = 6, 25  # blocks of steps of each


def _busy(parent: int) -> None:
    """Never rests, and ends with its parent, should that be killed."""
    while os.getppid() == parent:
        sum(range(100_000))


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """So many other processes that never rest."""
    start = multiprocessing.get_context("spawn").Process
    running = [start(target=_busy, args=(os.getpid(),), daemon=True) for _ in range(count)]
    for process in running:
        process.start()
    try:
        time.sleep(1)
        yield
    finally:
        for process in running:
            process.kill()
            process.join()


def trainer(encoder: str, threads: int | None) -> Trainer:
    room = AliasedRoom(height=6, width=8, observations=4, seed=0)
    walks, _ = sample_walks(room, 512, 400, np.random.default_rng(0))
    model, training = preset_configs("fast", base_config(walks, encoder=encoder), walks.observations.size)
    training = replace(training, bottleneck_from=0, threads=threads)
    return Trainer(model, training, split_walks(walks, None, 0), torch.device("cpu"), Processes())


def seconds_of_each(encoder: str, cores: int) -> dict[str, float]:
    """Seconds of the same number of steps with one thread, all cores, and the number that is chosen."""
    kinds = {"one": trainer(encoder, 1), "all": trainer(encoder, cores), "chosen": trainer(encoder, None)}
    spent = dict.fromkeys(kinds, 0.0)
    for _ in range(ROUNDS):
        for name, each in kinds.items():
            before = each.seconds
            for _ in range(BLOCK):
                each.step()
            spent[name] += each.seconds - before
    return spent


def main() -> bool:
    cores = len(os.sched_getaffinity(0))
    figures = []
    with own_threads():
        for encoder in ("gru", "transformer"):
            for count in (0, 1, 2):
                torch.set_num_threads(cores)
                with neighbours(count):
                    spent = seconds_of_each(encoder, cores)
                better = min(spent["one"], spent["all"])
                ratio = spent["chosen"] / better
                print(
                    f"{encoder}, {count} busy neighbour(s), {ROUNDS * BLOCK} steps: one thread {spent['one']:.1f} s, "
                    f"{cores} threads {spent['all']:.1f} s, chosen {spent['chosen']:.1f} s: "
                    f"{ratio:.2f} times the better (goal {MOST})",
                    flush=True,
                )
                figures.append(Figure(f"{encoder} beside {count}: chosen threads", ratio, most=MOST))
                figures.append(Figure(f"{encoder} beside {count}: all cores", spent["all"] / spent["one"]))
    return report("neighbours", figures)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
