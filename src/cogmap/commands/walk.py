"""Sample walks in a world and write them to a file, with the truth beside them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from cogmap.commands.output import Told, print_json, refuse_to_overwrite
from cogmap.environments.cube import AliasedCube
from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.egocentric.textures import TextureSource
from cogmap.environments.gym_tables import LakeSize, cliff_walking, frozen_lake, taxi
from cogmap.environments.machines import MachineWorld, load_machine
from cogmap.environments.room import AliasedRoom, Bump
from cogmap.environments.room_family import FamilyRooms, RoomFamily, choose_family
from cogmap.environments.streets import street_network
from cogmap.environments.table import maze_from_text, torus
from cogmap.errors import BadConfig, BadOutput, BadWorld
from cogmap.files import parse_json, read_text
from cogmap.records import TableWorld
from cogmap.walks.draw import Drawn, describe, draw, draw_log, save_drawn, walk_stream, with_noise
from cogmap.walks.log import WalkLog
from cogmap.walks.log_store import SUFFIX
from cogmap.walks.sample import PLAIN, Agent
from cogmap.walks.store import check_output
from cogmap.walks.truth_store import truth_path

FIGURE_STEPS = 60  # of the first walk: more would hide the room


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The options that all worlds share."""

    out: Path
    """file to write: .npz, .jsonl, .csv, or .walks for large logs; the truth goes to <name>.truth.npz beside it"""
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
    slip: float = 0.0
    """probability that a random legal action is carried out; the file keeps the intended one"""
    sticky: float = 0.0
    """probability that the agent repeats its last action, where that is legal"""
    start: int | Literal["first"] | None = None
    """first position of every walk, `first` for position 0; by default the world's own start, or a random one"""
    figure: Path | None = None
    """draw the world, with the start of the first walk in it, to this .png, .svg or .pdf"""
    force: bool = False
    """overwrite files that exist"""
    json: bool = False
    """print what was written as JSON"""

    @property
    def drawn_from(self) -> int:
        """The seed of the walks."""
        return self.seed if self.walk_seed is None else self.walk_seed

    def draw(self) -> Drawn:
        world = self.world()
        if self.out.suffix == SUFFIX and not isinstance(world, RoomFamily | EgocentricRoom):
            told = Told(f"drawing {self.walks} walks")
            sizes = (self.walks, self.steps, self.drawn_from, self.noise)
            return draw_log(self.out, world, *sizes, self.agent(), told)
        return draw(world, self.walks, self.steps, self.drawn_from, self.noise, self.agent())

    def agent(self) -> Agent:
        return Agent(self.slip, self.sticky, 0 if self.start == "first" else self.start)

    def world(self) -> TableWorld | RoomFamily:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Room(Sampling):
    """The paper's aliased room: a grid of few colours, with a patch that occurs twice."""

    height: int = 15
    """rows"""
    width: int = 20
    """columns"""
    observations: int = 4
    """number of colours"""
    patch: int | None = None
    """side of the patch that occurs twice, 0 for none; by default 4, or half the shorter side if that is less"""
    walls: int | float = 0
    """inner walls: a number of cells, or a share of the room below 1"""
    bump: Bump = "stay"
    """at a wall: stay in place, or sample only among the moves that are open"""

    def world(self) -> TableWorld:
        return AliasedRoom(
            self.height, self.width, self.observations, self.patch, self.walls or None, self.bump, self.seed
        )


@dataclass(frozen=True, kw_only=True)
class Room3d(Sampling):
    """A 3D room seen through the agent's eyes: forward, left, right, and views of 64 x 64 pixels (extra `3d`)."""

    height: int = 9
    """metres from north to south, a cell each"""
    width: int = 9
    """metres from west to east"""
    plan: Path | None = None
    """text file with a floor plan instead of a random one: . is free, # a wall, o a pillar"""
    textures: TextureSource = "auto"
    """DeepMind Lab's textures (labmaze) or painted ones; auto: the former where they are installed"""

    def world(self) -> EgocentricRoom:
        if self.out.suffix != ".npz":
            raise BadOutput(f"walks of views must be kept in .npz, got {self.out.name!r}")
        drawing = None if self.plan is None else read_text(self.plan, BadWorld)
        return EgocentricRoom(self.height, self.width, self.seed, drawing, self.textures)


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
    """Many rooms with one layout and different colours; each walk is in a random one (section 4.5)."""

    rooms: FamilyRooms = "train"
    """training rooms, or new rooms to test on; or those of the rule R"""
    train_rooms: int | None = None
    """number of training rooms; 10000 by default, 5000 with the rule R"""
    test_rooms: int = 512
    """number of test rooms of each kind"""
    colours: int = 30
    """number of colours in all rooms together"""
    height: int = 6
    """rows"""
    width: int = 8
    """columns"""
    observations: int = 4
    """colours in each room"""
    patch: int | None = None
    """side of the patch that occurs twice, 0 for none"""
    bump: Bump = "stay"
    """at a wall: stay in place, or sample only among the moves that are open"""

    def world(self) -> RoomFamily:
        return choose_family(
            self.rooms,
            self.train_rooms,
            self.test_rooms,
            self.colours,
            self.height,
            self.width,
            self.observations,
            self.patch,
            self.bump,
            self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class Torus(Sampling):
    """A grid whose opposite borders are joined, optionally with one-way doors."""

    height: int = 6
    """rows"""
    width: int = 8
    """columns"""
    observations: int = 4
    """number of colours"""
    one_way_doors: int = 0
    """number of one-way doors between neighbours"""

    def world(self) -> TableWorld:
        return torus(self.height, self.width, self.observations, self.one_way_doors, self.seed)


@dataclass(frozen=True, kw_only=True)
class Maze(Sampling):
    """A maze drawn as text: # is a wall, ^ v < > are one-way doors, equal characters look alike."""

    drawing: tyro.conf.Positional[Path]
    """text file with the drawing"""

    def world(self) -> TableWorld:
        return maze_from_text(read_text(self.drawing, BadWorld))


@dataclass(frozen=True, kw_only=True)
class Streets(Sampling):
    """A planar street network with one-way streets. The observation at a corner: which turns are legal."""

    corners: int = 1000
    """number of corners"""
    one_way: float = 0.1
    """share of the streets that are one-way"""
    bump: Bump = "resample"
    """where there is no street: sample only among the legal turns, or stay in place"""

    def world(self) -> TableWorld:
        return street_network(self.corners, self.one_way, self.bump, self.seed)


@dataclass(frozen=True, kw_only=True)
class Machine(Sampling):
    """A Mealy machine: random inputs from its initial state; the observation is the output of each."""

    file: tyro.conf.Positional[Path]
    """.json or .dot file of the machine, or the name of one in the package, such as CC2650"""

    def world(self) -> TableWorld:
        if self.figure is not None:
            raise BadConfig("`--figure` must be left out for a machine, which has no coordinates")
        return MachineWorld(load_machine(self.file))


@dataclass(frozen=True, kw_only=True)
class Frozenlake(Sampling):
    """Gymnasium's FrozenLake (extra `gym`). The observation is the letter of the tile."""

    size: LakeSize = "8x8"
    """size of the lake"""
    deterministic: bool = False
    """actions do not slip; by default they slip to a side two times in three"""

    def world(self) -> TableWorld:
        return frozen_lake(self.size, not self.deterministic)


@dataclass(frozen=True, kw_only=True)
class Cliff(Sampling):
    """Gymnasium's CliffWalking (extra `gym`). The observation: on which sides is a wall or the cliff."""

    deterministic: bool = False
    """actions do not slip; by default they slip to a side two times in three"""

    def world(self) -> TableWorld:
        return cliff_walking(not self.deterministic)


@dataclass(frozen=True, kw_only=True)
class Taxi(Sampling):
    """Gymnasium's Taxi in the rain (extra `gym`). The observation: walls around, passenger, destination."""

    deterministic: bool = False
    """actions do not slip; by default they slip to a side one time in five"""

    def world(self) -> TableWorld:
        if self.figure is not None:
            raise BadConfig("`--figure` must be left out for the taxi, whose places have no coordinates")
        return taxi(not self.deterministic)


@dataclass(frozen=True, kw_only=True)
class Gym(Sampling):
    """Any Gymnasium environment with discrete actions (extra `gym`), without a truth file."""

    env_id: tyro.conf.Positional[str]
    """id of the environment, such as MiniGrid-FourRooms-v0; or package:Name-v0, if the package registers it"""
    settings: str = "{}"
    """arguments of the environment as JSON, such as '{"agent_view_size": 3}'"""
    actions: tuple[int, ...] = ()
    """the actions to sample from; all by default"""

    def draw(self) -> Drawn:
        from cogmap.environments.gym import make_environment
        from cogmap.walks.record import record_walks

        if self.figure is not None:
            raise BadConfig(
                "`--figure` must be left out for a Gymnasium environment, which has no coordinates"
            )
        if self.agent() != PLAIN:
            rule = "`--slip`, `--sticky` and `--start` must be left out for a Gymnasium environment"
            raise BadConfig(f"{rule}, which has no tables")
        env = make_environment(self.env_id, self.parsed_settings())
        rng, actions = walk_stream(self.drawn_from), self.actions or None
        try:
            walks = record_walks(env, self.walks, self.steps, self.seed, actions, rng=rng)
        finally:
            env.close()
        return with_noise(Drawn(walks), self.noise, self.drawn_from)

    def parsed_settings(self) -> dict[str, Any]:
        try:
            settings = parse_json(self.settings)
        except ValueError as error:
            raise BadConfig(f"`--settings` must be JSON: {error}") from None
        if not isinstance(settings, dict):
            raise BadConfig(f"`--settings` must be a JSON object, got {self.settings}")
        return settings


Args = Room | Room3d | Cube | Family | Torus | Maze | Streets | Machine | Frozenlake | Cliff | Taxi | Gym


def run(args: Sampling) -> None:
    _check(args)
    drawn = args.draw()
    if isinstance(drawn.walks, WalkLog) and args.out.suffix == SUFFIX and drawn.truth is not None:
        written = {"walks": args.out, "truth": truth_path(args.out)}  # as it was drawn
    else:
        written = save_drawn(args.out, drawn)
    if args.figure is not None and drawn.truth is not None and drawn.pictured is not None:
        from cogmap.report.room_figures import world_figure
        from cogmap.report.style import save_figure

        save_figure(world_figure(drawn.pictured, drawn.truth.positions[0, :FIGURE_STEPS]), args.figure)
        written["figure"] = args.figure
    if args.json:
        print_json(_described(drawn, written))
        return
    print(describe(drawn, written))
    asked, got = args.walks * args.steps, int(drawn.walks.lengths.sum())
    if isinstance(args, Gym) and got < asked:
        more = int(np.ceil(args.walks * asked / got))
        print(
            f"note: episodes ended early, with {got} of {asked} steps: `--walks {more}` gives about as many as asked"
        )
    if "figure" in written:
        steps = min(drawn.walks.num_steps, FIGURE_STEPS)
        print(f"wrote {written['figure']}: the world, and the first {steps} steps of walk 0")


def _check(args: Sampling) -> None:
    """Everything that can be refused before the work."""
    check_output(args.out)
    if args.figure is not None:
        from cogmap.report.style import check_figure_path

        check_figure_path(args.figure)
    for option in ("noise", "slip", "sticky"):
        if not 0 <= getattr(args, option) <= 1:
            raise BadConfig(f"`--{option}` must be in [0, 1], got {getattr(args, option)}")
    if min(args.seed, args.drawn_from) < 0:
        raise BadConfig(
            f"`--seed` and `--walk-seed` must be 0 or more, got {min(args.seed, args.drawn_from)}"
        )
    outputs = [args.out, truth_path(args.out), *([] if args.figure is None else [args.figure])]
    refuse_to_overwrite(outputs, args.force)


def _described(drawn: Drawn, written: dict[str, Path]) -> dict[str, Any]:
    walks, truth = drawn.walks, drawn.truth
    return {
        **{kind: str(path) for kind, path in written.items()},
        "num_walks": walks.num_walks,
        "num_steps": walks.num_steps,
        "num_observations": walks.num_observations,
        "num_actions": walks.num_actions,
        "num_positions": None if truth is None else truth.world.num_positions,
    }
