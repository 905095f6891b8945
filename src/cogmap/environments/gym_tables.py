"""Gymnasium's own worlds with chance, from its tables: FrozenLake, CliffWalking and Taxi (extra `gym`).

Two things differ from playing them. What is seen is aliased: a sensor of what is near, not the number of the state. And
walks continue: at the end of an episode any action leads back to where episodes start, with reward 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cogmap.environments.chance import chance_world
from cogmap.environments.oracle import reachable_from
from cogmap.errors import BadWorld, MissingExtra
from cogmap.records import ChanceWorld, Floats, Integers, Labels, TableWorld

LakeSize = Literal["4x4", "8x8"]
SIDES = ("N", "E", "S", "W")
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # row and column of a step to each side
Table = Mapping[int, Mapping[int, Sequence[tuple[float, int, float, bool]]]]  # Gymnasium's `P`


def frozen_lake(size: LakeSize = "8x8", slippery: bool = True) -> ChanceWorld:
    """FrozenLake. What is seen is the letter of the tile: S, F, H or G, so all frozen tiles look alike.

    slippery: a third of the moves goes where it should, the others to either side.
    """
    if size not in ("4x4", "8x8"):
        raise BadWorld(f'`size` must be "4x4" or "8x8", got {size!r}')
    chance, sure = (_make("FrozenLakeEnv", map_name=size, is_slippery=slips) for slips in (slippery, False))
    letters = [tile.decode() for tile in chance.desc.ravel()]
    actions = ("left", "down", "right", "up")
    return _world("frozenlake", chance, sure, letters, actions, _grid(*chance.desc.shape))


def cliff_walking(slippery: bool = True) -> ChanceWorld:
    """CliffWalking. What is seen is on which sides there is a wall or the cliff, "wall N-W" or "cliff S".

    slippery: a third of the moves goes where it should, the others to either side.
    """
    chance, sure = (_make("CliffWalkingEnv", is_slippery=slips) for slips in (slippery, False))
    height, width = chance.shape
    cliff = np.zeros((height, width), dtype=bool)
    cliff[-1, 1:-1] = True
    labels = []
    for row, column in np.ndindex(height, width):
        sides: dict[str, list[str]] = {"wall": [], "cliff": []}
        for side, (down, right) in zip(SIDES, STEPS, strict=True):
            there = (row + down, column + right)
            if not (0 <= there[0] < height and 0 <= there[1] < width):
                sides["wall"].append(side)
            elif cliff[there]:
                sides["cliff"].append(side)
        named = [f"{what} {'-'.join(where)}" for what, where in sides.items() if where]
        labels.append(", ".join(named) or "free")
    actions = ("up", "right", "down", "left")
    return _world("cliff", chance, sure, labels, actions, _grid(height, width))


def taxi(rainy: bool = True) -> ChanceWorld:
    """Taxi. What is seen is on which sides of the taxi there are walls, where the passenger is and where to go.

    rainy: a fifth of the moves goes to either side of where it should.
    """
    chance, sure = (_make("TaxiEnv", is_rainy=rains) for rains in (rainy, False))
    labels = []
    for state in range(len(chance.P)):
        row, column, passenger, goal = chance.decode(state)
        walls = _taxi_walls(chance.desc, row, column)
        labels.append(f"wall {walls or 'none'}, passenger {'RGYB*'[passenger]}, to {'RGYB'[goal]}")
    actions = ("south", "north", "east", "west", "pick up", "drop off")
    return _world("taxi", chance, sure, labels, actions)


def _taxi_walls(drawing: Any, row: int, column: int) -> str:
    """The sides of a cell with a wall, as Gymnasium draws it: walls to east and west are `|`."""
    blocked = {
        "N": row == 0,
        "E": drawing[row + 1, 2 * column + 2] == b"|",
        "S": row + 3 == len(drawing),
        "W": drawing[row + 1, 2 * column] == b"|",
    }
    return "-".join(side for side in SIDES if blocked[side])


def _make(name: str, **settings: Any) -> Any:
    try:
        from gymnasium.envs import toy_text
    except ImportError as error:
        raise MissingExtra('Gymnasium must be installed for this: pip install "cogmap[gym]"') from error
    try:
        return getattr(toy_text, name)(**settings)
    except TypeError as error:
        raise MissingExtra(f"{name} needs a newer Gymnasium: pip install -U gymnasium ({error})") from error


def _world(
    name: str,
    chance: Any,
    sure: Any,
    labels: Sequence[str],
    actions: Labels,
    coordinates: Floats | None = None,
) -> ChanceWorld:
    """The world of the states that occur. sure: the same environment without chance, for what a move intends."""
    start = np.asarray(chance.initial_state_distrib, dtype=np.float64)
    source, action, target, probability, reward = _moves(chance.P, start / start.sum())
    kept = reachable_from(start > 0, source, target)
    number = np.cumsum(kept) - 1
    inside = kept[source]
    source, target = number[source[inside]].astype(np.int32), number[target[inside]].astype(np.int32)
    words, observation = np.unique(np.array(labels)[kept], return_inverse=True)
    intended = np.array([[sure.P[state][act][0][1] for act in sorted(sure.P[state])] for state in sure.P])
    plain = TableWorld(
        next_position=np.where(kept[intended], number[intended], 0)[kept].astype(np.int32),
        observation=observation.reshape(-1).astype(np.int32),
        num_observations=len(words),
        coordinates=None if coordinates is None else coordinates[kept],
        observation_labels=tuple(words.tolist()),
        action_labels=actions,
        name=name,
        start_probability=start[kept] / start.sum(),
    )
    return chance_world(plain, source, action[inside], target, probability[inside], reward[inside])


def _moves(table: Table, start: Floats) -> tuple[Integers, Integers, Integers, Floats, Floats]:
    """Source, action, target, probability and reward (E,), with moves from the ends of episodes to their starts."""
    ends = {
        target for row in table.values() for outcomes in row.values() for _, target, _, end in outcomes if end
    }
    starts = [(float(start[state]), int(state), 0.0, False) for state in np.flatnonzero(start)]
    moves = [
        (state, action, target, probability, reward)
        for state, row in table.items()
        for action, outcomes in row.items()
        for probability, target, reward, _ in (starts if state in ends else outcomes)
    ]
    source, action, target, probability, reward = (np.array(column) for column in zip(*moves, strict=True))
    whole = (column.astype(np.int32) for column in (source, action, target))
    return *whole, probability.astype(np.float64), reward.astype(np.float64)  # type: ignore[return-value]


def _grid(height: int, width: int) -> Floats:
    return np.argwhere(np.ones((height, width), dtype=bool)).astype(np.float64)
