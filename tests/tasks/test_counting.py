"""Maps of large logs counted in shards: the same from any number of them, and by a cluster of which a worker dies."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.environments.table import torus
from cogmap.errors import BadConfig, BadWalks
from cogmap.maps.build import build_map
from cogmap.maps.store import load_map
from cogmap.records import Codes, CognitiveMap
from cogmap.tasks import counting
from cogmap.tasks.counting import check_engine, count_here, num_shards
from cogmap.training.progress import Silent
from cogmap.walks.log import WalkLog, log_of
from cogmap.walks.sample import sample_walks

PROGRAM = Path(__file__).with_name("ray_two_counters.py")


def map_and_log(lengths: int = 40, walks: int = 200) -> tuple[CognitiveMap, WalkLog]:
    world = torus(3, 4, observations=3, one_way_doors=2, seed=1)
    log, truth = sample_walks(world, walks, lengths, np.random.default_rng(0))
    some = log.rows(slice(0, 60))
    return build_map(Codes(truth.positions[:60, :, None], some.lengths, 12), some), log_of(log)


def test_shards_count_as_the_whole() -> None:
    found, log = map_and_log()
    whole, parted = count_here(found, log), count_here(found, log, steps=900)
    assert num_shards(log) == 1
    assert num_shards(log, 900) == 10
    np.testing.assert_array_equal(whole.edge_support, parted.edge_support)
    np.testing.assert_array_equal(whole.node_support, parted.node_support)
    assert whole.node_support.sum() == 200 * 40


def test_a_walk_longer_than_a_shard_is_cut() -> None:
    found, log = map_and_log(lengths=4000, walks=60)
    assert num_shards(log, 1000) > 60
    parted = count_here(found, log, steps=1000)
    pieces = log.cut(1000).num_walks
    assert (
        parted.node_support.sum() == 60 * 4000 + pieces - 60
    )  # a piece begins with the last step of the one before


def test_every_shard_is_told() -> None:
    class Told(Silent):
        lines: tuple[str, ...] = ()

        def now(self, line: str) -> None:
            self.lines += (line,)

        def now_end(self) -> None:
            self.lines += ("end",)

    found, log = map_and_log()
    told = Told()
    count_here(found, log, told, steps=4000)
    assert told.lines == ("counting the log: 1 of 2 parts", "counting the log: 2 of 2 parts", "end")


def test_another_log_on_a_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found, log = map_and_log()
    monkeypatch.setattr(counting, "_opened", lambda folder, path: log)
    path = Path("big.walks")
    rule = r"big.walks must be the same log on all machines, with 201 walks and 8000 steps, got 200 and 8000"
    with pytest.raises(BadWalks, match=rule):
        counting._count_remotely(found, 0, 900, Path("run"), path, 201, 8000)


def test_ray_counts_only_what_machines_can_share(tmp_path: Path) -> None:
    walks = map_and_log()[1].rows(slice(0, 60))
    run = cogmap.learn(walks, tmp_path / "run", steps=2, quiet=True, width=16, num_codes=8)
    check_engine("local", run, Path("room.npz"), "paper")
    with pytest.raises(
        BadConfig, match=r"`--engine ray` is for a folder .walks .cogmap convert makes it., got room.npz"
    ):
        check_engine("ray", run, Path("room.npz"), "minimal")
    with pytest.raises(
        BadConfig, match=r"`--engine ray` counts the minimal map of a TDB of one place, not another map"
    ):
        check_engine("ray", run, Path("room.walks"), "paper")


@pytest.mark.learning
@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason='Ray is missing: pip install "cogmap[ray]"')
def test_a_cluster_counts_the_same_though_a_worker_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert len(found["killed"]) == 1
    assert len(found["told"]) == 20
    here, by_ray = load_map(tmp_path / "here.npz"), load_map(tmp_path / "ray.npz")
    assert here.node_support.sum() == 6_000_000
    for name in ("node_support", "edge_support", "edge_probability", "seen_probability"):
        np.testing.assert_array_equal(getattr(here, name), getattr(by_ray, name))
