"""Maps of walks by a trained model: a run's own maps built again, or the map of other walks."""

from __future__ import annotations

from pathlib import Path

from cogmap.records import CognitiveMap, Walks
from cogmap.runs.names import MapKind
from cogmap.runs.run import Run
from cogmap.runs.writing import writing
from cogmap.tasks import TrainingData, task_of
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
) -> CognitiveMap:
    """The map of the walks in a file; of a family's run, of one `room` among them.

    progress: is told how the search goes; Ctrl-C then takes the shortest map so far.
    """
    walks = run.load_walks(path)
    if run.task == "family":
        from cogmap.tasks.family import one_room

        walks = one_room(walks, room_of_each_walk(path), room)
    return task_of(run.task).map_walks(run, walks, kind, progress)
