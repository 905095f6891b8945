"""Every picture of a report: drawn, named, described for those who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from matplotlib.figure import Figure

from cogmap.errors import BadWalks
from cogmap.evaluation.diagnostics import code_use, teleportation_by_step
from cogmap.evaluation.prediction import accuracy_by_step, ceiling
from cogmap.planning.localise import nodes_by_code
from cogmap.records import Floats, TableWorld, Truth
from cogmap.report.curve_figures import (
    accuracy_figure,
    code_use_figure,
    teleportation_figure,
    training_figure,
)
from cogmap.report.example import Attempt, Example
from cogmap.report.map_figures import map_figure, plan_figure, points_at_places
from cogmap.report.material import Material, Reading, places_of
from cogmap.report.room_figures import world_figure
from cogmap.report.style import styled, svg_text


class Picture(NamedTuple):
    """A figure as SVG, under the name of its file."""

    name: str
    svg: str
    caption: str
    alt: str
    wide: bool = False


def map_pictures(material: Material) -> Iterator[Picture]:
    """The true room, the map at the true places of its nodes, and the map laid out without truth."""
    found, truth = material.cognitive_map, material.truth
    if truth is not None and is_drawable(truth.world):
        yield _picture(
            "room",
            styled(world_figure)(truth.world),
            "The truth, which the model never saw.",
            f"The true world: {truth.world.num_positions} places, coloured by what is seen there.",
        )
        yield _picture(
            "map_at_places",
            map_figure(found, place_points(material)),
            "The learned map, each node drawn where the agent really was when it was active.",
            f"The learned map of {found.num_nodes} nodes at their true places.",
        )
    yield _picture(
        "map",
        map_figure(found, material.layout),
        "The same map laid out by its own distances alone; which way is up, it cannot know.",
        f"The learned map of {found.num_nodes} nodes, laid out without truth.",
    )


def plan_picture(name: str, attempt: Attempt, example: Example, truth: Truth) -> Picture:
    """A plan followed in the room, from A to B or to where it really leads."""
    reached = int(attempt.met[-1]) == example.goal
    length = f"{len(attempt.plan)} action" + ("" if len(attempt.plan) == 1 else "s")
    end = "lead there" if reached else "lead there on its map, but to the cross in the room"
    return _picture(
        name,
        plan_figure(truth.world, example.context, attempt.met, example.goal),
        f"The walk so far in fuchsia, the plan from A to B in red: {length}, which {end}.",
        f"The room with a walk that ends at A and a planned path of {length}, which "
        + ("ends at B." if reached else "does not end at B."),
    )


def merged_picture(material: Material) -> tuple[Picture, int]:
    """The map with the nodes that stand for several places ringed, and how many these are."""
    found, merged = material.cognitive_map, places_of(material).merged
    count = f"{merged.sum()} of its {found.num_nodes} nodes"
    told = (
        f"{count}, ringed in fuchsia, stand for several places at once"
        if merged.any()
        else "No node is merged"
    )
    picture = _picture(
        "rival_map",
        map_figure(found, material.layout, merged),
        f"The map of {material.name}. {told}.",
        f"The map of {material.name}; {count} are marked as merged.",
    )
    return picture, int(merged.sum())


def diagnostic_pictures(material: Material) -> Iterator[Picture]:
    """The four curves of the paper's appendix, as far as there is material for them."""
    reading = material.reading
    if reading is not None:
        yield _picture(
            "accuracy",
            accuracy_figure(accuracy_by_step(reading.predicted, reading.walks), _ceiling(reading)),
            "Accuracy by step: at first nobody can know where the agent is.",
            "Curve of the share of next observations foretold, by step of the walk.",
        )
        yield _picture(
            "codes",
            code_use_figure(code_use(reading.codes, material.cognitive_map)),
            "Codes by the mean step at which they are active: early doubt, late confidence.",
            "Scatter plot of how often each code is active against its mean step.",
        )
        yield _picture(
            "teleportation",
            teleportation_figure(_teleportation(material, reading)),
            "Teleportation: how often the agent, by its codes alone, takes itself to have jumped.",
            "Curve of the share of steps that jump to no neighbour, by step of the walk.",
        )
    if material.rows:
        yield _picture(
            "training",
            training_figure(material.rows),
            "The training: loss, accuracy, and the use of the dictionary once the bottleneck is on.",
            "Three curves by training step: loss, accuracies, codes in use.",
            wide=True,
        )


def place_points(material: Material) -> Floats:
    """(V, 2): where each node's true place is drawn; nan where it has none."""
    places = places_of(material)
    return points_at_places(cast(Truth, material.truth).world, places.position)


def is_drawable(world: TableWorld) -> bool:
    return world.coordinates is not None


def _teleportation(material: Material, reading: Reading) -> Floats:
    """By the codes alone, as in the paper: put right by the map, they would hardly jump."""
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


def _picture(name: str, figure: Figure, caption: str, alt: str, wide: bool = False) -> Picture:
    return Picture(name, svg_text(figure), caption, alt, wide)
