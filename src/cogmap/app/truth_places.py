"""Which true place each node of a map stands for, and which of its edges the world does not have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.app.elimination import main_places, place_visits
from cogmap.records import Booleans, CognitiveMap, Floats, Integers, TableWorld, Truth, Walks

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_SPREAD = 0.34  # of a cell: how far from its middle the nodes of one place are drawn


@dataclass(frozen=True, eq=False)
class TruePlaces:
    """A map beside the truth."""

    position: Integers  # (V,) -1 where unknown
    merged: Booleans  # (V,) stands for several positions
    wrong: Booleans  # (E,) the world's action leads elsewhere
    points: (
        Floats | None
    )  # (V, 2) x, y in the room's coordinates, nan where unknown; None without coordinates


def true_places(cognitive_map: CognitiveMap, walks: Walks, truth: Truth) -> TruePlaces:
    """The places of a map's nodes, by following walks on it whose positions are known."""
    visits = place_visits(cognitive_map, walks, truth)
    position, merged = main_places(*visits, cognitive_map.num_nodes)
    source, target = position[cognitive_map.edge_source], position[cognitive_map.edge_target]
    leads_to = truth.world.next_position[source, cognitive_map.edge_action]
    wrong = (source >= 0) & (target >= 0) & (leads_to != target)
    return TruePlaces(position, merged, wrong, _points(truth.world, position))


def cell_points(world: TableWorld) -> Floats | None:
    """(P, 2) x and y of each position's cell, or None where the world has no coordinates."""
    return None if world.coordinates is None else world.coordinates[:, 1::-1]


def _points(world: TableWorld, position: Integers) -> Floats | None:
    """(V, 2) each node at its place, those of one place side by side like the seeds of a sunflower."""
    cells = cell_points(world)
    if cells is None:
        return None
    points = np.full((len(position), 2), np.nan)
    order = np.argsort(position, kind="stable")
    order = order[position[order] >= 0]
    _, first, count = np.unique(position[order], return_index=True, return_counts=True)
    seed = np.arange(len(order)) - np.repeat(first, count)  # 0, 1, ... among the nodes of one place
    many = np.repeat(count, count)
    radius = np.where(many > 1, _SPREAD * np.sqrt((seed + 0.5) / many), 0.0)
    turn = seed * _GOLDEN_ANGLE
    points[order] = cells[position[order]] + np.stack((radius * np.cos(turn), radius * np.sin(turn)), axis=1)
    return points
