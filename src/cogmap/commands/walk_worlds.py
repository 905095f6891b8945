"""The worlds that `cogmap walk` knows: the options of each, and how walks are drawn in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import tyro

from cogmap.environments.cube import AliasedCube
from cogmap.environments.room import AliasedRoom, Bump
from cogmap.environments.room_family import RoomFamily, restricted_families, room_families
from cogmap.environments.table import maze_from_text, torus
from cogmap.errors import BadConfig, BadWorld
from cogmap.records import Integers, TableWorld, Truth, Walks
from cogmap.walks.sample import sample_family_walks, sample_walks


class Sample(NamedTuple):
    walks: Walks
    truth: Truth | None = None  # None where only the environment knows
    rooms: Integers | None = None  # (B,) the room of each walk in a family
    pictured: TableWorld | None = None  # the world as the first walk saw it


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The options that all worlds share."""

    out: Path
    """file to write: .npz, .jsonl or .csv; the truth goes beside it, to <name>.truth.npz"""
    walks: int = 2048
    """number of walks"""
    steps: int = 400
    """observations in each walk"""
    seed: int = 0
    """seed of the world, and of the walks unless --walk-seed is given"""
    walk_seed: int | None = None
    """seed of the walks: another one gives other walks in the same world"""
    noise: float = 0.0
    """share of the observations replaced by random ones, after the walk"""
    figure: Path | None = None
    """draw the world, with the start of the first walk in it, to this .png, .svg or .pdf"""
    force: bool = False
    """overwrite files that exist"""
    json: bool = False
    """print what was written as JSON"""

    def sample(self, rng: np.random.Generator) -> Sample:
        world = self.world()
        walks, truth = sample_walks(world, self.walks, self.steps, rng)
        return Sample(walks, truth, pictured=world)

    def world(self) -> TableWorld:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Room(Sampling):
    """The paper's aliased room: a grid of few colours with a patch of it copied to a second place."""

    height: int = 15
    """rows"""
    width: int = 20
    """columns"""
    observations: int = 4
    """number of colours"""
    patch: int | None = None
    """side of the patch that occurs twice, 0 for none; as large as the paper's where it fits if not given"""
    walls: int | float = 0
    """inner walls: a number of cells, or a share of the room below 1"""
    bump: Bump = "stay"
    """at a wall: stay and see the same again, or draw only among the open moves"""

    def world(self) -> TableWorld:
        return AliasedRoom(
            self.height, self.width, self.observations, self.patch, self.walls or None, self.bump, self.seed
        )


@dataclass(frozen=True, kw_only=True)
class Cube(Sampling):
    """The surface of a cube: six faces, no border anywhere."""

    edge: int = 6
    """cells along an edge"""
    observations: int = 12
    """number of colours"""

    def world(self) -> TableWorld:
        return AliasedCube(self.edge, self.observations, self.seed)


@dataclass(frozen=True, kw_only=True)
class Family(Sampling):
    """Many rooms with one partition and different colours, a room drawn for each walk (section 4.5)."""

    rooms: Literal["train", "test", "restricted", "A", "B", "C", "D"] = "train"
    """training rooms, or new rooms to test on; or the training and test rooms of the rule R"""
    train_rooms: int | None = None
    """number of training rooms; 10000 if not given, 5000 of them under the rule R"""
    test_rooms: int = 512
    """number of test rooms of each kind"""
    colours: int = 30
    """number of colours that rooms draw theirs from"""
    height: int = 6
    """rows"""
    width: int = 8
    """columns"""
    observations: int = 4
    """colours in each room"""
    patch: int | None = None
    """side of the patch that occurs twice, 0 for none"""
    bump: Bump = "stay"
    """at a wall: stay and see the same again, or draw only among the open moves"""

    def sample(self, rng: np.random.Generator) -> Sample:
        family = self.family()
        walks, truth, rooms = sample_family_walks(family, self.walks, self.steps, rng)
        return Sample(walks, truth, rooms, pictured=family.room(int(rooms[0])))

    def family(self) -> RoomFamily:
        plain = self.rooms in ("train", "test")
        train_rooms = self.train_rooms if self.train_rooms is not None else (10_000 if plain else 5_000)
        if train_rooms < 1 or self.test_rooms < 1:
            raise BadConfig(
                f"`train_rooms` (={train_rooms}) and `test_rooms` (={self.test_rooms}) must be at least 1"
            )
        base = AliasedRoom(
            self.height, self.width, self.observations, self.patch, bump=self.bump, seed=self.seed
        )
        if plain:
            pair = room_families(train_rooms, self.test_rooms, base, self.colours, self.seed)
            return pair[self.rooms == "test"]
        families = restricted_families(train_rooms, self.test_rooms, base, self.colours, self.seed)
        return families["train" if self.rooms == "restricted" else self.rooms]


@dataclass(frozen=True, kw_only=True)
class Torus(Sampling):
    """A grid whose opposite borders are joined, with one-way doors if wanted."""

    height: int = 6
    """rows"""
    width: int = 8
    """columns"""
    observations: int = 4
    """number of colours"""
    one_way_doors: int = 0
    """pairs of neighbours between which only one way is open"""

    def world(self) -> TableWorld:
        return torus(self.height, self.width, self.observations, self.one_way_doors, self.seed)


@dataclass(frozen=True, kw_only=True)
class Maze(Sampling):
    """A maze drawn as text: # is a wall, ^ v < > are one-way doors, cells drawn alike are seen alike."""

    drawing: tyro.conf.Positional[Path]
    """text file with the drawing"""

    def world(self) -> TableWorld:
        try:
            return maze_from_text(self.drawing.read_text(encoding="utf-8"))
        except OSError as error:
            raise BadWorld(f"cannot read {self.drawing}: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise BadWorld(
                f"{self.drawing} must be UTF-8 text: {error.reason} at byte {error.start}"
            ) from None


@dataclass(frozen=True, kw_only=True)
class Gym(Sampling):
    """Any Gymnasium environment with discrete actions (extra `gym`). It has no truth that we could write."""

    env_id: tyro.conf.Positional[str]
    """name of the environment, led by the module that registers it: minigrid:MiniGrid-FourRooms-v0"""
    settings: str = "{}"
    """arguments for the environment as JSON, say '{"agent_view_size": 3}'"""
    actions: tuple[int, ...] = ()
    """the actions to draw from; all of them if not given"""

    def sample(self, rng: np.random.Generator) -> Sample:
        from cogmap.walks.record import record_walks

        if self.figure is not None:
            raise BadConfig(
                "`--figure` must be left out for a Gymnasium environment, which has no coordinates"
            )
        env = self.environment()
        try:
            return Sample(record_walks(env, self.walks, self.steps, self.seed, self.actions or None, rng=rng))
        finally:
            env.close()

    def environment(self) -> Any:
        import gymnasium

        try:
            settings = json.loads(self.settings)
        except ValueError as error:
            raise BadConfig(f"`--settings` must be JSON: {error}") from None
        if not isinstance(settings, dict):
            raise BadConfig(f"`--settings` must be a JSON object, got {self.settings}")
        try:
            return gymnasium.make(self.env_id, **settings)
        except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
            raise BadWorld(f"cannot make the environment {self.env_id!r}: {error}") from error
