"""What a report is made from: a model's map and, where there are any, its test walks, scores and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cogmap.planning.localise import nodes_by_code
from cogmap.records import Codes, CognitiveMap, Floats, Integers, Truth, Walks
from cogmap.report.tables import Scored


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model made of test walks."""

    walks: Walks
    codes: Codes
    predicted: Integers  # (B, N - 1) of the next observation
    nodes: Integers  # (B, N) where it took itself to be, -1 where it did not know
    truth: Truth | None = None


@dataclass(frozen=True, eq=False)
class Material:
    """One model. The page shows what is there and leaves out what is not."""

    name: str  # as the paper prints it
    config: Mapping[str, Any]  # of the run folder
    cognitive_map: CognitiveMap
    layout: Floats  # (V, 2) x, y of the map's nodes, made without truth
    rows: Sequence[Mapping[str, Any]] = ()  # of metrics.jsonl
    scored: tuple[Scored, ...] = ()
    reading: Reading | None = None

    @property
    def truth(self) -> Truth | None:
        return None if self.reading is None else self.reading.truth


def read_with(
    cognitive_map: CognitiveMap, walks: Walks, codes: Codes, predicted: Integers, truth: Truth | None
) -> Reading:
    """A model's reading of test walks, its nodes found by its codes."""
    return Reading(walks, codes, predicted, nodes_by_code(cognitive_map, codes), truth)
