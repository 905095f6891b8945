"""Summarise a walks file: its size, how aliased it is, what looks wrong, and how much more data a map needs."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro

from cogmap.commands.output import print_json
from cogmap.records import Walks
from cogmap.training.config import MOST_LOGITS, SMALL_LOG, TrainingConfig
from cogmap.training.judgement import known_start
from cogmap.walks.advice import advise
from cogmap.walks.log import WalkLog, total_steps
from cogmap.walks.quantize import cluster_curve, without_views
from cogmap.walks.store import load_walks
from cogmap.walks.summary import summarise
from cogmap.walks.truth_store import count_true_places, load_truth, truth_path
from cogmap.walks.views import ViewWalks

SHOWN = 12  # observations listed for people; --json has them all
# Of a training step of the GRU, as measured: 0.067 s on a core with 1e11 products a second. Logs took so many steps.
FLOPS_OF_A_STEP, STEPS = 6.7e9, (500, 2500)


@dataclass(frozen=True)
class Args:
    """Summarise a walks file, and warn about what looks wrong in it."""

    file: tyro.conf.Positional[Path]
    """walks to check: .npz, .jsonl, .csv or .walks"""
    like: Path | None = None
    """walks whose vocabulary these must share, such as the training set of a test set"""
    json: bool = False
    """print everything as JSON"""


def run(args: Args) -> None:
    like = None if args.like is None else load_walks(args.like)
    read = load_walks(args.file, like)
    walks, views = _clustered(read)
    summary, truth = summarise(walks), truth_path(args.file)
    places = _places(args.file, read) if truth.exists() else None
    # Advice reads all walks at once, which may be larger than memory.
    advice = None if isinstance(walks, WalkLog) else advise(walks, summary, known_start(walks))
    minutes = learning_minutes(walks)
    if args.json:
        found = {"file": str(args.file), **summary.described(walks)}
        found |= {"true_places": places, "problems": summary.problems, "advice": advice and asdict(advice)}
        print_json(found | {"views": views, "minutes": [round(each, 1) for each in minutes]})
        return
    print(f"{args.file}: {summary.text(walks, SHOWN)}")
    print("truth: " + ("none beside it" if places is None else f"{truth}, {places} places"))
    if views is not None:
        print(f"views: {views}")
    for line in () if advice is None else advice.lines(walks, summary):
        print(f"advice: {line}")
    took = f"some {minutes[0]:.0f} to {minutes[1]:.0f} minutes here, as busy as it is now"
    print(f"advice: `cogmap learn` will take {took}; `--minutes 3` limits it")
    print("\n".join(f"problem: {problem}" for problem in summary.problems) or "no problems found")


def _places(file: Path, walks: Walks) -> int:
    """The places of the true world. The truth of a log may have no positions to compare with the walks."""
    if isinstance(walks, WalkLog):
        return count_true_places(file)
    return load_truth(file, walks).world.num_positions


def _clustered(walks: Walks) -> tuple[Walks, str | None]:
    """Walks of observations; for views their clusters, and notes on these."""
    if not isinstance(walks, ViewWalks):
        return walks, None
    curve = cluster_curve(walks)
    clustered, _ = without_views(walks, None if curve is None else curve.best)
    return clustered, "each is its own cluster, they repeat" if curve is None else curve.sentence()


def learning_minutes(walks: Walks) -> tuple[float, float]:
    """A range of how long a training should take on this machine, as busy as it is now."""
    size = np.ones((512, 512), dtype=np.float32)
    began = time.perf_counter()
    for _ in range(20):
        size @ size
    speed = 20 * 2 * 512**3 / max(time.perf_counter() - began, 1e-6)
    wide = total_steps(walks) >= SMALL_LOG
    products = FLOPS_OF_A_STEP * (2.5 if wide else 1.0) + _of_logits(
        walks.num_observations, 256 if wide else 128
    )
    minute = products / speed / 60
    return max(1.0, STEPS[0] * minute), max(1.0, STEPS[1] * minute)


def _of_logits(num_observations: int, width: int, heads: int = 3) -> float:
    """Products of a training step that score observations, forward and backward: with many words, most of them."""
    usual = TrainingConfig()
    logits = min(usual.batch_size * usual.window * heads * num_observations, MOST_LOGITS)
    return 6.0 * width * logits
