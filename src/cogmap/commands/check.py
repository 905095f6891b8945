"""Say what a walks file holds: walks, steps, vocabulary, how aliased the place looks, and what is odd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from cogmap.commands.output import print_json
from cogmap.records import Walks
from cogmap.walks.log import WalkLog
from cogmap.walks.store import load_walks
from cogmap.walks.summary import summarise
from cogmap.walks.truth_store import count_true_places, load_truth, truth_path

SHOWN = 12  # observations listed for people; --json has them all


@dataclass(frozen=True)
class Args:
    """Say what a walks file holds, and what is odd about it."""

    file: tyro.conf.Positional[Path]
    """walks to look at: .npz, .jsonl, .csv or .walks"""
    like: Path | None = None
    """walks whose vocabulary these must share, say the training set of a test set"""
    json: bool = False
    """print everything as JSON"""


def run(args: Args) -> None:
    like = None if args.like is None else load_walks(args.like)
    walks = load_walks(args.file, like)
    summary, truth = summarise(walks), truth_path(args.file)
    places = _places(args.file, walks) if truth.exists() else None
    if args.json:
        found = {"file": str(args.file), **summary.described(walks)}
        print_json(found | {"true_places": places, "problems": summary.problems})
        return
    print(f"{args.file}: {summary.text(walks, SHOWN)}")
    print("truth: " + ("none beside it" if places is None else f"{truth}, {places} places"))
    print("\n".join(f"problem: {problem}" for problem in summary.problems) or "no problems found")


def _places(file: Path, walks: Walks) -> int:
    """The places of the true world. That of a log may lack positions to hold against the walks."""
    if isinstance(walks, WalkLog):
        return count_true_places(file)
    return load_truth(file, walks).world.num_positions
