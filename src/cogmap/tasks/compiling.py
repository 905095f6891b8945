"""Compiles what builds maps, before there is something to build.

The map is built when the training has used up its time. Its inner loops are compiled at their first use on a machine,
which takes longer than what is then left for the map. So tiny maps are built first, by each way: of walks from one
known state, which are folded, and of walks from anywhere, which are searched. What is compiled is kept beside the code
and is loaded the next time. `make setup` does it with `python -m cogmap.tasks.compiling`.
"""

from __future__ import annotations

import time

import numpy as np

from cogmap.environments.room import AliasedRoom
from cogmap.maps.build import KINDS, build_map
from cogmap.records import Codes, PredictedFutures, TableWorld
from cogmap.walks.sample import sample_walks


def compile_map_building() -> float:
    """The seconds that it took: half a minute of a core the first time, then about one second."""
    began = time.perf_counter()
    room = AliasedRoom(3, 3, observations=2, seed=0)
    for start in (None, np.eye(1, room.num_positions)[0]):
        world = TableWorld(
            next_position=room.next_position,
            observation=room.observation,
            num_observations=room.num_observations,
            start_probability=start,
        )
        walks, truth = sample_walks(world, 24, 40, np.random.default_rng(0))
        codes = Codes(truth.positions[:, :, None], walks.lengths, world.num_positions)
        for kind in KINDS:
            build_map(codes, walks, kind, futures=_futures(world), predicted=walks.observations[:, 1:])
    return time.perf_counter() - began


def _futures(world: TableWorld) -> PredictedFutures:
    """What a perfect model would predict one step ahead of each position, in the types of a trained one."""
    after = np.ascontiguousarray(world.observation[world.next_position])  # (P, A)
    tests = np.arange(world.num_actions, dtype=np.int32)[:, None]
    return PredictedFutures(tests, np.eye(world.num_observations, dtype=np.float32)[after], after)


if __name__ == "__main__":
    compile_map_building()
