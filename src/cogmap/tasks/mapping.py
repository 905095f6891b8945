"""Maps of walks by a trained model: a run's own maps built again, or the map of other walks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from cogmap.records import CognitiveMap, Walks
from cogmap.runs.names import MapKind
from cogmap.runs.run import Run
from cogmap.runs.writing import writing
from cogmap.tasks import TrainingData, task_of
from cogmap.tasks.counting import Engine, check_engine, count_on_ray
from cogmap.training.progress import Progress
from cogmap.walks.family import room_of_each_walk


def build_maps(run: Run, walks: Walks, map_seconds: float | None = None) -> None:
    """Build a run's maps again, from these walks. A training stopped before its bottleneck has no map yet."""
    if run.has_codes:
        with writing(run.folder):
            task_of(run.task).build_maps(
                run, TrainingData(run.task, run.categorical(walks), map_seconds=map_seconds)
            )


def map_file(
    run: Run,
    path: Path,
    kind: MapKind = "minimal",
    room: int | None = None,
    progress: Progress | None = None,
    engine: Engine = "local",
) -> CognitiveMap:
    """The map of the walks in a file; of a family's run, of one `room` among them.

    progress: is told how the search goes; Ctrl-C then takes the shortest map so far.
    engine: what counts a log that is too large to be searched whole: this process, or a Ray cluster.
    """
    check_engine(engine, run, path, kind)
    walks = run.load_walks(path)
    if run.task == "family":
        from cogmap.tasks.family import one_room

        walks = one_room(walks, room_of_each_walk(path), room)
    if engine == "ray":
        from cogmap.tasks import places

        count = partial(count_on_ray, folder=run.folder, path=path, progress=progress)
        return places.map_walks(run, walks, kind, progress, count)
    return task_of(run.task).map_walks(run, walks, kind, progress)
