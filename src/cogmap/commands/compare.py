"""Compare TDB with CSCG, automata learners and n-grams on one log, in equal time: a table and two pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json


@dataclass(frozen=True)
class Args:
    """Compare TDB with CSCG, automata learners and n-grams on one log, in equal time: a table and two pictures."""

    log: tyro.conf.Positional[Path]
    """walks to learn from: npz, jsonl or csv"""
    test: Path
    """walks to score on, of the same place; with <name>.truth.npz beside it also for exactness and plans"""
    out: Path = Path("comparison")
    """folder for the table, the pictures and the runs; the same command again resumes"""
    methods: tuple[str, ...] = ()
    """some of tdb (a GRU), tdb-transformer, vanilla, cscg, rpni, edsm, alergia and ngram; all by default"""
    sizes: tuple[int, ...] = ()
    """numbers of steps to learn from, for a learning curve; by default a sixteenth, a quarter and all"""
    minutes: float = 5.0
    """time limit for each method and size"""
    seed: int = 0
    """seed of every method"""
    jobs: int | None = None
    """methods at once, each with a process and a thread; by default the number of free cores"""
    json: bool = False
    """print the rows as JSON, and nothing else"""


def run(args: Args) -> None:
    from cogmap.experiments.comparison import STEPS_PICTURE, TABLE, TIME_PICTURE, compare, table_lines

    def tell(line: str) -> None:
        if not args.json:
            print(line, flush=True)

    rows = compare(
        args.log, args.test, args.out, args.methods, args.sizes, args.minutes, args.seed, args.jobs, tell
    )
    if args.json:
        print_json(rows)
        return
    print("\n".join(table_lines(rows)))
    print(f"wrote {args.out / TABLE}, {TIME_PICTURE} and {STEPS_PICTURE} beside it")
