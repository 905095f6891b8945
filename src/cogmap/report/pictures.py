"""The pictures of a map's report, each with a caption and an alternative text, and the map for the page's explorer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from matplotlib.figure import Figure

from cogmap.errors import BadWalks
from cogmap.evaluation.diagnostics import code_use, teleportation_by_step
from cogmap.evaluation.prediction import accuracy_by_step, ceiling
from cogmap.planning.localise import nodes_by_code
from cogmap.records import CognitiveMap, Floats, Labels, Plan, TableWorld, Truth, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.curve_figures import (
    accuracy_figure,
    code_use_figure,
    teleportation_figure,
    training_figure,
)
from cogmap.report.html import Picture
from cogmap.report.map_figures import map_figure, points_at_places
from cogmap.report.material import Attempt, Example, Material, Reading, places_of
from cogmap.report.room_figures import plan_figure, world_figure
from cogmap.report.style import styled, svg_text

_DIGITS = 4  # of a coordinate: a ten-thousandth of a cell


def picture(name: str, figure: Figure, caption: str, alt: str, wide: bool = False) -> Picture:
    """A figure as SVG."""
    return Picture(name, svg_text(figure), caption, alt, wide)


def map_pictures(material: Material) -> Iterator[Picture]:
    """The true room, the map with its nodes at their true places, and the map laid out without truth."""
    found, truth = material.cognitive_map, material.truth
    if truth is not None and is_drawable(truth.world):
        yield picture(
            "room",
            styled(world_figure)(truth.world),
            "The true world, which the model never saw.",
            f"The true world: {truth.world.num_positions} places, coloured by their observation.",
        )
        yield picture(
            "map_at_places",
            map_figure(found, place_points(material)),
            "The learned map. Each node is drawn at the true place where it was active most often.",
            f"The learned map of {found.num_nodes} nodes at their true places.",
        )
    yield picture(
        "map",
        map_figure(found, material.layout),
        "The map laid out without truth: by the names of its actions where they are directions, by its own distances "
        "where not.",
        f"The learned map of {found.num_nodes} nodes, laid out without truth.",
    )


def plan_picture(name: str, attempt: Attempt, example: Example, truth: Truth) -> Picture:
    """A plan followed in the room, from A to B or to where it really leads."""
    reached = int(attempt.visited[-1]) == example.goal
    length = f"{len(attempt.plan)} action" + ("" if len(attempt.plan) == 1 else "s")
    end = "lead there" if reached else "lead there on its map, but to the cross in the world"
    return picture(
        name,
        plan_figure(truth.world, example.context, attempt.visited, example.goal),
        f"The walk so far in fuchsia, the plan from A to B in red: {length}, which {end}.",
        f"The room with a walk that ends at A and a planned path of {length}, which "
        + ("ends at B." if reached else "does not end at B."),
    )


def merged_picture(name: str, material: Material) -> tuple[Picture, int]:
    """The map with a ring around each node that stands for several places, and the number of these nodes."""
    found, merged = material.cognitive_map, places_of(material).merged
    count = f"{merged.sum()} of its {found.num_nodes} nodes"
    text = f"{count}, ringed in fuchsia, stand for several places" if merged.any() else "No node is merged"
    drawn = picture(
        name,
        map_figure(found, material.layout, merged),
        f"The map of {material.name}. {text}.",
        f"The map of {material.name}; {count} are marked as merged.",
    )
    return drawn, int(merged.sum())


def diagnostic_pictures(material: Material) -> Iterator[Picture]:
    """The four curves of the paper's appendix, as far as there is data for them."""
    reading = material.reading
    if reading is not None:
        yield picture(
            "accuracy",
            accuracy_figure(accuracy_by_step(reading.predicted, reading.walks), _ceiling(reading)),
            "Accuracy by step. In the first steps not even the ceiling knows the position.",
            "Curve of the share of next observations predicted, by step of the walk.",
        )
        yield picture(
            "codes",
            code_use_figure(code_use(reading.codes, material.cognitive_map)),
            "Codes by the mean step at which they are active. Codes of early steps, when the position is "
            "uncertain, are discarded.",
            "Scatter plot of how often each code is active against its mean step.",
        )
        yield picture(
            "teleportation",
            teleportation_figure(_teleportation(material, reading)),
            "Teleportation: how often the estimated node, by the codes alone, jumps to a node that is no neighbour.",
            "Curve of the share of steps that jump to no neighbour, by step of the walk.",
        )
    if material.rows:
        yield training_picture(material.rows)


def training_picture(rows: Any) -> Picture:
    """The training curves, from rows of metrics.jsonl."""
    return picture(
        "training",
        training_figure(rows),
        "Training: loss, accuracy, and the use of the dictionary once the bottleneck is on.",
        "Three curves by training step: loss, accuracies, codes in use.",
        wide=True,
    )


def map_data(material: Material, example: Plan | None = None) -> dict[str, Any]:
    """The map as plain lists for the page's explorer, which opens with the start and goal of the example."""
    found = material.cognitive_map.shown()
    return {
        "nodes": {"observation": found.node_observation.tolist(), "support": found.node_support.tolist()},
        "edges": {
            "source": found.edge_source.tolist(),
            "action": found.edge_action.tolist(),
            "target": found.edge_target.tolist(),
            "support": found.edge_support.tolist(),
            "probability": material.cognitive_map.move_probability().round(4).tolist(),
            "guessed": found.guesses().astype(int).tolist(),
        },
        "observationLabels": _labels(found.observation_labels, found.num_observations),
        "actionLabels": _labels(found.action_labels, found.num_actions),
        "colours": list(observation_colours(found.num_observations, found.observation_labels)),
        "placements": _placements(material),
        "example": None
        if example is None
        else {"start": int(example.nodes[0]), "goal": int(example.nodes[-1])},
    }


def place_points(material: Material) -> Floats:
    """(V, 2) x, y of each node at its true place; nan where it has none."""
    places = places_of(material)
    return points_at_places(cast(Truth, material.truth).world, places.position)


def is_drawable(world: TableWorld) -> bool:
    return world.coordinates is not None


def _teleportation(material: Material, reading: Reading) -> Floats:
    """By the codes alone, as in the paper: the filter would remove nearly all jumps."""
    nodes = nodes_by_code(material.cognitive_map, reading.codes)
    return teleportation_by_step(nodes, material.cognitive_map)


def _ceiling(reading: Reading) -> Floats | None:
    """The ceiling by step, or None without truth or where noise makes the walks impossible."""
    if reading.truth is None:
        return None
    try:
        return ceiling(reading.walks, reading.truth.world).by_step
    except BadWalks:
        return None


def _labels(labels: Labels | None, count: int) -> list[str]:
    return [str(label_of(labels, index)) for index in range(count)]


def _placements(material: Material) -> list[dict[str, Any]]:
    """Nodes at their true places, where these are known, and laid out without truth."""
    placements = [_placement("laid out without truth", material.layout, material.cognitive_map)]
    if material.truth is not None and is_drawable(material.truth.world):
        points = place_points(material)
        placements.insert(0, _placement("at their true places", points, material.cognitive_map))
    return placements


def _placement(name: str, points: Floats, cognitive_map: CognitiveMap) -> dict[str, Any]:
    """Points [x, y], null for a node that has none, and a radius at which neighbours do not overlap."""
    rows = [row if np.isfinite(row).all() else None for row in points.round(_DIGITS)]
    return {
        "name": name,
        "points": [None if row is None else row.tolist() for row in rows],
        "radius": _radius(points, cognitive_map),
    }


def _radius(points: Floats, cognitive_map: CognitiveMap) -> float:
    """A quarter of the median length of an edge."""
    moves = points[cognitive_map.edge_source] - points[cognitive_map.edge_target]
    lengths = np.hypot(*moves.T)
    lengths = lengths[np.isfinite(lengths) & (lengths > 0)]
    return round(float(np.median(lengths)) / 4, _DIGITS) if lengths.size else 0.25
