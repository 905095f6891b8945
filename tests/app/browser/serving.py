"""`cogmap serve` as a process of its own, to be asked, killed and started again."""

import re
import select
import subprocess
import sys
from contextlib import contextmanager


class Serving:
    """A server that is started at the same port every time."""

    def __init__(self, run, walks=None):
        self.command = [sys.executable, "-m", "cogmap", "serve", str(run)]
        self.command += [] if walks is None else ["--walks", str(walks)]
        self.port = 0
        self.process = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    def start(self):
        self.process = subprocess.Popen(
            [*self.command, "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        line = self.process.stdout.readline() if ready else "nothing within a minute"
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if found is None:
            raise AssertionError(f"cogmap serve said {line}{self.kill()}")
        self.port = int(found[1])

    def kill(self):
        """End it without a warning, as a crash would. What it had still to say."""
        self.process.kill()
        return self.process.communicate()[0]


@contextmanager
def serving(run, walks=None):
    server = Serving(run, walks)
    server.start()
    try:
        yield server
    finally:
        server.kill()
