"""Keeps the run in memory as it is on disk, and as it last was where the disk holds half of it or nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cogmap.app.opened_map import OpenedMap, open_map
from cogmap.app.refusals import Refusal
from cogmap.app.run_files import (
    CONCEPTS_FILE,
    CONFIG_FILE,
    EARLY_MAP_FILE,
    MAP_FILES,
    METRICS_FILE,
    QUANTIZER_FILE,
    SCORE_FILES,
    VIEWS_FILE,
    NodeViews,
    RunConfig,
    read_concepts,
    read_config,
    read_rows,
    read_scores,
    read_truth,
    read_views,
    read_walks,
)
from cogmap.app.state import run_state
from cogmap.errors import BadRun, CogmapError
from cogmap.records import Truth, Walks
from cogmap.report.tables import Scored

if TYPE_CHECKING:
    from cogmap.evaluation.concepts import NodeConcepts

Stamp = tuple[int, int, int] | None  # time, size and number of a file; None where there is none


class Keeper:
    """The run folder's records. `refresh` may run in any thread; what it replaces, it replaces whole."""

    def __init__(self, folder: Path, walks_path: Path | None = None) -> None:
        self.folder = folder
        self.config: RunConfig | None = None
        self.maps: dict[str, OpenedMap] = {}
        self.rows: list[dict[str, Any]] = []
        self.scores: tuple[Scored, ...] = ()
        self.concepts: NodeConcepts | None = None
        self.views: NodeViews | None = None
        self.walks: Walks | None = None
        self.truth: Truth | None = None
        self.state = "waiting"
        self._walks_path = walks_path
        self._stamps: dict[str, Any] = {}
        self._problems: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def problems(self) -> list[str]:
        """What could not be read, one line each; what was read before it is still served."""
        return list(self._problems.values())

    def open(self) -> None:
        """The first look: here a folder that is no run, or bad walks, is an error; later a problem that is told."""
        self.config = read_config(self.folder)
        if self._walks_path is not None:
            self.walks = read_walks(self._walks_path, self.folder, self.config)
        self.refresh()

    def refresh(self) -> None:
        """Take in what changed on disk since the last look."""
        with self._lock:
            self._take(CONFIG_FILE, (CONFIG_FILE,), self._take_config)
            if self.config is None:
                return
            self._take("walks", (QUANTIZER_FILE,), self._take_walks)
            self._take(METRICS_FILE, (METRICS_FILE,), self._take_rows)
            self._take("scores", tuple(SCORE_FILES), self._take_scores)
            self._take(VIEWS_FILE, (VIEWS_FILE,), self._take_views)
            for kind, names in MAP_FILES.items():
                self._take(f"{kind} map", names, lambda kind=kind, names=names: self._take_map(kind, names))  # type: ignore[misc]
            minimal = self.maps.get("minimal")
            self._take(
                CONCEPTS_FILE,
                (CONCEPTS_FILE,),
                self._take_concepts,
                None if minimal is None else minimal.revision,
            )
            self.state = run_state(self.folder, self.config.makes_map) if self.folder.is_dir() else self.state

    def map(self, kind: str, revision: str | None = None) -> OpenedMap:
        """One of the run's maps, refused where it is not there or no longer the one that is meant."""
        opened = self.maps.get(kind)
        if opened is None:
            raise BadRun(f"a run must hold {MAP_FILES[kind][0]}, this one does not yet")
        if revision is not None and revision != opened.revision:
            raise Refusal(409, f"`revision` must be that of the map, {opened.revision}, got {revision[:40]}")
        return opened

    def _take(
        self, what: str, names: tuple[str, ...], take: Callable[[], None], depends_on: str | None = None
    ) -> None:
        """Read again if a file changed, or what its meaning depends on.

        On any failure the last good state stays, and the reason is told.
        """
        stamps = tuple(_stamp(self.folder / name) for name in names)
        before, on = self._stamps.get(what, (None, None))
        if (stamps, depends_on) == (before, on):
            return
        self._stamps[what] = stamps, depends_on
        if before is not None and any(before) and not any(stamps):
            self._problems[what] = f"{' and '.join(names)} cannot be found any more"
            return
        try:
            take()
            self._problems.pop(what, None)
        except CogmapError as problem:
            self._problems[what] = str(problem)
        except Exception as problem:  # a stranger's file can be wrong in ways that no reader foresees
            self._problems[what] = f"{what} cannot be read: {type(problem).__name__}"

    def _take_config(self) -> None:
        if (self.folder / CONFIG_FILE).exists():
            self.config = read_config(self.folder)

    def _take_walks(self) -> None:
        if self._walks_path is None or self.config is None:
            return
        if self.walks is None:
            self.walks = read_walks(self._walks_path, self.folder, self.config)
        self.truth = read_truth(self._walks_path, self.folder, self.walks, self.config)

    def _take_rows(self) -> None:
        self.rows = read_rows(self.folder)

    def _take_scores(self) -> None:
        if self.config is not None:
            self.scores = read_scores(self.folder, self.config.name)

    def _take_concepts(self) -> None:
        minimal = self.maps.get("minimal")
        self.concepts = None if minimal is None else read_concepts(self.folder, minimal.map.num_nodes)

    def _take_views(self) -> None:
        self.views = read_views(self.folder)

    def _take_map(self, kind: str, names: tuple[str, ...]) -> None:
        present = [name for name in names if (self.folder / name).is_file()]
        if not present:
            return
        newest = max(present, key=lambda name: (self.folder / name).stat().st_mtime_ns)
        opened = open_map(self.folder / newest, kind, newest == EARLY_MAP_FILE, self.walks, self.truth)
        if self.config is not None and opened.map.num_observations > self.config.num_observations:
            raise BadRun(f"{newest} must be of this run, it has more observations")
        self.maps = {**self.maps, kind: opened}


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def encode_json(value: Any) -> bytes:
    """Compact, and in ASCII, so that no text of a user's can break it."""
    return _ENCODER.encode(value).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"no JSON for {type(value).__name__}")


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_plain)
