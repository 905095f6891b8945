"""Which true place each node of a map stands for, and which of its edges the world does not have."""

from __future__ import annotations

from dataclasses import dataclass

from cogmap.app.elimination import main_places, place_visits
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, TableWorld, Truth, Walks
from cogmap.report.colours import side_by_side


@dataclass(frozen=True, eq=False)
class TruePlaces:
    """A map beside the truth."""

    position: Integers  # (V,) -1 where unknown
    merged: Booleans  # (V,) stands for several positions
    wrong: Booleans  # (E,) the world's action leads elsewhere
    points: Floats | None  # (V, 2) x, y in the room, nan where unknown; None where it has no coordinates


def true_places(cognitive_map: CognitiveMap, walks: Walks, truth: Truth) -> TruePlaces:
    """The places of a map's nodes, by following walks on it whose positions are known."""
    visits = place_visits(cognitive_map, walks, truth)
    position, merged = main_places(*visits, cognitive_map.num_nodes)
    source, target = position[cognitive_map.edge_source], position[cognitive_map.edge_target]
    leads_to = truth.world.next_position[source, cognitive_map.edge_action]
    wrong = (source >= 0) & (target >= 0) & (leads_to != target)
    cells = cell_points(truth.world)
    points = None if cells is None else side_by_side(cells, position)
    return TruePlaces(position, merged, wrong, points)


def cell_points(world: TableWorld) -> Floats | None:
    """(P, 2) x and y of each position's cell, or None where the world has no coordinates."""
    return None if world.coordinates is None else world.coordinates[:, 1::-1]
