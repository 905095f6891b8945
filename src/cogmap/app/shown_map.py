"""A map as the server holds it: the record, what is computed from it once, and the answer that shows it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cogmap.app import schema
from cogmap.app.bodies import encode_columns
from cogmap.errors import BadRun, NotOnMap
from cogmap.evaluation.places import NodePlaces, true_places
from cogmap.files import read_bytes
from cogmap.hmm.belief import BeliefModel, belief_model
from cogmap.maps.store import load_map
from cogmap.planning.shortest_paths import next_node_table, observation_index, transition_graph
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, Labels, TableWorld, Truth, Walks
from cogmap.report.colours import side_by_side
from cogmap.report.layout import layout_map
from cogmap.runs.names import MapKind

_DIGITS = 4  # of a coordinate: a ten-thousandth of a cell
_MOST_PIECES = 400  # of a map that is laid out: each takes a moment
_HARDLY = 20  # an edge with less than this part of the usual support is doubtful


@dataclass(frozen=True, eq=False)
class ShownMap:
    """One revision of one of a run's maps. Nothing of it changes, so a session in progress keeps its own."""

    kind: MapKind
    revision: str
    early: bool  # made during the training
    map: CognitiveMap
    next_node: Integers  # (V, A) by the best supported edge, -1 where unknown
    position: Integers | None  # (V,) true position, -1 where unknown; None without truth
    answer: bytes  # of /api/map/{kind}

    @cached_property
    def belief(self) -> BeliefModel:
        return belief_model(self.map)

    def check_not_empty(self) -> None:
        if self.map.num_nodes == 0:
            raise NotOnMap("the map must have at least one node, got 0")

    def observation_of(self, value: int | str) -> int:
        """The index of an observation given by its label or by the index itself."""
        return observation_index(value, self.map.num_observations, self.map.observation_labels)

    def action_of(self, value: int | str) -> int:
        """The index of an action given by its label or by the index itself."""
        labels: Labels = self.map.action_labels or ()
        if isinstance(value, str) and value in labels:
            return labels.index(value)
        count = self.map.num_actions
        if isinstance(value, int) and 0 <= value < count:
            return value
        known = ", ".join(labels[:12]) if labels else f"0 to {count - 1}"
        raise NotOnMap(f"`action` must be one of {known}, got {value!r}")


def open_map(
    path: Path, kind: MapKind, early: bool, walks: Walks | None = None, truth: Truth | None = None
) -> ShownMap:
    """Read a map and compute all that is shown of it; BadRun where the file is not a whole map."""
    revision = hashlib.blake2b(read_bytes(path, BadRun) + bytes([early]), digest_size=6).hexdigest()
    found = load_map(path)
    transition_graph(found)  # made now, not at the first plan
    drawn = found.shown()  # one arrow a move
    nodes, edges = _node_columns(drawn), _edge_columns(drawn, found.move_probability())
    position = None
    if walks is not None and truth is not None and found.num_nodes:
        places = true_places(found, walks, truth)
        position = places.position
        _add_truth(nodes, edges, drawn, places, truth.world)
    answer: schema.Map = {
        "kind": kind,
        "revision": revision,
        "early": early,
        "explained": found.explained,
        "warnings": list(found.warnings),
        "nodes": nodes,
        "edges": edges,
    }
    return ShownMap(kind, revision, early, found, next_node_table(found), position, encode_columns(answer))


def doubtful_edges(found: CognitiveMap) -> Booleans:
    """(E,) edges with hardly any support, and those with less than another target of the same action."""
    if not found.num_edges:
        return np.zeros(0, dtype=bool)
    support = found.edge_support.astype(np.int64)
    move = found.edge_source.astype(np.int64) * found.num_actions + found.edge_action
    most = np.zeros(found.num_nodes * found.num_actions, dtype=np.int64)
    np.maximum.at(most, move, support)
    doubtful: Booleans = (support < most[move]) | (support * _HARDLY < np.median(support))
    return doubtful


def wrong_edges(found: CognitiveMap, position: Integers, world: TableWorld) -> Booleans:
    """(E,) edges between known positions (V,) whose action leads elsewhere in the world."""
    source, target = position[found.edge_source], position[found.edge_target]
    wrong: Booleans = (source >= 0) & (target >= 0)
    return wrong & (world.next_position[source, found.edge_action] != target)


def cell_points(world: TableWorld) -> Floats | None:
    """(P, 2) x and y of each position's cell, or None where the world has no coordinates."""
    return None if world.coordinates is None else world.coordinates[:, 1::-1]


def _node_columns(found: CognitiveMap) -> schema.NodeColumns:
    layout = _layout(found).round(_DIGITS)
    return {
        "observation": found.node_observation.tolist(),
        "support": found.node_support.tolist(),
        "x": layout[:, 0].tolist(),
        "y": layout[:, 1].tolist(),
    }


def _layout(found: CognitiveMap) -> Floats:
    """(V, 2) x and y of each node. A map in very many pieces has no shape, and its nodes stand in rows."""
    size = found.num_nodes
    edges = (np.ones(found.num_edges), (found.edge_source, found.edge_target))
    pieces = connected_components(coo_array(edges, shape=(size, size)), directed=False)[0] if size else 0
    if pieces <= _MOST_PIECES:
        return layout_map(found)
    rows, columns = np.divmod(np.arange(size), int(np.ceil(np.sqrt(size))))
    return np.stack((columns, rows), axis=1).astype(np.float64)


def _edge_columns(found: CognitiveMap, probability: Floats) -> schema.EdgeColumns:
    return {
        "source": found.edge_source.tolist(),
        "action": found.edge_action.tolist(),
        "target": found.edge_target.tolist(),
        "support": found.edge_support.tolist(),
        "probability": probability.round(_DIGITS).tolist(),
        "doubtful": doubtful_edges(found).astype(int).tolist(),
        "guessed": found.guesses().astype(int).tolist(),
    }


def _add_truth(
    nodes: schema.NodeColumns,
    edges: schema.EdgeColumns,
    found: CognitiveMap,
    places: NodePlaces,
    world: TableWorld,
) -> None:
    cells = cell_points(world)
    if cells is not None:
        points = side_by_side(cells, places.position)
        nodes["true_x"], nodes["true_y"] = (_or_null(column) for column in points.T)
    nodes["position"] = [place if place >= 0 else None for place in places.position.tolist()]
    nodes["merged"] = places.merged.astype(int).tolist()
    edges["wrong"] = wrong_edges(found, places.position, world).astype(int).tolist()


def _or_null(column: NDArray[np.float64]) -> list[float | None]:
    return [value if value == value else None for value in column.round(_DIGITS).tolist()]
