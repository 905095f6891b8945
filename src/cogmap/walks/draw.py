"""Sample walks in any world, and write them to a file with their truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cogmap.environments.egocentric.room import EgocentricRoom
from cogmap.environments.room_family import RoomFamily
from cogmap.errors import BadWalks
from cogmap.files import write_folder
from cogmap.records import Integers, TableWorld, Truth, Walks
from cogmap.walks.family import save_family_walks
from cogmap.walks.log import log_of, small_type
from cogmap.walks.log_store import LogWriter, open_log
from cogmap.walks.sample import PLAIN, Agent, add_noise, sample_family_walks, sample_walks
from cogmap.walks.store import save_walks
from cogmap.walks.truth_store import save_truth, truth_path
from cogmap.walks.views import ViewWalks, draw_walks

DRAWN_AT_ONCE = 1 << 22  # steps of a log


class Drawn(NamedTuple):
    """Sampled walks and what is known about them."""

    walks: Walks
    truth: Truth | None = None  # None if it is not known
    rooms: Integers | None = None  # (B,) the room of each walk in a family
    pictured: TableWorld | None = None  # the world of the first walk, for a picture


def walk_stream(seed: int) -> np.random.Generator:
    """The random stream for walks, which differs from the world's own stream of the same seed."""
    return np.random.default_rng([seed, 1])


def draw(
    world: TableWorld | RoomFamily,
    walks: int,
    steps: int,
    seed: int = 0,
    noise: float = 0.0,
    agent: Agent = PLAIN,
) -> Drawn:
    """`walks` random walks of `steps` observations. In a 3D room they are walks of views; in a family each walk is in
    a random room.

    seed: of the walks; the world has its own.
    noise: share of the observations that are replaced by random ones.
    agent: a known start, slips and repeated actions.
    """
    rng = walk_stream(seed)
    if isinstance(world, RoomFamily):
        seen, truth, rooms = sample_family_walks(world, walks, steps, rng, agent)
        drawn = Drawn(seen, truth, rooms, world.room(int(rooms[0])))
    else:
        seen, truth = draw_walks(world, walks, steps, rng, agent)
        drawn = Drawn(seen, truth, pictured=truth.world if isinstance(world, EgocentricRoom) else world)
    return with_noise(drawn, noise, seed)


def draw_log(
    path: Path,
    world: TableWorld,
    walks: int,
    steps: int,
    seed: int = 0,
    noise: float = 0.0,
    agent: Agent = PLAIN,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Drawn:
    """Walks as from `draw`, written to a `.walks` folder as they are drawn, some four million steps at a time.

    Returns: the walks mapped from the folder, and the truth of those that were drawn first. The truth that is written
        holds the positions of all walks, if they were drawn at once, or the world alone.
    progress: called with the number of walks that are drawn, and of all.
    """
    if walks < 1:
        raise BadWalks(f"`walks` (={walks}) must be at least 1")
    rng, noise_rng = walk_stream(seed), np.random.default_rng([seed, 2])
    at_once = max(1, DRAWN_AT_ONCE // steps) if steps > 1 else walks
    first: Truth | None = None
    with write_folder(path) as folder:
        kinds = small_type(world.num_observations), small_type(world.num_actions)
        with LogWriter(folder, *kinds) as writer:
            for done in range(0, walks, at_once):
                part, truth = sample_walks(world, min(at_once, walks - done), steps, rng, agent)
                first = truth if first is None else first
                writer.add(log_of(add_noise(part, noise, noise_rng) if noise else part))
                progress(min(done + at_once, walks), walks)
        writer.finish(
            world.num_observations, world.num_actions, world.observation_labels, world.action_labels
        )
    assert first is not None  # there is at least one walk
    save_truth(path, first, positions=walks <= at_once)
    return Drawn(open_log(path), first, pictured=world)


def with_noise(drawn: Drawn, noise: float, seed: int) -> Drawn:
    if not noise:
        return drawn
    return drawn._replace(walks=add_noise(drawn.walks, noise, np.random.default_rng([seed, 2])))


def save_drawn(path: Path, drawn: Drawn) -> dict[str, Path]:
    """Write the truth and then the walks, so that walks with truth never exist without it.

    Returns: the files, by content.
    """
    written = {"walks": path}
    if drawn.truth is None:
        truth_path(path).unlink(missing_ok=True)  # the truth of the walks that are overwritten
    else:
        written["truth"] = save_truth(path, drawn.truth, drawn.rooms)
    if drawn.rooms is not None and path.suffix == ".npz":
        save_family_walks(path, drawn.walks, drawn.rooms)
    else:
        save_walks(path, drawn.walks)
    return written


def describe(drawn: Drawn, written: Mapping[str, Path]) -> str:
    """One line per file written."""
    walks, truth = drawn.walks, drawn.truth
    kind = "distinct views" if isinstance(walks, ViewWalks) else "observations"
    sizes = f"{walks.num_observations} {kind}, {walks.num_actions} actions"
    line = f"wrote {written['walks']}: {walks.num_walks} walks of {walks.num_steps} steps, {sizes}"
    if truth is None:
        return line
    whole = truth.positions.shape[0] == walks.num_walks
    what = "the true positions, among" if whole else "the true world without the walks' positions,"
    return f"{line}\nwrote {written['truth']}: {what} {truth.world.num_positions} places"
