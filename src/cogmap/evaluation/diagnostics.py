"""What goes on inside: use of the codes, teleportation, and how soon training got there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cogmap.errors import BadRun
from cogmap.records import Booleans, Codes, CognitiveMap, Floats, Integers


@dataclass(frozen=True, eq=False)
class CodeUse:
    """When and how often each code tuple is active (figure 7 of the paper: early doubt, late confidence)."""

    code_tuples: Integers  # (J, M) those that occur
    count: Integers  # (J,) steps on which each is active
    mean_step: Floats  # (J,) their mean, counted from 0
    retained: Booleans  # (J,) whether it stands for a place of the map


def code_use(codes: Codes, cognitive_map: CognitiveMap, retained: Booleans | None = None) -> CodeUse:
    """The use of the codes on some walks.

    retained: (J,) for the map's own `code_tuples`, whether each was kept when the counts were cut off. The
        paper's map gives a node to the others too, so it cannot be read off the map; by default a tuple
        is retained if it stands for a place.
    """
    kept = cognitive_map.code_node >= 0 if retained is None else np.asarray(retained, dtype=bool)
    if kept.shape != cognitive_map.code_node.shape:
        raise BadRun(f"`retained` must have shape (J,) = {cognitive_map.code_node.shape}, got {kept.shape}")
    active = np.arange(codes.codes.shape[1]) < codes.lengths[:, None]  # (B, N)
    step = np.broadcast_to(np.arange(codes.codes.shape[1]), active.shape)[active]
    tuples, which = np.unique(codes.codes[active], axis=0, return_inverse=True)
    count = np.bincount(which.reshape(-1))
    known = {
        code: bool(keep)
        for code, keep in zip(map(tuple, cognitive_map.code_tuples.tolist()), kept, strict=True)
    }
    return CodeUse(
        code_tuples=tuples,
        count=count.astype(np.int32),
        mean_step=np.bincount(which.reshape(-1), weights=step) / count,
        retained=np.array([known.get(code, False) for code in map(tuple, tuples.tolist())], dtype=bool),
    )


def teleportation_by_step(nodes: Integers, cognitive_map: CognitiveMap) -> Floats:
    """(N - 1,) at n, the share of walks that jump from step n to n + 1.

    A jump ends neither at the same node nor at a neighbour by any action. Steps of which an end is not on
    the map are left out; nan where none remains.
    """
    source, target = nodes[:, :-1].astype(np.int64), nodes[:, 1:]
    count = cognitive_map.num_nodes
    roads = cognitive_map.edge_source.astype(np.int64) * count + cognitive_map.edge_target
    on_map = (source >= 0) & (target >= 0)
    jumped = on_map & (source != target) & ~np.isin(source * count + target, roads)
    seen = on_map.sum(axis=0)
    rate = np.full(nodes.shape[1] - 1, np.nan)
    np.divide(jumped.sum(axis=0), seen, out=rate, where=seen > 0)
    return rate


def training_above(
    rows: Iterable[Mapping[str, Any]],
    threshold: float = 0.98,
    of_best: bool = False,
    accuracy: str = "train_accuracy",
) -> int | None:
    """TrainingAbove98: the first evaluated step at which the training accuracy is above the threshold.

    rows: of `metrics.jsonl`; those without the accuracy are passed over.
    of_best: the threshold is a share of the best accuracy reached, as the paper has it for text.
    """
    points = [(int(row["step"]), float(row[accuracy])) for row in rows if row.get(accuracy) is not None]
    bar = threshold * max((value for _, value in points), default=0.0) if of_best else threshold
    return next((step for step, value in points if value > bar), None)


def training_after(
    rows: Iterable[Mapping[str, Any]], step: int = 1000, accuracy: str = "train_accuracy"
) -> float:
    """TrainingAfter1k: the accuracy at the first evaluation from `step` on, or at the last one there is."""
    points = [(int(row["step"]), float(row[accuracy])) for row in rows if row.get(accuracy) is not None]
    if not points:
        raise BadRun(f"a training must have been evaluated to say its `{accuracy}`, it was not")
    return next((value for at, value in points if at >= step), points[-1][1])
