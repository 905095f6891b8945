"""A map counted again in all steps of a large log, shard by shard: in this process, or as tasks of a Ray cluster.

A shard is some consecutive walks. Its counts are the same whoever makes them, and they are added in the order of the
shards: so the map of a cluster is that of one machine to the last count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cogmap.errors import BadConfig, BadWalks, CogmapError
from cogmap.hmm.states import StateCounts
from cogmap.maps.recount import count_again, has_counts, shard_counts
from cogmap.records import CognitiveMap, Walks
from cogmap.runs.folder import RunFolder
from cogmap.tasks.cluster import RETRIES, connected
from cogmap.walks.log import BLOCK, WalkLog, blocks, total_steps, walk_parts
from cogmap.walks.log_store import SUFFIX

if TYPE_CHECKING:
    from cogmap.training.progress import Progress

Engine = Literal["local", "ray"]
SHARD = BLOCK  # steps of a shard, about
# Counts a map again in all walks of a log.
Counter = Callable[[CognitiveMap, WalkLog], CognitiveMap]


def count_here(
    found: CognitiveMap, log: WalkLog, progress: Progress | None = None, steps: int = SHARD
) -> CognitiveMap:
    """The map with the counts of all walks, made in this process. steps: of a shard."""
    if not has_counts(found):
        return found
    shards = num_shards(log, steps)
    counts = (count_shard(found, log, number, steps) for number in range(shards))
    return count_again(found, _told(counts, shards, progress))


def count_on_ray(
    found: CognitiveMap,
    log: WalkLog,
    folder: Path,
    path: Path,
    progress: Progress | None = None,
    steps: int = SHARD,
) -> CognitiveMap:
    """The same by tasks of a Ray cluster, which read the run's folder and the log themselves: all machines share both.

    A task whose worker or machine dies is started again.
    """
    if not has_counts(found):
        return found
    ray = connected()
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(_count_remotely)
    shared = ray.put(found)
    about = folder.absolute(), path.absolute(), log.num_walks, total_steps(log)
    shards = num_shards(log, steps)
    waiting = deque(task.remote(shared, number, steps, *about) for number in range(shards))
    try:
        return count_again(found, _told(_fetched(ray, waiting), shards, progress))
    finally:
        for each in waiting:
            ray.cancel(each, force=True)


def check_engine(engine: Engine, run: RunFolder, path: Path, kind: str) -> None:
    """Ray counts the minimal map of a place, in a log that machines can read part by part."""
    if engine == "local":
        return
    if run.task != "places" or kind != "minimal" or not run.has_network:
        raise BadConfig("`--engine ray` counts the minimal map of a TDB of one place, not another map")
    if path.suffix != SUFFIX:
        raise BadConfig(f"`--engine ray` is for a folder {SUFFIX} (cogmap convert makes it), got {path}")


def num_shards(log: WalkLog, steps: int = SHARD) -> int:
    return sum(1 for _ in blocks(_evened(log, steps).lengths, steps))


def count_shard(found: CognitiveMap, log: WalkLog, number: int, steps: int = SHARD) -> StateCounts:
    """The expected counts of one shard of the log."""
    log = _evened(log, steps)
    chosen = next(block for place, block in enumerate(blocks(log.lengths, steps)) if place == number)
    counts = shard_counts(found, (part for _, part in walk_parts(log.only(chosen))))
    assert counts is not None  # a shard has walks
    return counts


def _evened(log: WalkLog, steps: int) -> WalkLog:
    """The walks as they are, but for those that are longer than a shard: these are cut."""
    return log if log.num_steps <= steps else log.cut(steps)


def _told(counts: Iterator[StateCounts], shards: int, progress: Progress | None) -> Iterator[StateCounts]:
    """The counts, one shard after the other, with a line about each."""
    try:
        for number, each in enumerate(counts):
            if progress is not None:
                progress.now(f"counting the log: {number + 1} of {shards} parts")
            yield each
    finally:
        if progress is not None:
            progress.now_end()


def _count_remotely(
    found: CognitiveMap, number: int, steps: int, folder: Path, path: Path, walks: int, total: int
) -> StateCounts:
    """As `count_shard`, on a machine that opens the log itself; it must have so many walks and steps."""
    log = _opened(folder, path)
    if (log.num_walks, total_steps(log)) != (walks, total):
        rule = f"{path} must be the same log on all machines, with {walks} walks and {total} steps"
        raise BadWalks(f"{rule}, got {log.num_walks} and {total_steps(log)}")
    return count_shard(found, log, number, steps)


@lru_cache(maxsize=1)  # a worker counts many shards of one log
def _opened(folder: Path, path: Path) -> WalkLog:
    log: Walks = RunFolder(folder).load_walks(path)
    assert isinstance(log, WalkLog)  # `check_engine` saw to it
    return log


def _fetched(ray: Any, waiting: deque[Any]) -> Iterator[StateCounts]:
    """The counts of tasks in their order, each taken off once it is done. What went wrong there is one line here."""
    while waiting:
        try:
            yield ray.get(waiting[0])
        except ray.exceptions.RayTaskError as problem:
            own = isinstance(problem.cause, CogmapError)
            raise (problem.cause if own else problem) from None
        waiting.popleft()
