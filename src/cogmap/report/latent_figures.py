"""Pictures of a latent graph: nodes coloured by the concept most frequent when they are active, or named by word."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.records import CognitiveMap, Floats, Integers, label_of
from cogmap.report.colours import observation_colours
from cogmap.report.style import FADED, INK, styled

_NAMED = 40  # nodes that get their word written on them
_WORD_LIMIT = 14  # characters of it


@styled
def concept_figure(cognitive_map: CognitiveMap, points: Floats, concepts: NodeConcepts) -> Figure:
    """The graph at `points` (V, 2): a node in its concept's colour, and an edge too if both its ends are of one."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    colours = np.array([*observation_colours(len(concepts.names)), FADED])  # -1 is the last: never active
    ends = _ends(cognitive_map)
    one, other = concepts.concept[ends].T
    crossing = one != other
    _draw_edges(axes, points[ends[crossing]], np.full(crossing.sum(), INK), 0.35)
    _draw_edges(axes, points[ends[~crossing]], colours[one[~crossing]], 0.3)
    _draw_nodes(axes, cognitive_map, points, colours[concepts.concept])
    counts = np.bincount(concepts.concept[concepts.concept >= 0], minlength=len(concepts.names))
    handles = [
        Patch(facecolor=colour, edgecolor="grey", label=f"{name}, {count} nodes")
        for colour, name, count in zip(colours, concepts.names, counts, strict=False)
    ]
    beside: Any = "outside center right"  # which matplotlib's types do not know
    figure.legend(handles=handles, loc=beside, handlelength=1, handleheight=1)
    return figure


@styled
def word_figure(cognitive_map: CognitiveMap, points: Floats) -> Figure:
    """The graph of a text about whose concepts nothing is known: its most visited nodes with their words."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    ends = _ends(cognitive_map)
    _draw_edges(axes, points[ends], np.full(len(ends), FADED), 0.25)
    _draw_nodes(axes, cognitive_map, points, np.full(len(points), observation_colours(1)[0]))
    for node in np.argsort(-cognitive_map.node_support, kind="stable")[:_NAMED].tolist():
        word = str(label_of(cognitive_map.observation_labels, int(cognitive_map.node_observation[node])))
        text = word if len(word) <= _WORD_LIMIT else f"{word[: _WORD_LIMIT - 1]}…"
        axes.annotate(
            text.replace("$", r"\$"), points[node], xytext=(3, 3), textcoords="offset points", fontsize=8
        )
    return figure


def _ends(cognitive_map: CognitiveMap) -> Integers:
    """(E, 2): the two nodes of every edge that is no loop, each pair once."""
    ends = np.sort(np.stack([cognitive_map.edge_source, cognitive_map.edge_target], axis=1), axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0).reshape(-1, 2)


def _draw_edges(axes: Axes, lines: Floats, colours: np.ndarray, alpha: float) -> None:
    drawn = LineCollection(list(lines), colors=list(colours), linewidths=0.5, alpha=alpha, zorder=1)
    drawn.set_rasterized(len(lines) > 2000)  # or the SVG gets heavy
    axes.add_collection(drawn)


def _draw_nodes(axes: Axes, cognitive_map: CognitiveMap, points: Floats, colours: np.ndarray) -> None:
    """Area by how often a node is active."""
    share = cognitive_map.node_support / max(int(cognitive_map.node_support.max(initial=1)), 1)
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=6 + 40 * share,
        c=list(colours),
        edgecolors=INK,
        linewidths=0.3,
        zorder=2,
    )
    axes.set(aspect="equal")
    axes.margins(0.04)
    axes.set_axis_off()
