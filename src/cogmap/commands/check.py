"""Say what a walks file holds: walks, steps, vocabulary, how aliased the place looks, and what is odd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from cogmap.commands.output import print_json
from cogmap.records import Labels, Walks, label_of
from cogmap.walks.store import load_walks
from cogmap.walks.summary import LOOK_AHEAD, Summary, summarise
from cogmap.walks.truth_store import load_truth, truth_path

SHOWN = 12  # observations listed for people; --json has them all


@dataclass(frozen=True)
class Args:
    """Say what a walks file holds, and what is odd about it."""

    file: tyro.conf.Positional[Path]
    """walks to look at: .npz, .jsonl or .csv"""
    like: Path | None = None
    """walks whose vocabulary these must share, say the training set of a test set"""
    json: bool = False
    """print everything as JSON"""


def run(args: Args) -> None:
    like = None if args.like is None else load_walks(args.like)
    walks = load_walks(args.file, like)
    summary = summarise(walks)
    places = _true_places(args.file, walks)
    if args.json:
        print_json(_described(args.file, walks, summary, places))
    else:
        _tell(args.file, walks, summary, places)


def _true_places(file: Path, walks: Walks) -> int | None:
    """Positions of the true world, where the truth lies beside the walks and is theirs."""
    return load_truth(file, walks).world.num_positions if truth_path(file).exists() else None


def _described(file: Path, walks: Walks, summary: Summary, places: int | None) -> dict[str, Any]:
    return {
        "file": str(file),
        "num_walks": walks.num_walks,
        "shortest": int(walks.lengths.min()),
        "longest": int(walks.lengths.max()),
        "total_steps": int(walks.lengths.sum()),
        "num_observations": walks.num_observations,
        "num_actions": walks.num_actions,
        "actions": _by_label(walks.action_labels, summary.action_counts.tolist()),
        "observations": {
            label: {"seen": seen, "next_entropy_bits": round(entropy, 4), "places_at_least": bound}
            for label, seen, entropy, bound in zip(
                _by_label(walks.observation_labels, [0] * walks.num_observations),
                summary.observation_counts.tolist(),
                summary.next_entropy.tolist(),
                summary.min_places.tolist(),
                strict=True,
            )
        },
        "next_entropy_bits": round(summary.mean_entropy, 4),
        "places_at_least": int(summary.min_places.sum()),
        "true_places": places,
        "problems": list(summary.problems),
    }


def _by_label(labels: Labels | None, values: list[int]) -> dict[str, int]:
    return {str(label_of(labels, index)): value for index, value in enumerate(values)}


def _tell(file: Path, walks: Walks, summary: Summary, places: int | None) -> None:
    short, long = walks.lengths.min(), walks.lengths.max()
    steps = f"{long} steps" if short == long else f"{short} to {long} steps"
    print(f"{file}: {walks.num_walks} walks of {steps}, {walks.lengths.sum()} steps in all")
    print(f"{walks.num_actions} actions: {_listed(walks.action_labels, summary.action_counts.tolist())}")
    print(f"{walks.num_observations} observations, {_aliasing(summary)}")
    print(f"  {'observation':<16}{'seen':>10}{'doubt (bits)':>14}{'places (at least)':>19}")
    for index in summary.observation_counts.argsort(kind="stable")[::-1][:SHOWN]:
        label = str(label_of(walks.observation_labels, index))
        numbers = summary.observation_counts[index], summary.next_entropy[index], summary.min_places[index]
        print(f"  {label[:15]:<16}{numbers[0]:>10}{numbers[1]:>14.2f}{numbers[2]:>19}")
    if walks.num_observations > SHOWN:
        print(f"  ... and {walks.num_observations - SHOWN} more (--json has them all)")
    print("truth: " + ("none beside it" if places is None else f"{truth_path(file)}, {places} places"))
    for problem in summary.problems:
        print(f"problem: {problem}")
    if not summary.problems:
        print("no problems found")


def _aliasing(summary: Summary) -> str:
    if summary.mean_entropy == 0:
        return "none aliased: what is seen and done settles what is seen next"
    doubt = f"{summary.mean_entropy:.2f} bits of doubt about the next one given the action"
    return f"{doubt}; {LOOK_AHEAD} actions tell at least {summary.min_places.sum()} places apart"


def _listed(labels: Labels | None, counts: list[int]) -> str:
    parts = [f"{label} {count}" for label, count in _by_label(labels, counts).items()]
    return ", ".join(parts[:SHOWN]) + (", ..." if len(parts) > SHOWN else "")
