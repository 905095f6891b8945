"""Processes of trials end with the one that started them, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

STARTS = """
import os, sys, time
from types import SimpleNamespace
from cogmap.experiments import local

def work(job):
    print(os.getpid(), flush=True)
    time.sleep(600)

local.GRACE = 0.1
for outcome in local.run_locally([SimpleNamespace(trial=None)], 1, work):
    pass
"""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes as POSIX has them")
def test_a_worker_ends_after_its_parent_was_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    while is_alive(worker):  # a worker that stays would hang this test
        time.sleep(0.1)
