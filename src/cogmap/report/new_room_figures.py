"""Rooms that a model was never trained in, and under each the map it drew of it."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from cogmap.records import CognitiveMap, Integers, TableWorld
from cogmap.report.map_figures import draw_map, points_at_places
from cogmap.report.room_figures import draw_world
from cogmap.report.style import styled


@styled
def new_rooms_figure(rooms: Sequence[tuple[TableWorld, CognitiveMap, Integers]]) -> Figure:
    """One column a room: the world, and the map with its nodes (V,) where the places are that they stand for."""
    figure = Figure(figsize=(3.0 * len(rooms), 5.2), layout="constrained")
    panels = figure.subplots(2, len(rooms), squeeze=False)
    for column, (world, found, position) in enumerate(rooms):
        draw_world(panels[0, column], world)
        draw_map(panels[1, column], found, points_at_places(world, position))
        panels[0, column].set_title("a new room")
        panels[1, column].set_title(f"its map: {found.num_nodes} nodes")
    return figure
