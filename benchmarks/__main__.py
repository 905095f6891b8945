"""Run all benchmarks, or some by name: `python -m benchmarks [name ...]`.

A benchmark is a module here whose `main()` prints a table and returns true if every row is within its limit.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def main(names: Sequence[str]) -> int:
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"benchmarks: names must be of {', '.join(NAMES)}, got {min(unknown)!r}", file=sys.stderr)
        return 2
    missed = [name for name in names or NAMES if not import_module(f"benchmarks.{name}").main()]
    if missed:
        print(f"outside their limits: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
