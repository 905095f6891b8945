"""Trials on this machine: one process and one thread each, as many at once as there are free cores."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from cogmap.experiments.ledger import log_line
from cogmap.experiments.runner import Outcome, attempt

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
RETRIES = 3  # of a trial whose process was killed; each resumes from the checkpoint
LOOK_EVERY = 0.5  # seconds
GRACE = 5.0  # seconds in which a training that was left behind may end by itself


def free_cores() -> int:
    """Cores that this process may use and that were idle in the last minute, at least one."""
    from loky import cpu_count

    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, cpu_count() - round(busy))


def run_locally(
    jobs: Sequence[Any], at_once: int, work: Callable[[Any], Outcome] = attempt
) -> Iterator[Outcome | None]:
    """The outcomes as they come, and None now and then in between, so that progress can be shown.

    work: what a process does with a job; a job has a `trial`, whose folder and title are asked for.
    """
    slots = Slots(work)
    with ThreadPoolExecutor(at_once) as threads:
        waiting: set[Future[Outcome]] = {threads.submit(slots.run, job) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, LOOK_EVERY, FIRST_COMPLETED)
                yield from (future.result() for future in done)
                yield None
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            slots.kill()
            raise


class Slots:
    """The processes of the trials in progress. A trial has its own, so that killing one does not end others."""

    def __init__(self, work: Callable[[Any], Outcome] = attempt) -> None:
        from loky import ProcessPoolExecutor

        self._work = work
        self._new = ProcessPoolExecutor
        self._live: set[ProcessPoolExecutor] = set()
        self._stopped = False

    def run(self, job: Any) -> Outcome:
        from loky.process_executor import TerminatedWorkerError

        for _ in range(1 + RETRIES):
            process = self._new(max_workers=1, env=ONE_THREAD, initializer=_begin, initargs=(os.getpid(),))
            self._live.add(process)
            try:
                return process.submit(self._work, job).result()
            except TerminatedWorkerError:
                if self._stopped:
                    break
                log_line(job.trial, "its process was killed")
            finally:
                self._live.discard(process)
                process.shutdown(wait=True, kill_workers=True)
        return Outcome(job.trial, failed=f"its process was killed {1 + RETRIES} times")

    def kill(self) -> None:
        """End all processes; their trainings can be resumed."""
        self._stopped = True
        for process in list(self._live):
            process.shutdown(wait=False, kill_workers=True)


def _begin(parent: int) -> None:
    """Ctrl-C goes to all processes of a terminal: the first one ends the others, and if it is killed they follow."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    """End this process some seconds after its parent: an idle one would wait for its next job forever."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    time.sleep(GRACE)
    os._exit(1)
