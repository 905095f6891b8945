"""Planar street networks: corners joined by streets, some of them one-way. What is seen is which turns are legal."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cogmap.environments.room import Bump
from cogmap.errors import BadWorld
from cogmap.records import Booleans, Floats, Integers, Labels, TableWorld

COMPASS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")  # the actions, clockwise
MOST_STREETS = 5  # at one corner
STREETS_PER_CORNER = 1.45  # a mean degree of 2.9, about that of cities
LONGEST_STREET = 2.0  # in blocks; longer edges of the triangulation lie along its border
_BUILT_UP = 0.85  # share of the blocks of the plan that have a corner; the others are parks
_JITTER = 0.35  # in blocks; below half a block, so that no two corners share one

Indices = NDArray[np.intp]


class Streets(NamedTuple):
    """Streets as edges between two corners each."""

    ends: Indices  # (E, 2) corners
    direction: Indices  # (E, 2) the action that enters the street at each of its ends


def street_network(
    corners: int = 1000, one_way: float = 0.1, bump: Bump = "resample", seed: int = 0
) -> TableWorld:
    """A random planar street network. Every corner can be reached from every other.

    Actions are the eight compass directions. A street leaves a corner in its nearest direction, no two streets in the
    same one; it is entered by one direction and, if it is two-way, by the opposite one at its other end. An
    observation is the set of legal turns, which is also its label: "N-E-SW". So all corners with the same turns look
    alike.

    one_way: share of the streets that are one-way. A street that is the only link between two parts stays two-way.
    bump: what happens where there is no street. "stay": the agent may try the turn and stays in place.
        "resample": the agent draws only among the legal turns, which it sees.
    """
    if corners < 3:
        raise BadWorld(f"`corners` must be at least 3, got {corners}")
    if not 0 <= one_way <= 1:
        raise BadWorld(f"`one_way` must be a share in [0, 1], got {one_way}")
    if bump not in ("stay", "resample"):
        raise BadWorld(f'`bump` must be "stay" or "resample", got {bump!r}')
    rng = np.random.default_rng(seed)
    points = _draw_corners(rng, corners)
    streets = _draw_streets(rng, points)
    is_open = _close_ends(rng, streets, corners, round(one_way * len(streets.ends)))
    next_position, legal = _moves(streets, is_open, corners)
    observation, labels = _legal_turns(legal)
    return TableWorld(
        next_position=next_position,
        observation=observation,
        num_observations=len(labels),
        legal=legal if bump == "resample" else None,
        coordinates=points,
        observation_labels=labels,
        action_labels=COMPASS,
        name="streets",
    )


def _draw_corners(rng: np.random.Generator, corners: int) -> Floats:
    """(P, 2): row and column of each corner, one in each of some random blocks, near the block's middle."""
    blocks = corners / _BUILT_UP
    height = max(1, round(blocks**0.5))
    width = int(np.ceil(blocks / height))
    block = np.sort(rng.permutation(height * width)[:corners])
    middles = np.column_stack(np.divmod(block, width)).astype(np.float64)
    return middles + rng.uniform(-_JITTER, _JITTER, size=middles.shape)


def _draw_streets(rng: np.random.Generator, points: Floats) -> Streets:
    """A minimum spanning tree of the corners, and other short edges of their triangulation.

    Two edges of a minimum spanning tree that meet are at least 60 degrees apart, and a compass direction is 45 degrees
    wide. So no two of them leave a corner in the same direction, and a corner has at most five.
    """
    edges = _triangulate(points)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    in_tree = _spanning_tree(edges, length, len(points))
    others = np.flatnonzero(~in_tree & (length <= LONGEST_STREET))
    # Short streets are likelier, in the manner of a weighted shuffle.
    others = others[np.argsort(length[others] * rng.exponential(size=len(others)))]
    candidates = edges[np.concatenate([np.flatnonzero(in_tree), others])]
    direction = _directions(points, candidates)
    most = round(STREETS_PER_CORNER * len(points))
    chosen = _without_conflicts(candidates, direction, len(points), int(in_tree.sum()), most)
    return Streets(candidates[chosen], direction[chosen])


def _triangulate(points: Floats) -> Indices:
    """(E, 2): the edges of the Delaunay triangulation, each once."""
    from scipy.spatial import Delaunay

    triangles = np.sort(Delaunay(points).simplices, axis=1)  # (T, 3)
    return np.unique(np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [0, 2])]), axis=0)


def _spanning_tree(edges: Indices, length: Floats, corners: int) -> Booleans:
    """(E,): true for the edges of a minimum spanning tree."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    graph = csr_array((length, (edges[:, 0], edges[:, 1])), shape=(corners, corners))
    first, second = minimum_spanning_tree(graph).nonzero()
    return np.isin(edges[:, 0] * corners + edges[:, 1], first * corners + second)


def _directions(points: Floats, edges: Indices) -> Indices:
    """(E, 2): the nearest compass direction of each edge, seen from each of its ends."""
    down, right = (points[edges[:, 1]] - points[edges[:, 0]]).T
    clockwise_from_north = np.arctan2(right, -down)
    leaving = np.rint(clockwise_from_north / (np.pi / 4)).astype(np.intp) % 8
    return np.column_stack([leaving, (leaving + 4) % 8])


def _without_conflicts(edges: Indices, direction: Indices, corners: int, kept: int, most: int) -> list[int]:
    """The first `kept` edges, and further ones up to `most` whose directions are free at both ends."""
    taken: list[set[int]] = [set() for _ in range(corners)]
    chosen: list[int] = []
    ends = zip(edges.tolist(), direction.tolist(), strict=True)
    for edge, ((first, second), (leaves, returns)) in enumerate(ends):
        if edge >= kept:
            if len(chosen) >= most:
                break
            full = max(len(taken[first]), len(taken[second])) >= MOST_STREETS
            if full or leaves in taken[first] or returns in taken[second]:
                continue
        taken[first].add(leaves)
        taken[second].add(returns)
        chosen.append(edge)
    return chosen


def _close_ends(rng: np.random.Generator, streets: Streets, corners: int, number: int) -> Booleans:
    """(E, 2): whether a street may be entered at each of its ends, with `number` streets closed at one.

    A move may go if another way leads round it. Where a two-way street is not the only link between two parts, one of
    its two moves may always go (Boesch and Tindell 1980), so one pass over the streets suffices.
    """
    ways: list[set[int]] = [set() for _ in range(corners)]
    for first, second in streets.ends.tolist():
        ways[first].add(second)
        ways[second].add(first)
    is_open = np.ones(streets.ends.shape, dtype=bool)
    first_try = rng.integers(2, size=len(streets.ends)).tolist()
    for street in rng.permutation(len(streets.ends)).tolist():
        if number == 0:
            return is_open
        for end in (first_try[street], 1 - first_try[street]):
            here, there = streets.ends[street, [end, 1 - end]].tolist()
            ways[here].remove(there)
            if _reaches(ways, here, there):
                is_open[street, end] = False
                number -= 1
                break
            ways[here].add(there)
    if number > 0:
        placed = len(streets.ends) - int(is_open.all(axis=1).sum())
        rule = "`one_way` must leave every corner reachable from every other"
        raise BadWorld(f"{rule}, at most {placed} of {len(streets.ends)} streets can be one-way")
    return is_open


def _reaches(ways: list[set[int]], start: int, goal: int) -> bool:
    met, frontier = {start}, deque([start])
    while frontier:
        for corner in ways[frontier.popleft()] - met:
            if corner == goal:
                return True
            met.add(corner)
            frontier.append(corner)
    return False


def _moves(streets: Streets, is_open: Booleans, corners: int) -> tuple[Integers, Booleans]:
    """Next positions (P, A), in place where there is no street to enter, and legal turns (P, A)."""
    street, end = np.nonzero(is_open)
    here, there, action = (
        streets.ends[street, end],
        streets.ends[street, 1 - end],
        streets.direction[street, end],
    )
    next_position = np.repeat(np.arange(corners, dtype=np.int32)[:, None], len(COMPASS), axis=1)
    legal = np.zeros(next_position.shape, dtype=bool)
    next_position[here, action] = there
    legal[here, action] = True
    return next_position, legal


def _legal_turns(legal: Booleans) -> tuple[Integers, Labels]:
    """(P,): the number of each corner's set of turns among the sets that occur, and their labels."""
    sets, observation = np.unique(legal, axis=0, return_inverse=True)
    labels = ["-".join(np.array(COMPASS)[turns]) for turns in sets]
    return observation.reshape(-1).astype(np.int32), tuple(labels)
