"""Peak memory and time of a long log: drawn, checked, converted, learned from. Memory must not grow with the log.

python -m benchmarks.logs [STEPS]        ten million steps by default
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks._report import Figure, report

MOST_GIGABYTES = 2.0
WALK = 400  # steps of each walk
CONVERTED = 20_000  # walks at most that go through CSV


def peak_of(*command: str) -> tuple[float, float]:
    """Gigabytes at the most and seconds of a command of the package."""
    script = (
        "import resource, subprocess, sys\n"
        "code = subprocess.call([sys.executable, '-m', 'cogmap', *sys.argv[1:]], stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(code)"
    )
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *command], check=True, capture_output=True, text=True
    )
    return int(done.stdout.split()[-1]) / 2**20, time.perf_counter() - started


def main(steps: int = 10_000_000) -> bool:
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        log, few, table = (str(Path(folder) / name) for name in ("log.walks", "few.walks", "few.csv"))
        room = ("walk", "room", "--height", "6", "--width", "8", "--steps", str(WALK))
        walks = steps // WALK
        part = min(walks, CONVERTED)
        for name, size, command in (
            ("draw", walks, (*room, "--walks", str(walks), "--out", log)),
            ("check", walks, ("check", log)),
            (
                "learn for a minute",
                walks,
                ("learn", log, "--out", f"{folder}/run", "--encoder", "gru", "--minutes", "1"),
            ),
            ("draw to convert", part, (*room, "--walks", str(part), "--out", few)),
            ("write CSV", part, ("convert", few, "--out", table)),
            ("convert CSV", part, ("convert", table, "--out", f"{folder}/again.walks")),
        ):
            peak, seconds = peak_of(*command)
            print(
                f"{name}: {size * WALK:,} steps, peak {peak:.2f} GB (goal {MOST_GIGABYTES}), {seconds:.0f} s",
                flush=True,
            )
            figures.append(
                Figure(f"{name}: peak of memory", peak, "GB", size=size * WALK, most=MOST_GIGABYTES)
            )
    return report("logs", figures)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:2])) else 1)
