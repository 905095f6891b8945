"""Nodes placed by dead reckoning: where the names of actions say how they move the agent, a map can be drawn to scale.

"up" and "west" move the agent on the page. "left" and "right" turn it where there is a "forward" that moves it. Points
are the best fit of all moves together, so one wrong edge bends the picture and does not break it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csgraph
from scipy.sparse.linalg import lsqr
from scipy.spatial import KDTree

from cogmap.records import CognitiveMap, Floats, Integers
from cogmap.report.turns import step_targets

Complex = NDArray[np.complex128]

_WAYS = {  # on a picture, where y points down
    -1j: "up north nord oben haut arriba",
    1j: "down south süd sud unten bas abajo",
    -1 + 0j: "left west links gauche izquierda",
    1 + 0j: "right east ost rechts droite derecha",
}
_AHEAD = "forward forwards ahead straight vorwärts geradeaus avancer adelante"
_BACK = "back backward backwards reverse zurück rückwärts reculer atrás"
_LEFT, _RIGHT = "left links gauche izquierda", "right rechts droite derecha"
_VERBS = {"go", "move", "walk", "step", "drive", "turn", "rotate", "look"}
_PERIODS = range(3, 9)  # turns in a full circle
_ASIDE = 0.3  # of a step: a node's distance from the middle of its spot, towards where it looks
_AGREES = 0.25  # of a step: how far moves may be from their names, on average and at most one step each
_SWEEPS = 20  # in which neighbours vote on a heading, and edges on a point
_EXACT = 0.01  # of a step
_CROWDED = 0.2  # of a step: nodes closer than this are drawn beside each other


class Meaning(NamedTuple):
    """What the actions do, by their names: a way on the page (A,), or a step ahead and a turn (A,)."""

    way: Complex  # 0 where it has none
    ahead: Floats  # 1, -1 or 0
    turn: Floats  # in turns to the right: 1, -1 or 0
    turns: bool  # whether the agent has a heading


def meaning_of(cognitive_map: CognitiveMap) -> Meaning:
    """What each action does, by its name; nothing for actions whose names say nothing."""
    names = [_plain(label) for label in cognitive_map.action_labels or ()]
    ahead = np.array([_among(name, _AHEAD) - _among(name, _BACK) for name in names])
    turn = np.array([_among(name, _RIGHT) - _among(name, _LEFT) for name in names])
    way = np.array([sum(way * _among(name, known) for way, known in _WAYS.items()) for name in names])
    return Meaning(way, ahead, turn, bool((ahead > 0).any() and turn.any()))


def _among(name: str, known: str) -> float:
    return float(name in known.split())


def _plain(label: str) -> str:
    """A label without the verb that many environments put before a direction."""
    words = label.casefold().replace("_", " ").replace("-", " ").split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in _VERBS else words)


def reckon(cognitive_map: CognitiveMap) -> tuple[Floats, Integers] | None:
    """(V, 2) points a step apart, and the component (V,) of each; None where names and map do not say where things are.

    Components have points of their own, around 0.
    """
    meaning = meaning_of(cognitive_map)
    leaving = cognitive_map.edge_source != cognitive_map.edge_target
    source, target = cognitive_map.edge_source[leaving], cognitive_map.edge_target[leaving]
    action = cognitive_map.edge_action[leaving]
    known = meaning.ahead.astype(bool) | meaning.turn.astype(bool) if meaning.turns else meaning.way != 0
    if not len(action) or not known.size or not known[action].all():
        return None
    nodes = cognitive_map.num_nodes
    heading = np.ones(nodes, dtype=complex)
    moved = meaning.way[action]
    if meaning.turns:
        angle = 2 * np.pi / _turns_in_a_circle(cognitive_map, meaning)
        rotation = np.exp(1j * angle * meaning.turn[action])
        heading = _headings(nodes, source, target, rotation, cognitive_map.edge_support[leaving])
        moved = meaning.ahead[action] * heading[source]
    points = _solve(nodes, source, target, moved)
    if np.minimum(np.abs(points[target] - points[source] - moved), 1).mean() > _AGREES:
        return None
    points = points + _ASIDE * heading if meaning.turns else points
    _, part = csgraph.connected_components(_adjacent(nodes, source, target), directed=False)
    return _uncrowded(np.stack([points.real, points.imag], axis=1), part), part


def _adjacent(nodes: int, source: Integers, target: Integers, values: Any = None) -> Any:
    """Sparse (V, V), a row for each target."""
    ones = np.ones(len(source)) if values is None else values
    return coo_array((ones, (target, source)), shape=(nodes, nodes)).tocsr()


def _turns_in_a_circle(cognitive_map: CognitiveMap, meaning: Meaning) -> int:
    """After how many turns most nodes are reached again; 4 where the map does not say."""
    table = step_targets(cognitive_map, int(np.flatnonzero(meaning.turn)[0]))
    home = np.arange(len(table))
    place, returned = table, np.zeros(len(_PERIODS), dtype=np.int64)
    waiting = table != home
    for times in range(2, _PERIODS.stop):
        place = np.where(place >= 0, table[place], -1)
        if times in _PERIODS:
            returned[times - _PERIODS.start] = (waiting & (place == home)).sum()
        waiting &= place != home
    return _PERIODS.start + int(returned.argmax()) if returned.any() else 4


def _headings(
    nodes: int, source: Integers, target: Integers, rotation: Complex, support: Integers
) -> Complex:
    """(V,) unit vectors; the first node of a component looks up.

    Taken along the best supported edges first, then settled by what all neighbours of a node say, since a wrong
    edge of that tree would turn everything behind it.
    """
    says = _adjacent(nodes, source, target, rotation * support)
    says = (says + says.conj().T).tocsr()
    tree = csgraph.minimum_spanning_tree(abs(says).power(-1))
    heading = np.zeros(nodes, dtype=complex)
    for first in range(nodes):
        if heading[first]:
            continue
        order, before = csgraph.breadth_first_order(tree, first, directed=False)
        heading[first] = -1j
        for node in order[1:].tolist():
            heading[node] = says[node, before[node]] * heading[before[node]]
            heading[node] /= abs(heading[node])
    for _ in range(_SWEEPS):
        said = says @ heading
        heading = np.where(np.abs(said) > 0, said / np.maximum(np.abs(said), 1e-12), heading)
    return heading


def _solve(nodes: int, source: Integers, target: Integers, moved: Complex) -> Complex:
    """(V,) points whose differences along edges are nearest to the moves (E,); each component around 0.

    Nearest in absolute distance, by least squares in which an edge counts the less the worse it fits.
    """
    edge = np.arange(len(source))
    ends = coo_array(
        (np.repeat([1.0, -1.0], len(edge)), (np.tile(edge, 2), np.concatenate([target, source]))),
        shape=(len(edge), nodes),
    ).tocsr()
    weight = np.ones(len(edge))
    for _ in range(_SWEEPS):
        weighted = ends * weight[:, None]
        wanted = weight * moved
        across, down = (lsqr(weighted, one, atol=1e-9, btol=1e-9)[0] for one in (wanted.real, wanted.imag))
        points = np.asarray(across + 1j * down)
        missed = np.abs(points[target] - points[source] - moved)
        if missed.max() < _EXACT:
            break
        weight = np.sqrt(_EXACT / np.maximum(missed, _EXACT))
    return points


def _uncrowded(points: Floats, part: Integers) -> Floats:
    """(V, 2) the same points, but nodes of one component that would cover each other stand on a small circle."""
    apart = np.column_stack([points, part])  # components never crowd each other
    pairs = KDTree(apart).query_pairs(_CROWDED, output_type="ndarray").reshape(-1, 2)
    if not len(pairs):
        return points
    _, crowd = csgraph.connected_components(_adjacent(len(points), *pairs.T), directed=False)
    points = points.copy()
    for number in np.flatnonzero(np.bincount(crowd) > 1).tolist():
        members = np.flatnonzero(crowd == number)
        angle = 2 * np.pi * np.arange(len(members)) / len(members)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points[members] = points[members].mean(axis=0) + _CROWDED * circle
    return points
