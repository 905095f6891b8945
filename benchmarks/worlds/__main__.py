"""The bench of worlds: `make bench-worlds`, or `python -m benchmarks.worlds` with options.

TDB by a GRU beside other methods, on logs of every world and of 200,000, 50,000 and 10,000 steps, each cell
in a process and a thread of its own. `--methods` and `--sizes` ask for others: the transformer, 1,000,000 steps.
A cell that was measured is not measured again, so that the bench may be killed at any time; `--again` with `--methods
tdb` measures one method again. Rows go to results/worlds.csv as they come, pictures beside it. `--table` measures
nothing and prints the tables of docs/comparison.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cogmap.errors import CogmapError
from cogmap.experiments.cell_rows import merge_table, read_table
from cogmap.experiments.cells import check_methods, run_cells
from cogmap.experiments.commits import check_commits, current_commit
from cogmap.experiments.standing import tables
from cogmap.experiments.worlds import METHODS, SIZES, WORLDS, bench_cells, unseen_moves
from cogmap.report.comparison_figures import accuracy_by_steps, accuracy_by_time
from cogmap.report.style import save_figure
from cogmap.signals import raised_when_terminated

TABLE = "worlds.csv"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument(
        "--minutes", type=float, default=None, help="for each method and log, at the most; by default 1 to 10"
    )
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--again", action="store_true", help="measure again what is measured")
    parser.add_argument("--out", type=Path, default=Path("runs/worlds"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument(
        "--table", action="store_true", help="print the tables of what was measured, and no more"
    )
    args = parser.parse_args()
    try:
        if args.table:
            print(
                "\n\n".join(
                    "\n".join(part) for part in tables(read_table(args.results / TABLE), args.methods)
                )
            )
            return 0
        check_methods(args.methods)
        check_commits(args.results, [current_commit()])
        cells = bench_cells(
            tuple(args.worlds), tuple(args.methods), tuple(args.sizes), args.seeds, args.minutes, args.out
        )
        rows = merge_table(args.results / TABLE, ())
        for row in run_cells(cells, args.jobs, args.again, lambda line: print(line, flush=True)):
            row["unseen_moves"] = unseen_moves(row["log"], row["steps"], row["seed"])
            rows = merge_table(args.results / TABLE, [row])
    except CogmapError as problem:
        print(f"worlds: {problem}", file=sys.stderr)
        return 2
    save_figure(accuracy_by_time(rows), args.results / "worlds-time.png")
    save_figure(accuracy_by_steps(rows), args.results / "worlds-steps.png")
    return 0


if __name__ == "__main__":
    with raised_when_terminated():  # so that no process of a cell outlives the bench
        sys.exit(main())
