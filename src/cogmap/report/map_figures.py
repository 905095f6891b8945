"""Figures of a learned map, at true places or laid out without truth, and of the latent graph of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, TableWorld, label_of
from cogmap.report.colours import WALK_COLOUR, observation_colours, side_by_side
from cogmap.report.room_figures import add_legend, cell_centres, draw_world
from cogmap.report.style import FADED, INK, MANY_ARTISTS, styled

_LABELLED_NODES = 40  # of a text's graph
_WORD_LIMIT = 14  # characters of a label
_HEAD_AT = 0.6  # of an edge's length


def points_at_places(world: TableWorld, position: Integers) -> Floats:
    """(V, 2) x, y of each node at its place (V,), those of one place side by side; nan where it has none."""
    return side_by_side(cell_centres(world), position)


@styled
def map_figure(cognitive_map: CognitiveMap, points: Floats, merged: Booleans | None = None) -> Figure:
    """The map with its nodes at `points` (V, 2) x, y. Nodes at nan are left out, merged nodes (V,) have a ring."""
    shown = points[~np.isnan(points[:, 0])]
    span = np.ptp(shown, axis=0) if len(shown) else np.ones(2)
    width, height = np.clip(span / max(span.max(), 1e-9), 0.3, 1) * 3.8
    figure = Figure(figsize=(width + 0.9, height + 0.2), layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, cognitive_map, points, merged)
    add_legend(axes, cognitive_map)
    return figure


@styled
def new_rooms_figure(rooms: Sequence[tuple[TableWorld, CognitiveMap, Integers]]) -> Figure:
    """One column per room: the world, and the map with its nodes (V,) at the places that they stand for."""
    figure = Figure(figsize=(3.0 * len(rooms), 5.2), layout="constrained")
    panels = figure.subplots(2, len(rooms), squeeze=False)
    for column, (world, found, position) in enumerate(rooms):
        draw_world(panels[0, column], world)
        draw_map(panels[1, column], found, points_at_places(world, position))
        panels[0, column].set_title("a new room")
        panels[1, column].set_title(f"its map: {found.num_nodes} nodes")
    return figure


@styled
def concept_figure(cognitive_map: CognitiveMap, points: Floats, concepts: NodeConcepts) -> Figure:
    """The graph at `points` (V, 2); nodes, and edges within a concept, have the colour of their concept."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    colours = np.array([*observation_colours(len(concepts.names)), FADED])  # the last, -1, is never active
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
    beside: Any = "outside center right"  # matplotlib's types do not have it
    figure.legend(handles=handles, loc=beside, handlelength=1, handleheight=1)
    return figure


@styled
def word_figure(cognitive_map: CognitiveMap, points: Floats) -> Figure:
    """The graph of a text without known concepts; the most visited nodes are labelled with their words."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    ends = _ends(cognitive_map)
    _draw_edges(axes, points[ends], np.full(len(ends), FADED), 0.25)
    _draw_nodes(axes, cognitive_map, points, np.full(len(points), observation_colours(1)[0]))
    for node in np.argsort(-cognitive_map.node_support, kind="stable")[:_LABELLED_NODES].tolist():
        word = str(label_of(cognitive_map.observation_labels, int(cognitive_map.node_observation[node])))
        text = word if len(word) <= _WORD_LIMIT else f"{word[: _WORD_LIMIT - 1]}…"
        axes.annotate(
            text.replace("$", r"\$"), points[node], xytext=(3, 3), textcoords="offset points", fontsize=8
        )
    return figure


def draw_map(axes: Axes, cognitive_map: CognitiveMap, points: Floats, merged: Booleans | None = None) -> None:
    """Nodes in the colour of their observation; a line for edges in both directions, an arrow for one direction."""
    shown = ~np.isnan(points[:, 0])
    both, one = _lines(cognitive_map, shown)
    lines = list(points[np.concatenate([both, one])])
    axes.add_collection(LineCollection(lines, colors=FADED, linewidths=1.0, zorder=1))
    guessed = list(points[_guessed_ends(cognitive_map, shown)])
    if guessed:
        axes.add_collection(
            LineCollection(guessed, colors=FADED, linewidths=1.0, linestyles=(0, (2, 6)), zorder=1)
        )
    if len(one):  # heads in the middle of their lines: at the end a node would cover them
        starts, halves = points[one[:, 0]], _HEAD_AT * (points[one[:, 1]] - points[one[:, 0]])
        axes.quiver(
            *starts.T,
            *halves.T,
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.003,
            headwidth=6,
            color=FADED,
            zorder=1,
        )
    colours = np.array(observation_colours(cognitive_map.num_observations, cognitive_map.observation_labels))[
        cognitive_map.node_observation
    ]
    ringed = np.zeros(len(points), dtype=bool) if merged is None else merged
    axes.scatter(
        points[shown, 0],
        points[shown, 1],
        s=_node_size(points[shown]),
        c=colours[shown],
        edgecolors=[WALK_COLOUR if ring else INK for ring in ringed[shown]],
        linewidths=[2.6 if ring else 0.7 for ring in ringed[shown]],
        zorder=2,
    )
    for artist in axes.collections if len(points) > MANY_ARTISTS else ():
        artist.set_rasterized(True)
    axes.set(aspect="equal")
    axes.margins(0.06)
    axes.invert_yaxis()  # rows count downwards
    axes.set_axis_off()


def _lines(cognitive_map: CognitiveMap, shown: Booleans) -> tuple[Integers, Integers]:
    """Pairs of shown nodes (R, 2) with edges in both directions, the lower first, and (Q, 2) in one direction."""
    cognitive_map = cognitive_map.deterministic()
    ends = np.stack([cognitive_map.edge_source, cognitive_map.edge_target], axis=1)  # (E, 2)
    ends = np.unique(ends[shown[ends].all(axis=1) & (ends[:, 0] != ends[:, 1])], axis=0)
    there = {tuple(pair) for pair in ends.tolist()}
    mutual = np.array([pair[::-1] in there for pair in map(tuple, ends.tolist())], dtype=bool)
    return ends[mutual & (ends[:, 0] < ends[:, 1])], ends[~mutual]


def _guessed_ends(cognitive_map: CognitiveMap, shown: Booleans) -> Integers:
    """(G, 2) pairs of shown nodes between which there are moves tried too seldom to know where they lead."""
    ends = np.stack([cognitive_map.edge_source, cognitive_map.edge_target], axis=1)[cognitive_map.guesses()]
    return np.unique(ends[shown[ends].all(axis=1) & (ends[:, 0] != ends[:, 1])], axis=0).reshape(-1, 2)


def _node_size(points: Floats) -> float:
    """Area in square points at which the nodes of a map this dense do not overlap."""
    return float(np.clip(6500 / max(len(points), 1), 8, 140))


def _ends(cognitive_map: CognitiveMap) -> Integers:
    """(E, 2) the two nodes of every edge that is no self-loop, each pair once."""
    cognitive_map = cognitive_map.deterministic()
    ends = np.sort(np.stack([cognitive_map.edge_source, cognitive_map.edge_target], axis=1), axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0).reshape(-1, 2)


def _draw_edges(axes: Axes, lines: Floats, colours: np.ndarray, alpha: float) -> None:
    drawn = LineCollection(list(lines), colors=list(colours), linewidths=0.5, alpha=alpha, zorder=1)
    drawn.set_rasterized(len(lines) > MANY_ARTISTS)
    axes.add_collection(drawn)


def _draw_nodes(axes: Axes, cognitive_map: CognitiveMap, points: Floats, colours: np.ndarray) -> None:
    """Draw the nodes with an area that grows with their support."""
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
