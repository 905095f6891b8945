"""What commands that put walks to a run share: reading them in the run's vocabulary, and choosing its map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from cogmap.records import CognitiveMap, Truth, Walks
from cogmap.text_learning import PIECE, stored_reading
from cogmap.walks.store import load_walks, naming
from cogmap.walks.text import load_text
from cogmap.walks.truth_store import load_truth, truth_path
from cogmap.walks.views import ViewWalks

if TYPE_CHECKING:
    from cogmap.run import Run

MapKind = Literal["minimal", "paper"]


def walks_for(run: Run, path: Path) -> Walks:
    """Walks from a file in the run's own vocabulary: a label that it never saw is told in one line.

    Views are seen through the run's quantizer.
    """
    known = Walks(
        observations=np.zeros((1, 2), dtype=np.int32),
        actions=np.zeros((1, 1), dtype=np.int32),
        lengths=np.array([2], dtype=np.int32),
        num_observations=run.config.num_observations,
        num_actions=run.config.num_actions,
        observation_labels=run.observation_labels,
        action_labels=run.action_labels,
    )
    reading = stored_reading(run.folder) if path.suffix == ".txt" else None
    if reading is not None:
        return load_text(path, reading.unit, PIECE, like=known)
    walks = load_walks(path, like=known)
    if not isinstance(walks, ViewWalks):
        return walks
    with naming(path):
        walks = run.categorical(walks)
        run.check_walks(walks)
        return walks


def truth_for(run: Run, path: Path, walks: Walks) -> Truth | None:
    """The truth beside a walks file, in the vocabulary of `walks_for`; None where there is none."""
    if not truth_path(path).exists():
        return None
    truth = load_truth(path, walks)
    if run.quantizer is None:
        return truth
    seen = load_walks(path)
    with naming(truth_path(path)):
        return run.quantizer.walks_and_truth(seen, truth)[1]


def map_of(run: Run, kind: MapKind) -> CognitiveMap:
    return run.map if kind == "minimal" else run.paper_map
