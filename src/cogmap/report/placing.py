"""Nodes at the places that they stand for. Without matplotlib, for pages that draw by themselves."""

from __future__ import annotations

import numpy as np

from cogmap.records import Floats, Integers

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_SPREAD = 0.34  # of a cell: how far from its middle the nodes of one place are drawn


def side_by_side(centres: Floats, position: Integers) -> Floats:
    """(V, 2): each node at the middle (P, 2) of its place (V,), nan where it has none.

    Those of one place are spread like the seeds of a sunflower.
    """
    points = np.full((len(position), 2), np.nan)
    order = np.argsort(position, kind="stable")
    order = order[position[order] >= 0]
    _, first, count = np.unique(position[order], return_index=True, return_counts=True)
    seed = np.arange(len(order)) - np.repeat(first, count)  # 0, 1, ... among the nodes of one place
    many = np.repeat(count, count)
    radius = np.where(many > 1, _SPREAD * np.sqrt((seed + 0.5) / many), 0.0)
    turn = seed * _GOLDEN_ANGLE
    points[order] = centres[position[order]] + np.stack(
        (radius * np.cos(turn), radius * np.sin(turn)), axis=1
    )
    return points
