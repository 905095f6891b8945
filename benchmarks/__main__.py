"""Run all benchmarks, or some by name, and write one page: `python -m benchmarks [name ...]`.

python -m benchmarks --compare COMMIT [name ...]      these sources against those of an earlier commit, in one run

A benchmark is a module here whose `main()` prints a table and returns true if every row is within its limit. One that
keeps its numbers with `_report.report` is plotted and can be compared. The page goes to results/bench/.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks._page import compared, measured

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
COMPARED = ("sizes",)  # by default: what runs in a minute


def main(arguments: Sequence[str]) -> int:
    earlier = list(arguments[:2]) if arguments[:1] == ["--compare"] else []
    names = list(arguments[len(earlier) :])
    unknown = [name for name in names if name not in NAMES]
    if unknown or len(earlier) == 1:
        got = (
            f"names must be of {', '.join(NAMES)}, got {unknown[0]!r}"
            if unknown
            else "--compare takes a commit"
        )
        print(f"benchmarks: {got}", file=sys.stderr)
        return 2
    if earlier:
        return compared(earlier[1], names or COMPARED)
    missed = measured(names or NAMES, lambda name: bool(import_module(f"benchmarks.{name}").main()))
    if missed:
        print(f"outside their limits: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
