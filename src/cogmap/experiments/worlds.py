"""The bench of worlds: every method on logs of many worlds and sizes, beside the truth.

Rooms, a torus, a maze, a cube, street networks, machines of real systems, a MiniGrid room, Gymnasium's toy worlds with
and without chance. Places that no walk can distinguish count as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from cogmap.environments.cube import AliasedCube
from cogmap.environments.gym_tables import cliff_walking, frozen_lake, taxi
from cogmap.environments.machines import MachineWorld, load_machine, shipped_machines
from cogmap.environments.minigrid_table import minigrid_world
from cogmap.environments.minimal import minimal_world
from cogmap.environments.room import AliasedRoom
from cogmap.environments.streets import street_network
from cogmap.environments.table import maze_from_text, torus
from cogmap.errors import BadConfig
from cogmap.experiments.cells import Cell
from cogmap.experiments.trials import slug
from cogmap.records import Integers, TableWorld, Truth, Walks

MINUTES = {10_000: 1.0, 50_000: 2.0, 200_000: 3.0, 1_000_000: 10.0}  # by steps of a log, for each method
SIZES = (200_000, 50_000, 10_000)
METHODS = ("tdb", "cscg", "edsm", "ngram")
TEST_WALKS = 100
WALK, LOG = 400, 60  # steps of a walk, and of a log of a machine from its start
MAZE = """
    ..a....#...
    .##.##.#.#.
    .#...#...#.
    ...#.#b###.
    ##.#.....#.
    a..###.#.>.
    .#.....#...
"""


def _machine(name: str, seed: int) -> TableWorld:
    """A machine that comes with the package; there is one, whatever the seed."""
    return MachineWorld(load_machine(name))


WORLDS: dict[str, Callable[[int], TableWorld]] = {
    "room-6x8": lambda seed: AliasedRoom(6, 8, 4, seed=seed),
    "room-15x20": lambda seed: AliasedRoom(15, 20, 4, seed=seed),
    "torus-7x9": lambda seed: torus(7, 9, 3, one_way_doors=12, seed=seed),
    "maze": lambda seed: maze_from_text(MAZE),
    "cube-4": lambda seed: AliasedCube(edge=4, observations=8, seed=seed),
    "streets-60": lambda seed: street_network(60, seed=seed),
    "streets-200": lambda seed: street_network(200, seed=seed),
    **{name: partial(_machine, name) for name in shipped_machines()},
    "minigrid-8x8": lambda seed: minigrid_world("MiniGrid-Empty-8x8-v0", view=3, seed=seed),
    "frozenlake-dry": lambda seed: frozen_lake("8x8", slippery=False),
    "frozenlake": lambda seed: frozen_lake("4x4", slippery=True),
    "cliff": lambda seed: cliff_walking(slippery=True),
    "taxi": lambda seed: taxi(rainy=True),
}


@dataclass(frozen=True)
class WorldData:
    """A log sampled in one of the worlds."""

    world: str
    steps: int
    seed: int

    def load(self) -> tuple[Walks, Walks, Truth | None]:
        from cogmap.walks.sample import sample_walks

        world, length = self._world()
        walks, _ = self.log()
        test, truth = sample_walks(world, TEST_WALKS, length, np.random.default_rng([self.seed, 3]))
        return walks, test, truth

    def log(self) -> tuple[Walks, Truth]:
        """The log, with its own truth."""
        from cogmap.walks.sample import sample_walks

        world, length = self._world()
        return sample_walks(world, self.steps // length, length, np.random.default_rng([self.seed, 1]))

    def _world(self) -> tuple[TableWorld, int]:
        """The world, and the steps of a walk in it."""
        world = minimal_world(WORLDS[self.world](self.seed))
        return world, LOG if isinstance(world, MachineWorld) else WALK


@lru_cache
def unseen_moves(world: str, steps: int, seed: int) -> int:
    """How many moves of a world its log never makes: no map of the log can be exact if there is one."""
    walks, truth = WorldData(world, steps, seed).log()
    return never_made(truth.world, truth.positions, walks)


def never_made(world: TableWorld, positions: Integers, walks: Walks) -> int:
    """Moves of the world that no walk makes. A state of a machine has several positions, one for each last output."""
    state = np.arange(world.num_positions)
    if isinstance(world, MachineWorld):
        state = np.unique(world.next_position, axis=0, return_inverse=True)[1].reshape(-1)
    known, made = walks.step_mask()[:, 1:], np.zeros((state.max() + 1, world.num_actions), dtype=bool)
    made[state[positions[:, :-1][known]], walks.actions[known]] = True
    doable = np.zeros_like(made)
    np.logical_or.at(doable, state, world.legal_actions())
    return int((doable & ~made).sum())


def minutes_for(steps: int) -> float:
    """What each method is given for a log of so many steps."""
    return next((minutes for most, minutes in MINUTES.items() if steps <= most), max(MINUTES.values()))


def bench_cells(
    worlds: tuple[str, ...],
    methods: tuple[str, ...],
    sizes: tuple[int, ...],
    seeds: int,
    minutes: float | None,
    out: Path,
) -> list[Cell]:
    """The cells of the bench, size by size. minutes: for each method and log; by default by the size of the log."""
    unknown = [name for name in worlds if name not in WORLDS]
    if unknown:
        raise BadConfig(f"a world must be one of {', '.join(WORLDS)}, got {unknown[0]!r:.60}")

    def cell(world: str, steps: int, seed: int, method: str) -> Cell:
        time = minutes_for(steps) if minutes is None else minutes
        return Cell(
            log=world,
            steps=steps,
            seed=seed,
            method=method,
            minutes=time,
            data=WorldData(world, steps, seed),
            folder=out / f"{slug(world)}-{steps}-{seed}-{method}",
            command=f"python -m benchmarks.worlds --worlds {world} --sizes {steps} --methods {method} "
            f"--minutes {time:g}",
            keeps_run=method.startswith("tdb"),
        )

    return [
        cell(world, steps, seed, method)
        for steps in sizes
        for seed in range(seeds)
        for world in worlds
        for method in methods
    ]
