"""The map as plain lists for the page's explorer, and where it draws the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from cogmap.records import CognitiveMap, Floats, Labels, Plan, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.material import Material
from cogmap.report.pictures import is_drawable, place_points

_DIGITS = 4  # of a coordinate: a ten-thousandth of a cell


def map_data(material: Material, example: Plan | None = None) -> dict[str, Any]:
    """Nodes, edges, labels and colours; the ways to place the nodes; a plan's ends to begin with."""
    found = material.cognitive_map
    return {
        "nodes": {"observation": found.node_observation.tolist(), "support": found.node_support.tolist()},
        "edges": {
            "source": found.edge_source.tolist(),
            "action": found.edge_action.tolist(),
            "target": found.edge_target.tolist(),
            "support": found.edge_support.tolist(),
        },
        "observationLabels": _words(found.observation_labels, found.num_observations),
        "actionLabels": _words(found.action_labels, found.num_actions),
        "colours": list(observation_colours(found.num_observations)),
        "placements": _placements(material),
        "example": _ends(example),
    }


def _words(labels: Labels | None, count: int) -> list[str]:
    return [str(label_of(labels, index)) for index in range(count)]


def _ends(example: Plan | None) -> dict[str, int] | None:
    return None if example is None else {"start": int(example.nodes[0]), "goal": int(example.nodes[-1])}


def _placements(material: Material) -> list[dict[str, Any]]:
    """At true places first, where there are any, then laid out without truth."""
    placements = [_placement("laid out without truth", material.layout, material.cognitive_map)]
    if material.truth is not None and is_drawable(material.truth.world):
        placements.insert(
            0, _placement("at their true places", place_points(material), material.cognitive_map)
        )
    return placements


def _placement(name: str, points: Floats, cognitive_map: CognitiveMap) -> dict[str, Any]:
    """Points [x, y], null for a node that has none, and a radius that keeps neighbours apart."""
    rows = [row if np.isfinite(row).all() else None for row in points.round(_DIGITS)]
    return {
        "name": name,
        "points": [None if row is None else row.tolist() for row in rows],
        "radius": _radius(points, cognitive_map),
    }


def _radius(points: Floats, cognitive_map: CognitiveMap) -> float:
    """A quarter of the usual length of an edge."""
    moves = points[cognitive_map.edge_source] - points[cognitive_map.edge_target]
    lengths = np.hypot(*moves.T)
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    return round(float(np.median(lengths)) / 4, _DIGITS) if lengths.size else 0.25
