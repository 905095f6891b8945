"""A map as the server holds it: the record, what is computed from it once, and the answer that shows it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.app.truth_places import TruePlaces, true_places
from cogmap.errors import BadRun
from cogmap.maps.layout import layout_map
from cogmap.maps.store import load_map
from cogmap.planning.localise import BeliefModel, belief_model
from cogmap.planning.shortest_paths import next_node_table, transition_graph
from cogmap.records import Booleans, CognitiveMap, Integers, Truth, Walks

_DIGITS = 4  # of a coordinate: a ten-thousandth of a cell
_HARDLY = 20  # an edge with less than this part of the usual support is doubtful


@dataclass(frozen=True, eq=False)
class OpenedMap:
    """One revision of one of a run's maps. Nothing of it changes, so a walk under way keeps its own."""

    kind: str
    revision: str
    early: bool  # made while the training went on
    map: CognitiveMap
    next_node: Integers  # (V, A) by the best supported edge, -1 where unknown
    places: TruePlaces | None  # where there is truth
    answer: bytes  # of /api/map/{kind}

    @cached_property
    def belief(self) -> BeliefModel:
        return belief_model(self.map)

    @cached_property
    def roads(self) -> Integers:
        """(R,) every pair of neighbours as source * V + target, rising."""
        pairs = self.map.edge_source.astype(np.int64) * self.map.num_nodes + self.map.edge_target
        return np.unique(pairs)


def open_map(
    path: Path, kind: str, early: bool, walks: Walks | None = None, truth: Truth | None = None
) -> OpenedMap:
    """Read a map and work out all that is shown of it; BadRun where the file is not a whole map."""
    revision = hashlib.blake2b(_bytes_of(path) + bytes([early]), digest_size=6).hexdigest()
    found = load_map(path)
    transition_graph(found)  # made now, not at the first plan
    next_node = next_node_table(found)
    places = None
    if walks is not None and truth is not None and found.num_nodes:
        places = true_places(found, walks, truth)
    answer = _encoded(_columns(found, kind, revision, early, places))
    return OpenedMap(kind, revision, early, found, next_node, places, answer)


def doubtful_edges(found: CognitiveMap) -> Booleans:
    """(E,) edges with hardly any support, and those that another target of the same action outdoes."""
    if not found.num_edges:
        return np.zeros(0, dtype=bool)
    support = found.edge_support.astype(np.int64)
    move = found.edge_source.astype(np.int64) * found.num_actions + found.edge_action
    most = np.zeros(found.num_nodes * found.num_actions, dtype=np.int64)
    np.maximum.at(most, move, support)
    doubtful: Booleans = (support < most[move]) | (support * _HARDLY < np.median(support))
    return doubtful


def _columns(
    found: CognitiveMap, kind: str, revision: str, early: bool, places: TruePlaces | None
) -> dict[str, Any]:
    layout = layout_map(found).round(_DIGITS)
    nodes = {
        "observation": found.node_observation.tolist(),
        "support": found.node_support.tolist(),
        "x": layout[:, 0].tolist(),
        "y": layout[:, 1].tolist(),
    }
    edges = {
        "source": found.edge_source.tolist(),
        "action": found.edge_action.tolist(),
        "target": found.edge_target.tolist(),
        "support": found.edge_support.tolist(),
        "doubtful": doubtful_edges(found).astype(int).tolist(),
    }
    if places is not None:
        if places.points is not None:
            nodes["true_x"], nodes["true_y"] = (_or_null(column) for column in places.points.T)
        nodes["position"] = [place if place >= 0 else None for place in places.position.tolist()]
        nodes["merged"] = places.merged.astype(int).tolist()
        edges["wrong"] = places.wrong.astype(int).tolist()
    return {
        "kind": kind,
        "revision": revision,
        "early": early,
        "explained": found.explained,
        "warnings": list(found.warnings),
        "nodes": nodes,
        "edges": edges,
    }


def _or_null(column: NDArray[np.float64]) -> list[float | None]:
    return [value if value == value else None for value in column.round(_DIGITS).tolist()]


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise BadRun(f"cannot read {path.name}: {problem.strerror or problem}") from problem
