"""Watches a run folder: its records as they are on disk, or as they last were where the disk holds half of them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogmap.app.security import Refusal
from cogmap.app.shown_map import ShownMap, open_map
from cogmap.errors import BadRun, CogmapError
from cogmap.records import Truth, Walks
from cogmap.report.tables import Scored
from cogmap.runs.folder import RunFolder
from cogmap.runs.names import (
    CONCEPTS_FILE,
    CONFIG_FILE,
    EARLY_MAP_FILE,
    MAP_FILES,
    QUANTIZER_FILE,
    SCORE_FILES,
    VIEWS_FILE,
    MapKind,
    State,
)
from cogmap.runs.stored import NodeViews
from cogmap.training.progress import METRICS_FILE

if TYPE_CHECKING:
    from cogmap.evaluation.concepts import NodeConcepts

# The files that show each map: of a training in progress an early one, until the final one is newer.
_SHOWN_FILES: dict[MapKind, tuple[str, ...]] = {
    "minimal": (MAP_FILES["minimal"], EARLY_MAP_FILE),
    "paper": (MAP_FILES["paper"],),
}
Stamp = tuple[int, int, int] | None  # time, size and number of a file; None where there is none


class RunWatcher:
    """The run folder's records. `refresh` may run in any thread; what it replaces, it replaces whole."""

    def __init__(self, folder: Path, walks_path: Path | None = None) -> None:
        self.folder = folder
        self.run: RunFolder | None = None
        self.maps: dict[MapKind, ShownMap] = {}
        self.rows: list[dict[str, Any]] = []
        self.scores: tuple[Scored, ...] = ()
        self.concepts: NodeConcepts | None = None
        self.views: NodeViews | None = None
        self.walks: Walks | None = None
        self.truth: Truth | None = None
        self.state: State = "waiting"
        self._walks_path = walks_path
        self._stamps: dict[str, Any] = {}
        self._problems: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def problems(self) -> list[str]:
        """What could not be read, one line each; what was read before it is still served."""
        return list(self._problems.values())

    def open(self) -> None:
        """The first look. A folder that is no run, or bad walks, is an error here; later it is one of the problems."""
        self.run = RunFolder(self.folder)
        if self._walks_path is not None:
            self.walks = self.run.load_walks(self._walks_path)
        self.refresh()

    def refresh(self) -> None:
        """Read what changed on disk since the last look."""
        with self._lock:
            self._update(CONFIG_FILE, (CONFIG_FILE, QUANTIZER_FILE), self._open_run)
            if self.run is None:
                return
            self._update("walks", (QUANTIZER_FILE,), partial(self._read_walks, self.run))
            self._update(METRICS_FILE, (METRICS_FILE,), partial(self._read_rows, self.run))
            self._update("scores", tuple(SCORE_FILES.values()), partial(self._read_scores, self.run))
            self._update(VIEWS_FILE, (VIEWS_FILE,), partial(self._read_views, self.run))
            for kind, names in _SHOWN_FILES.items():
                self._update(f"{kind} map", names, partial(self._read_map, self.run, kind))
            shown = self.maps.get("minimal")
            revision = None if shown is None else shown.revision
            self._update(CONCEPTS_FILE, (CONCEPTS_FILE,), partial(self._read_concepts, self.run), revision)
            if self.folder.is_dir():
                self.state = self.run.state()

    def known_run(self) -> RunFolder:
        if self.run is None:
            raise BadRun("a run must hold config.json, this one does not yet")
        return self.run

    def known_truth(self) -> Truth:
        if self.truth is None:
            raise Refusal(
                404, "the run must be served with --walks FILE and the truth beside FILE, got no truth"
            )
        return self.truth

    def known_walks(self) -> Walks:
        if self.walks is None:
            raise Refusal(404, "the run must be served with --walks FILE for this, got no walks")
        return self.walks

    def map(self, kind: MapKind, revision: str | None = None) -> ShownMap:
        """One of the run's maps; refused where it is not there, or not the revision that is meant."""
        shown = self.maps.get(kind)
        if shown is None:
            raise BadRun(f"a run must hold {MAP_FILES[kind]}, this one does not yet")
        if revision is not None and revision != shown.revision:
            raise Refusal(409, f"`revision` must be that of the map, {shown.revision}, got {revision[:40]}")
        return shown

    @property
    def largest_map(self) -> int:
        """Nodes of the largest map that is served."""
        return max((shown.map.num_nodes for shown in self.maps.values()), default=0)

    def metric_columns(self) -> dict[str, list[Any]]:
        """metrics.jsonl as a list a field, null where a row has none or a number that JSON cannot express."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return {name: [_finite(row.get(name)) for row in self.rows] for name in names}

    def _update(
        self, what: str, names: tuple[str, ...], read: Callable[[], None], depends_on: str | None = None
    ) -> None:
        """Read again if a file changed, or what its meaning depends on.

        On any failure the last good state stays, and the reason is among the problems.
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
            read()
            self._problems.pop(what, None)
        except CogmapError as problem:
            self._problems[what] = str(problem)
        except Exception as problem:  # a stranger's file can be wrong in ways that no reader expects
            self._problems[what] = f"{what} cannot be read: {type(problem).__name__}"

    def _open_run(self) -> None:
        if (self.folder / CONFIG_FILE).exists():
            self.run = RunFolder(self.folder)

    def _read_walks(self, run: RunFolder) -> None:
        if self._walks_path is None:
            return
        if self.walks is None:
            self.walks = run.load_walks(self._walks_path)
        self.truth = run.load_truth(self._walks_path, self.walks)

    def _read_rows(self, run: RunFolder) -> None:
        self.rows = run.metrics()

    def _read_scores(self, run: RunFolder) -> None:
        self.scores = run.scores()

    def _read_concepts(self, run: RunFolder) -> None:
        shown = self.maps.get("minimal")
        self.concepts = None if shown is None else run.concepts(shown.map.num_nodes)

    def _read_views(self, run: RunFolder) -> None:
        self.views = run.node_views()

    def _read_map(self, run: RunFolder, kind: MapKind) -> None:
        present = [name for name in _SHOWN_FILES[kind] if (self.folder / name).is_file()]
        if not present:
            return
        newest = max(present, key=lambda name: (self.folder / name).stat().st_mtime_ns)
        shown = open_map(self.folder / newest, kind, newest == EARLY_MAP_FILE, self.walks, self.truth)
        if shown.map.num_observations > run.config.num_observations:
            rule = f"{newest} must have at most the run's {run.config.num_observations} observations"
            raise BadRun(f"{rule}, got {shown.map.num_observations}")
        self.maps = {**self.maps, kind: shown}


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
