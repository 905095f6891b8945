"""Codes like those of a trained model, sampled in worlds with known truth.

A localised step has one of several codes of its place. Before the agent is localised, a code stands for its set of
possible places. A few codes are wrong, and a few observations too if there is noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cogmap.records import Codes, TableWorld, Walks

UP, DOWN, LEFT, RIGHT = range(4)
MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])


@dataclass(frozen=True)
class Coding:
    """How codes come about."""

    per_place: int = 5  # codes of a place, the i-th used in proportion to 1 / i
    by_history: float = 0.5  # share of steps whose code depends on the step before instead of chance
    wrong: float = 0.01  # share of confident steps that show a code of another place
    uncertain: int = 30  # steps in which an agent may not know where it is
    beliefs: int = 400  # codes for sets of places; more sets share them
    bottlenecks: int = 1
    flips: float = 0.02  # share of each bottleneck's codes replaced by chance
    noise: float = 0.0  # share of observations replaced by chance


@dataclass(frozen=True)
class Coded:
    codes: Codes
    walks: Walks
    positions: np.ndarray  # (B, N)
    world: TableWorld


def grid(height, width, observations, rng, patch=0, wrap=False, one_way=0):
    """A room (or torus) where bumping stays; `patch` cells square look alike twice; some doors open one way only."""
    seen = rng.integers(0, observations, (height, width))
    if patch:
        seen[-patch:, -patch:] = seen[:patch, :patch]
    row, column = np.divmod(np.arange(height * width), width)
    to_row, to_column = row[:, None] + MOVES[:, 0], column[:, None] + MOVES[:, 1]
    if wrap:
        to_row, to_column = to_row % height, to_column % width
    inside = (to_row >= 0) & (to_row < height) & (to_column >= 0) & (to_column < width)
    stay = np.arange(height * width)[:, None]
    table = np.where(inside, to_row * width + to_column, stay)
    for place, action in zip(rng.integers(0, len(table), one_way), rng.integers(0, 4, one_way), strict=True):
        table[place, action] = place
    return TableWorld(table, seen.ravel(), observations)


def cube(edge, observations, rng):
    """Six faces whose edges join as a cube's do: moves across an edge land on the adjoining face."""
    cells = {}
    for axis in range(3):
        for side in (-1, edge):
            for i in range(edge):
                for j in range(edge):
                    point = [i, j]
                    point.insert(axis, side)
                    cells[tuple(point)] = len(cells)
    table = np.zeros((len(cells), 4), dtype=int)
    for point, place in cells.items():
        axis = next(k for k in range(3) if point[k] in (-1, edge))
        first, second = (k for k in range(3) if k != axis)
        for action, (direction, change) in enumerate([(first, -1), (first, 1), (second, -1), (second, 1)]):
            moved = list(point)
            moved[direction] += change
            if moved[direction] in (-1, edge):  # over the edge: step inwards on the adjoining face
                moved[axis] += 1 if point[axis] == -1 else -1
            table[place, action] = cells[tuple(moved)]
    return TableWorld(table, rng.integers(0, observations, len(cells)), observations)


def walk(world, walks, steps, rng):
    """Positions (B, N) and actions (B, N - 1) of random walks that draw legal actions evenly."""
    positions = np.zeros((walks, steps), dtype=np.int64)
    positions[:, 0] = rng.integers(0, world.num_positions, walks)
    actions = np.zeros((walks, steps - 1), dtype=np.int64)
    legal = world.legal_actions()
    for n in range(steps - 1):
        wish = rng.random((walks, world.num_actions)) * legal[positions[:, n]]
        actions[:, n] = wish.argmax(axis=1)
        positions[:, n + 1] = world.next_position[positions[:, n], actions[:, n]]
    return positions, actions


def beliefs(world, observations, actions, steps):
    """(B, steps) a number for the set of places an agent may be in, and whether that is a single place."""
    walks, places = len(observations), world.num_positions
    belief = np.ones((walks, places), dtype=bool)
    hashes = np.random.default_rng(0).integers(0, 2**40, places)
    number, certain = np.zeros((walks, steps), dtype=np.int64), np.zeros((walks, steps), dtype=bool)
    for n in range(steps):
        fitting = belief & (world.observation == observations[:, n, None])
        belief = np.where(fitting.any(axis=1, keepdims=True), fitting, belief)
        number[:, n], certain[:, n] = belief @ hashes, belief.sum(axis=1) == 1
        if n == actions.shape[1]:
            break
        moved = np.zeros_like(belief)
        walker, place = np.nonzero(belief)
        moved[walker, world.next_position[place, actions[walker, n]]] = True
        belief = moved
    return number, certain


def encode(world, walks, steps, rng, coding=Coding()):
    """Walks in `world` and the codes a model would give them."""
    positions, actions = walk(world, walks, steps, rng)
    observations = world.observation[positions]
    if coding.noise:
        chance = rng.integers(0, world.num_observations, observations.shape)
        observations = np.where(rng.random(observations.shape) < coding.noise, chance, observations)
    place = _mistake(positions, rng, coding.wrong, world.num_positions)
    variant = _variants(positions, actions, rng, coding)
    noisy = (observations != world.observation[positions]) & (rng.random(positions.shape) < 0.5)
    variant = np.where(noisy, coding.per_place + observations, variant)
    kinds = coding.per_place + world.num_observations
    number = place * kinds + variant  # (B, N) one number per place and variant
    number[:, : coding.uncertain] = _unsure(number, world, observations, actions, coding, kinds)
    codes, size = _bottlenecks(number, kinds, rng, coding)
    lengths = np.full(walks, steps)
    record = Walks(observations, actions, lengths, world.num_observations, world.num_actions)
    return Coded(Codes(codes, lengths, size), record, positions, world)


def _mistake(positions, rng, share, places):
    wrong = rng.random(positions.shape) < share
    return np.where(wrong, rng.integers(0, places, positions.shape), positions)


def _variants(positions, actions, rng, coding):
    use = 1 / np.arange(1, coding.per_place + 1)
    chance = rng.choice(coding.per_place, positions.shape, p=use / use.sum())
    before = np.concatenate((np.zeros((len(positions), 1), dtype=np.int64), actions + 1), axis=1)
    history = (before * 7 + positions * 3) % coding.per_place
    return np.where(rng.random(positions.shape) < coding.by_history, history, chance)


def _unsure(number, world, observations, actions, coding, kinds):
    early = number[:, : coding.uncertain]
    if coding.uncertain == 0:
        return early
    belief, certain = beliefs(world, observations, actions, early.shape[1])
    return np.where(certain, early, world.num_positions * kinds + belief % coding.beliefs)


def _bottlenecks(number, kinds, rng, coding):
    """One bottleneck gives the number itself; of several each has its own many-to-one coding of it, and flips."""
    if coding.bottlenecks == 1:
        return number[:, :, None], int(number.max()) + 1
    size = max(int(number.max()) // 4, 8)
    tables = rng.integers(0, size, (coding.bottlenecks, number.max() + 1))
    codes = np.stack([table[number] for table in tables], axis=-1)
    flipped = rng.random(codes.shape) < coding.flips
    return np.where(flipped, rng.integers(0, size, codes.shape), codes), size


def true_edges_right(places_next, code_node, index, coded):
    """Node count, places stood for, and edges that agree with the world through each node's commonest position."""
    node = np.where(index >= 0, code_node[index], -1)
    at = np.zeros((len(places_next), coded.world.num_positions), dtype=int)
    np.add.at(at, (node[node >= 0], coded.positions[node >= 0]), 1)
    place = at.argmax(axis=1)  # (V,)
    want = coded.world.next_position[place]  # (V, A)
    right = (places_next >= 0) & (place[places_next] == want)
    return len(places_next), len(np.unique(place)), int(right.sum())
