"""Maps of a training in progress, so that one can watch the map appear. The training itself is not changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from cogmap.errors import CogmapError
from cogmap.maps.store import save_map
from cogmap.models.inference import encode
from cogmap.models.tdb import TDB
from cogmap.runs.names import EARLY_MAP_FILE
from cogmap.tasks import TrainingData, task_of
from cogmap.training.loop import Trainer
from cogmap.training.progress import Progress, Relayed, Row
from cogmap.walks.log import sampled

MOST_STEPS = 20_000  # of the walks that an early map is made from
MOST_SHARE = 0.03  # of the time that goes into early maps


class EarlyMaps(Relayed):
    """A progress that also writes `map.early.npz` after a validation, once the model has codes.

    The next one waits until the last took at most three hundredths of the time since it was begun.
    """

    def __init__(
        self,
        shown: Progress,
        trainer: Trainer,
        data: TrainingData,
        folder: Path,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(shown)
        self._trainer, self._folder, self._clock = trainer, folder, clock
        self._task = task_of(data.task)
        self._walks = sampled(data.walks, MOST_STEPS)
        self._not_before = 0.0

    def row(self, row: Row) -> None:
        super().row(row)
        started = self._clock()
        if started >= self._not_before and self._has_codes():
            self._write()
            ended = self._clock()
            self._not_before = ended + (ended - started) / MOST_SHARE

    def _has_codes(self) -> bool:
        model = self._trainer.model
        return isinstance(model, TDB) and bool(model.bottlenecks.ready)

    def _write(self) -> None:
        """A map that cannot be made yet is left out, and the training continues."""
        try:
            codes, _ = encode(self._trainer.model, self._walks)
            found = self._task.early_map(codes, self._walks)
        except CogmapError:
            return
        if found is not None:
            save_map(self._folder / EARLY_MAP_FILE, found)
