"""Run the campaigns: `python -m campaigns [--scale SHARE] [--out FOLDER] [kills | fuzz | requests | latency ...]`.

What was done is kept in the folder: a campaign that is stopped writes the table of what it did, and goes on there when
it is run again. On another commit it starts over; with --keep only what failed, or was not done, is done on that one,
and the table names the commit of each row.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # children are forked, and threads do not survive that

COLUMNS = ("campaign", "what", "attacks", "failures", "seconds", "commit", "command")
KILLS, INPUTS, REQUESTS, PLANNERS, SECONDS = 100, 100_000, 10_000, 200, 60.0
MOST_MILLISECONDS = 100  # p99 of a plan at 300 nodes, in a quiet run
Row = dict[str, Any]


class Kept:
    """Rows that are done, and failures in words, in a file that grows by a line each."""

    def __init__(self, folder: Path, commit: str, scale: float, seed: int, keep: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.seed, self.path = seed, folder / "done.jsonl"
        self._own = {"commit": commit, "scale": scale, "seed": seed}
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.done: dict[str, Row] = {}
        for row in map(json.loads, lines):
            same = all(row.get(name) == self._own[name] for name in ("scale", "seed"))
            if same and (row["commit"] == commit or (keep and not row["failures"])):
                self.done[row["what"]] = row

    def __contains__(self, what: str) -> bool:
        return what in self.done

    def add(self, what: str, attacks: int, failures: list[str], seconds: float) -> None:
        row = {"what": what, "attacks": attacks, "failures": failures, "seconds": seconds, **self._own}
        with self.path.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        self.done[what] = row
        for failure in failures:
            print(f"  {what}: {failure[:300]}", flush=True)


def kills(kept: Kept, folder: Path, scale: float) -> None:
    from campaigns.kills import STORIES, problems

    for story in STORIES:
        what = f"kills: {story.name}"
        if what not in kept:
            print(what, flush=True)
            started, moments = time.monotonic(), max(1, math.ceil(scale * KILLS / len(STORIES)))
            points = (
                None
                if scale >= 1
                else range(0, 10_000, max(1, round(1 / scale)) * 97)[: round(60 * scale) or 1]
            )
            found = list(problems(story, folder / "kills", moments, kept.seed, points))
            wrong = [f"{kill}: {problem}" for kill, problem in found if problem]
            kept.add(what, len(found), wrong, time.monotonic() - started)


def fuzz(kept: Kept, folder: Path, scale: float) -> None:
    from campaigns.fuzz import BATCH, batch, batches, whole_again
    from campaigns.material import material

    files = folder / "fuzz" / "files"
    if not whole_again(files):
        material(files)
    for name, first in batches(round(INPUTS * scale)):
        what = f"fuzz: {name} from {first}"
        if what not in kept:
            started = time.monotonic()
            kept.add(what, BATCH, batch(name, files, first, BATCH, kept.seed), time.monotonic() - started)


def requests(kept: Kept, folder: Path, scale: float) -> None:
    from campaigns.requests import attacked

    if "requests: hostile" not in kept:
        started = time.monotonic()
        found, plans, failed, _ = attacked(
            round(REQUESTS * scale), PLANNERS, SECONDS * min(scale, 1), kept.seed
        )
        seconds = time.monotonic() - started
        kept.add("requests: hostile", found.requests, found.failed, seconds)
        kept.add(f"requests: {PLANNERS} planners", plans, ["a plan failed"] * failed, 0.0)


def latency(kept: Kept, folder: Path, scale: float) -> None:
    """How long a plan takes: on a quiet machine, or it says nothing."""
    from campaigns.requests import beside_bare

    if not any(what.startswith("latency") for what in kept.done):
        started = time.monotonic()
        beside = beside_bare(PLANNERS, SECONDS * min(scale, 1) / 4)
        wrong = [] if beside.p99 < MOST_MILLISECONDS else [f"p99 must be below {MOST_MILLISECONDS} ms"]
        kept.add(f"latency: {beside}", beside.plans, wrong, time.monotonic() - started)


def rows_of(kept: Kept) -> list[Row]:
    """A row for each kind of attack that was made: as many as were, should the campaign have been stopped."""
    found: dict[tuple[str, str], list[Row]] = {}
    for what, done in kept.done.items():
        campaign, _, told = what.partition(": ")
        found.setdefault((campaign, told.partition(" from ")[0]), []).append(done)
    return [
        {
            "campaign": campaign,
            "what": told,
            "attacks": sum(done["attacks"] for done in every),
            "failures": sum(len(done["failures"]) for done in every),
            "seconds": round(sum(done["seconds"] for done in every)),
            "commit": " ".join(dict.fromkeys(done["commit"] for done in every)),
        }
        for (campaign, told), every in found.items()
    ]


CAMPAIGNS = {"kills": kills, "fuzz": fuzz, "requests": requests, "latency": latency}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m campaigns", description=__doc__)
    parser.add_argument(
        "campaigns", nargs="*", default=[], help="kills, fuzz, requests, latency; all of them by default"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of all attacks")
    parser.add_argument("--seed", type=int, default=0, help="of inputs, requests and moments")
    parser.add_argument("--keep", action="store_true", help="rows of earlier commits without failures")
    parser.add_argument("--out", type=Path, default=Path("runs/campaign"), help="what was done so far")
    parser.add_argument(
        "--results", type=Path, default=Path("results/campaign.csv"), help="the table as a file"
    )
    given = parser.parse_args()
    import torch

    from cogmap.experiments.commits import current_commit
    from cogmap.signals import raised_when_terminated

    torch.set_num_threads(1)
    commit = current_commit()
    kept = Kept(given.out, commit, given.scale, given.seed, given.keep)
    asked = given.campaigns or list(CAMPAIGNS)
    try:
        with raised_when_terminated():
            for name in asked:
                CAMPAIGNS[name](kept, given.out, given.scale)
    except KeyboardInterrupt:
        print("stopped; the same command resumes")
    command = " ".join(["python -m campaigns", *sys.argv[1:]])
    rows = [row | {"command": command} for row in rows_of(kept) if row["campaign"] in asked]
    _write(given.results, rows)
    for row in rows:
        print(
            f"{row['campaign']:10s} {row['what']:48s} {row['attacks']:8d} attacks {row['failures']:6d} failures"
        )
    print(f"wrote {given.results}")
    return 1 if any(row["failures"] for row in rows) else 0


def _write(path: Path, rows: list[Row]) -> None:
    """These rows in place of earlier ones of the same name; others stay, with the commit that they are of."""
    from cogmap.experiments.csv_rows import read_csv, write_csv

    fresh = {_name(row) for row in rows}
    write_csv(path, COLUMNS, [*(row for row in read_csv(path, COLUMNS) if _name(row) not in fresh), *rows])


def _name(row: Row) -> tuple[str, str]:
    """What a latency says of itself is what was measured."""
    return row["campaign"], "" if row["campaign"] == "latency" else row["what"]


if __name__ == "__main__":
    sys.exit(main())
