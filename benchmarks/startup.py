"""The time of `import cogmap` and `cogmap --help`, compared with Python's own start.

python -m benchmarks.startup
"""

from __future__ import annotations

import resource
import subprocess
import sys

REPEATS = 7
ROWS = {  # what is run: (arguments, limit in seconds)
    "python -c pass": (["-c", "pass"], None),
    "import cogmap": (["-c", "import cogmap"], 0.3),
    "import numpy": (["-c", "import numpy"], None),
    "cogmap --help": (["-m", "cogmap", "--help"], 0.5),
    "cogmap walk --help": (["-m", "cogmap", "walk", "--help"], None),
}


def seconds_of(arguments: list[str]) -> float:
    """Processor time of a new Python process, the best of a few tries; the first one may compile modules."""
    times = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> bool:
    """Print the table; true if every row is within its limit."""
    print(f"start-up, processor time, best of {REPEATS}")
    good = True
    for name, (arguments, limit) in ROWS.items():
        spent = seconds_of(arguments)
        good &= limit is None or spent < limit
        print(f"  {name:20s} {spent:.3f} s" + ("" if limit is None else f" (limit {limit} s)"))
    return good


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
