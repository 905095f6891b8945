"""Maps of agents that turn: the nodes that a turning action cycles through are the headings of one spot.

The turning action is not given. It is an action that returns to every node when repeated three or four times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from cogmap.hmm.counts import Whole
from cogmap.records import CognitiveMap, Floats

_PERIODS = (3, 4)  # turns in a full circle
_ASIDE = 0.3  # of a step: the distance of a node from the middle of its spot


def find_turns(cognitive_map: CognitiveMap) -> Whole | None:
    """(spots, turns) the nodes of each spot in the order of turning, or None where no action turns."""
    for action in range(cognitive_map.num_actions):
        table = step_targets(cognitive_map, action)
        period = _period(table)
        if period is not None:
            around: list[Whole] = [np.arange(len(table))]
            for _ in range(period - 1):
                around.append(table[around[-1]])
            circle = np.stack(around, axis=1)  # (V, turns)
            return circle[circle[:, 0] == circle.min(axis=1)]
    return None


def step_targets(cognitive_map: CognitiveMap, action: int) -> Whole:
    """(V,) where an action leads from each node by its edge with the most support, -1 where that is unknown."""
    chosen = np.flatnonzero(cognitive_map.edge_action == action)
    rising = chosen[np.argsort(cognitive_map.edge_support[chosen], kind="stable")]
    table = np.full(cognitive_map.num_nodes, -1, dtype=np.int64)
    table[cognitive_map.edge_source[rising]] = cognitive_map.edge_target[rising]
    return table


def _period(table: Whole) -> int | None:
    """The number of repetitions after which the action returns to every node, and to none before."""
    home = np.arange(len(table))
    if not len(table) or (table < 0).any():
        return None
    place: Whole = home
    for times in range(1, max(_PERIODS) + 1):
        place = table[place]
        if (place == home).any():
            return times if times in _PERIODS and (place == home).all() else None
    return None


def spot_graph(cognitive_map: CognitiveMap, circles: Whole) -> Any:
    """Sparse (spots, spots) an edge where a move leads from one spot to another."""
    spot = _spots(cognitive_map.num_nodes, circles)
    ends = np.unique(np.stack([spot[cognitive_map.edge_source], spot[cognitive_map.edge_target]]), axis=1)
    source, target = ends[:, ends[0] != ends[1]]
    return coo_array((np.ones(len(source)), (source, target)), shape=(len(circles), len(circles))).tocsr()


def spread_turns(cognitive_map: CognitiveMap, circles: Whole, places: Floats) -> Floats:
    """(V, 2) nodes on circles around the points (spots, 2) of their spots, each towards the spots that it leads to.

    The nodes of a spot keep their order on the circle. Circles are rotated, and all of them mirrored if needed, so that
    nodes point to the spots that they lead to.
    """
    spot = _spots(cognitive_map.num_nodes, circles)
    pulls = np.zeros((cognitive_map.num_nodes, 2))  # from each node to the spots it leads to
    away = places[spot[cognitive_map.edge_target]] - places[spot[cognitive_map.edge_source]]
    length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
    np.add.at(pulls, cognitive_map.edge_source, away / length)
    pull = (pulls[:, 0] + 1j * pulls[:, 1])[circles]  # (spots, turns)
    senses = [_aligned(pull, sense) for sense in (1, -1)]
    _, outward = max(senses, key=lambda fit: fit[0])
    points = np.empty((cognitive_map.num_nodes, 2))
    points[circles] = places[:, None] + _ASIDE * np.stack([outward.real, outward.imag], axis=2)
    return points


def _aligned(pull: NDArray[np.complex128], sense: int) -> tuple[float, NDArray[np.complex128]]:
    """Equally spaced directions (spots, turns) that fit the pulls best, and how well they fit."""
    angle = sense * 2 * np.pi * np.arange(pull.shape[1]) / pull.shape[1]
    turned = (pull * np.exp(-1j * angle)).sum(axis=1)  # (spots,) its angle is that of the first node
    return float(np.abs(turned).sum()), np.exp(1j * (np.angle(turned)[:, None] + angle))


def _spots(nodes: int, circles: Whole) -> Whole:
    """(V,) the spot of each node."""
    spot = np.empty(nodes, dtype=np.int64)
    spot[circles] = np.arange(len(circles))[:, None]
    return spot
