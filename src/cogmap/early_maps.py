"""Maps of a training under way, so that one can watch the map appear. Nothing of the training changes by it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from cogmap.errors import CogmapError
from cogmap.maps.build import build_map
from cogmap.maps.latent import is_text, latent_graph
from cogmap.maps.store import save_map
from cogmap.models.inference import encode
from cogmap.models.tdb import TDB
from cogmap.records import Walks
from cogmap.training.loop import Trainer
from cogmap.training.progress import Progress, Row

EARLY_MAP_FILE = "map.early.npz"
MOST_STEPS = 20_000  # of the walks that an early map is made from
MOST_SHARE = 0.03  # of the time that goes into early maps


class EarlyMaps:
    """A progress that also writes `map.early.npz` after a validation, once the bottleneck has begun to close.

    The next one waits until the last took at most three hundredths of the time that went by since it was begun.
    """

    def __init__(
        self,
        shown: Progress,
        trainer: Trainer,
        walks: Walks,
        folder: Path,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._shown, self._trainer, self._folder, self._clock = shown, trainer, folder, clock
        self._walks = walks.rows(slice(0, max(1, MOST_STEPS // walks.num_steps)))
        self._not_before = 0.0

    def begin(self, title: str) -> None:
        self._shown.begin(title)

    def step(self, step: int, last_step: int, loss: float, steps_per_second: float) -> None:
        self._shown.step(step, last_step, loss, steps_per_second)

    def row(self, row: Row) -> None:
        self._shown.row(row)
        started = self._clock()
        if started >= self._not_before and self._has_codes():
            self._write()
            ended = self._clock()
            self._not_before = ended + (ended - started) / MOST_SHARE

    def end(self, message: str) -> None:
        self._shown.end(message)

    def _has_codes(self) -> bool:
        model = self._trainer.model
        return isinstance(model, TDB) and bool(model.bottlenecks.ready)

    def _write(self) -> None:
        """A map that cannot be made yet is left out: the training goes on."""
        try:
            codes, _ = encode(self._trainer.model, self._walks)
            make = latent_graph if is_text(self._walks) else build_map
            save_map(self._folder / EARLY_MAP_FILE, make(codes, self._walks))
        except CogmapError:
            return


def forget_early_map(folder: Path) -> None:
    """The map of the finished training takes its place."""
    (folder / EARLY_MAP_FILE).unlink(missing_ok=True)
