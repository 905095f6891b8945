"""Watches a run folder: its records as they are on disk, or as they last were where the disk holds half of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cogmap.app import run_files
from cogmap.app.run_files import (
    CONCEPTS_FILE,
    CONFIG_FILE,
    EARLY_MAP_FILE,
    MAP_FILES,
    METRICS_FILE,
    VIEWS_FILE,
)
from cogmap.app.schema import Kind, State
from cogmap.app.security import Refusal
from cogmap.app.shown_map import ShownMap, open_map
from cogmap.app.state import run_state
from cogmap.errors import BadRun, CogmapError
from cogmap.records import Truth, Walks
from cogmap.report.tables import Scored

if TYPE_CHECKING:
    from cogmap.evaluation.concepts import NodeConcepts

Stamp = tuple[int, int, int] | None  # time, size and number of a file; None where there is none


class RunWatcher:
    """The run folder's records. `refresh` may run in any thread; what it replaces, it replaces whole."""

    def __init__(self, folder: Path, walks_path: Path | None = None) -> None:
        self.folder = folder
        self.config: run_files.RunConfig | None = None
        self.maps: dict[Kind, ShownMap] = {}
        self.rows: list[dict[str, Any]] = []
        self.scores: tuple[Scored, ...] = ()
        self.concepts: NodeConcepts | None = None
        self.views: run_files.NodeViews | None = None
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
        self.config = run_files.read_config(self.folder)
        if self._walks_path is not None:
            self.walks = run_files.read_walks(self._walks_path, self.folder, self.config)
        self.refresh()

    def refresh(self) -> None:
        """Read what changed on disk since the last look."""
        with self._lock:
            self._update(CONFIG_FILE, (CONFIG_FILE,), self._read_config)
            if self.config is None:
                return
            self._update("walks", (run_files.QUANTIZER_FILE,), self._read_walks)
            self._update(METRICS_FILE, (METRICS_FILE,), self._read_rows)
            self._update("scores", tuple(run_files.SCORE_FILES), self._read_scores)
            self._update(VIEWS_FILE, (VIEWS_FILE,), self._read_views)
            kinds: tuple[Kind, Kind] = ("minimal", "paper")
            for kind in kinds:
                self._update(f"{kind} map", MAP_FILES[kind], partial(self._read_map, kind))
            shown = self.maps.get("minimal")
            revision = None if shown is None else shown.revision
            self._update(CONCEPTS_FILE, (CONCEPTS_FILE,), self._read_concepts, revision)
            if self.folder.is_dir():
                self.state = cast(State, run_state(self.folder, self.config.makes_map))

    def known_config(self) -> run_files.RunConfig:
        if self.config is None:
            raise BadRun("a run must hold config.json, this one does not yet")
        return self.config

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

    def map(self, kind: Kind, revision: str | None = None) -> ShownMap:
        """One of the run's maps; refused where it is not there, or not the revision that is meant."""
        shown = self.maps.get(kind)
        if shown is None:
            raise BadRun(f"a run must hold {MAP_FILES[kind][0]}, this one does not yet")
        if revision is not None and revision != shown.revision:
            raise Refusal(409, f"`revision` must be that of the map, {shown.revision}, got {revision[:40]}")
        return shown

    def metric_columns(self) -> dict[str, list[Any]]:
        """metrics.jsonl as a list a field, null where a row has none."""
        return run_files.as_columns(self.rows)

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

    def _read_config(self) -> None:
        if (self.folder / CONFIG_FILE).exists():
            self.config = run_files.read_config(self.folder)

    def _read_walks(self) -> None:
        if self._walks_path is None or self.config is None:
            return
        if self.walks is None:
            self.walks = run_files.read_walks(self._walks_path, self.folder, self.config)
        self.truth = run_files.read_truth(self._walks_path, self.folder, self.walks, self.config)

    def _read_rows(self) -> None:
        self.rows = run_files.read_rows(self.folder)

    def _read_scores(self) -> None:
        if self.config is not None:
            self.scores = run_files.read_scores(self.folder, self.config.name)

    def _read_concepts(self) -> None:
        shown = self.maps.get("minimal")
        self.concepts = None if shown is None else run_files.read_concepts(self.folder, shown.map.num_nodes)

    def _read_views(self) -> None:
        self.views = run_files.read_views(self.folder)

    def _read_map(self, kind: Kind) -> None:
        present = [name for name in MAP_FILES[kind] if (self.folder / name).is_file()]
        if not present:
            return
        newest = max(present, key=lambda name: (self.folder / name).stat().st_mtime_ns)
        shown = open_map(self.folder / newest, kind, newest == EARLY_MAP_FILE, self.walks, self.truth)
        if self.config is not None and shown.map.num_observations > self.config.num_observations:
            most = self.config.num_observations
            told = f"{newest} must have at most the run's {most} observations"
            raise BadRun(f"{told}, got {shown.map.num_observations}")
        self.maps = {**self.maps, kind: shown}


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
