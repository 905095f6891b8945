"""What a report is made from: a model's map and, where there are any, its test walks, scores and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cogmap.errors import BadWalks
from cogmap.evaluation.places import NodePlaces, node_places
from cogmap.planning.localise import whereabouts
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
    """A model's reading of test walks, its nodes found as for the scores."""
    nodes = whereabouts(cognitive_map, walks.observations, walks.actions, walks.lengths, codes)
    return Reading(walks, codes, predicted, nodes, truth)


def places_of(material: Material) -> NodePlaces:
    """The true places of the map's nodes on the test walks: the same as those of the scores."""
    reading = material.reading
    if reading is None:
        raise BadWalks(f"{material.name} must have read test walks for this picture, it has not")
    if reading.truth is None:
        raise BadWalks("true places need the truth of the walks, there is none")
    num_nodes = material.cognitive_map.num_nodes
    return node_places(reading.nodes, reading.walks.step_mask(), num_nodes, reading.truth)
