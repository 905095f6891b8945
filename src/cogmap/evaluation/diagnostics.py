"""Diagnostics of a run: how its codes are used, how often its estimated node jumps, and how fast it learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cogmap.errors import BadRun
from cogmap.planning.shortest_paths import transition_graph
from cogmap.records import Booleans, Codes, CognitiveMap, Floats, Integers


@dataclass(frozen=True, eq=False)
class CodeUse:
    """When and how often each code tuple is active (figure 7 of the paper)."""

    code_tuples: Integers  # (J, M) those that occur
    count: Integers  # (J,) number of steps on which each is active
    mean_step: Floats  # (J,) the mean of these steps, counted from 0
    retained: Booleans  # (J,) whether it stands for a node of the map


def code_use(codes: Codes, cognitive_map: CognitiveMap, retained: Booleans | None = None) -> CodeUse:
    """The use of the codes on some walks.

    retained: (J,) for the map's own `code_tuples`, whether each was kept when the counts were thresholded.
        The paper's map gives a node to the others too, so the map does not say. By default a tuple is
        retained if it stands for a node.
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
    """(N - 1,) at n, the share of walks whose node (B, N) jumps from step n to n + 1.

    A jump leads neither to the same node nor along an edge of the map, by any action. Steps without a node at
    one of their ends are left out; nan where no step remains.
    """
    source, target = nodes[:, :-1], nodes[:, 1:]
    on_map = (source >= 0) & (target >= 0)
    jumped = on_map & (source != target) & ~transition_graph(cognitive_map).has_edge(source, target)
    count = on_map.sum(axis=0)
    rate = np.full(nodes.shape[1] - 1, np.nan)
    np.divide(jumped.sum(axis=0), count, out=rate, where=count > 0)
    return rate


def training_above(
    rows: Iterable[Mapping[str, Any]],
    threshold: float = 0.98,
    of_best: bool = False,
    accuracy: str = "train_accuracy",
) -> int | None:
    """TrainingAbove98: the first evaluated step at which the training accuracy is above the threshold.

    rows: of `metrics.jsonl`; rows without the accuracy are skipped.
    of_best: the threshold is a share of the best accuracy, as in the paper's text experiments.
    """
    points = _evaluations(rows, accuracy)
    level = threshold * max((value for _, value in points), default=0.0) if of_best else threshold
    return next((step for step, value in points if value > level), None)


def training_after(
    rows: Iterable[Mapping[str, Any]], step: int = 1000, accuracy: str = "train_accuracy"
) -> float:
    """TrainingAfter1k: the accuracy at the first evaluation from `step` on, or else at the last evaluation."""
    points = _evaluations(rows, accuracy)
    if not points:
        raise BadRun(f"the metrics must hold `{accuracy}`, got no row with it")
    return next((value for at, value in points if at >= step), points[-1][1])


def _evaluations(rows: Iterable[Mapping[str, Any]], accuracy: str) -> list[tuple[int, float]]:
    """The training step and the accuracy of every row that has one."""
    return [(int(row["step"]), float(row[accuracy])) for row in rows if row.get(accuracy) is not None]
