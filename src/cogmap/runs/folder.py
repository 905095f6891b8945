"""A run folder, read without torch: what was chosen, measured and mapped, and walks in the run's vocabulary.

Commands, the library and the explorer all read a run through here. Every file is JSON, npz without pickle, or
safetensors: opening a stranger's run can never run code.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from cogmap.checks import checked, checked_labels, shown
from cogmap.errors import BadRun, BadWalks
from cogmap.evaluation.concepts import NodeConcepts, load_concepts
from cogmap.evaluation.scores import Scores
from cogmap.evaluation.text_baselines import TextBaselines, load_baselines
from cogmap.files import read_arrays, read_json, read_json_lines, write_json
from cogmap.hmm.states import StateCounts
from cogmap.maps.store import load_map, load_states
from cogmap.models.config import ModelConfig, with_current_names
from cogmap.records import CognitiveMap, Labels, Truth, Walks
from cogmap.report.tables import Scored
from cogmap.training.config import TrainingConfig
from cogmap.version import __version__
from cogmap.walks.quantize import ViewQuantizer, load_quantizer
from cogmap.walks.store import load_walks, prefix_errors
from cogmap.walks.text import ACTION, PIECE, TextReading, load_text
from cogmap.walks.truth_store import load_truth, truth_path
from cogmap.walks.views import ViewWalks

FORMAT = 1
CONFIG_FILE, MODEL_FILE, METRICS_FILE = "config.json", "model.safetensors", "metrics.jsonl"
QUANTIZER_FILE, VIEWS_FILE = "quantizer.npz", "views.npz"  # of a run that learned from views
TEXT_FILE, CONCEPTS_FILE = "text.json", "concepts.json"  # of a run that learned from a text
BASELINES_FILE = "baselines.json"  # what counting predicts of that text
ATLAS_FILE = "atlas.npz"  # of a run that learned a family of rooms
STATES_FILE = "states.npz"  # of a run by a method without a network, in place of the model
EARLY_MAP_FILE = "map.early.npz"  # of a training in progress
LOCK_FILE = ".lock"  # held by the process that is writing

TaskName = Literal["places", "family", "text"]
MapKind = Literal["minimal", "paper"]
Method = Literal["tdb", "cscg", "rpni", "edsm", "alergia"]
State = Literal["waiting", "training", "mapping", "finished", "stopped"]
MAP_FILES: dict[MapKind, str] = {"minimal": "map.npz", "paper": "map.paper.npz"}
SCORE_FILES: dict[MapKind, str] = {"minimal": "scores.json", "paper": "scores.paper.json"}
REMARKS: dict[MapKind, str] = {"minimal": "here", "paper": "here, the paper's map"}

_LISTS = ("codes_in_use", "perplexity")  # of a row of metrics
_SILENT_SECONDS = 600.0  # a training writes more often than this


class NodeViews(NamedTuple):
    """What is seen at the nodes of the minimal map of a run that learned from images."""

    views: NDArray[np.uint8]  # (U, H, W, C)
    view_of_node: NDArray[Any]  # (V,) -1 for none


class RunFolder:
    """A run folder opened for reading. `BadRun` when it is missing, damaged or of another version."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.stored: Mapping[str, Any] = _read_config(self.folder)  # config.json as it is, to be shown
        self.config: ModelConfig = _options(ModelConfig, self.stored, "model", self.folder)
        self.training: TrainingConfig = _options(TrainingConfig, self.stored, "training", self.folder)
        self.observation_labels = self._labels("observation_labels", self.config.num_observations)
        self.action_labels = self._labels("action_labels", self.config.num_actions)
        self.task: TaskName = self._task()
        self.method: Method = self._method()

    def _labels(self, name: str, count: int) -> Labels | None:
        where = f"`{name}` in {self._path(CONFIG_FILE)}"
        return checked_labels(self.stored.get(name), count, where, BadRun)

    def _task(self) -> TaskName:
        """As stored; in folders of earlier versions, inferred from what they hold."""
        stored: Any = self.stored.get("task")
        if stored is not None:
            if not isinstance(stored, str) or stored not in get_args(TaskName):
                rule = f"`task` in {self._path(CONFIG_FILE)} must be places, family or text"
                raise BadRun(f"{rule}, got {stored!r:.60}")
            return cast(TaskName, stored)
        if self.config.in_base:
            return "family"
        is_text = self._path(TEXT_FILE).is_file() or self.action_labels == (ACTION,)
        return "text" if is_text else "places"

    def _method(self) -> Method:
        stored = self.stored.get("method", "tdb")
        if not isinstance(stored, str) or stored not in get_args(Method):
            rule = f"`method` in {self._path(CONFIG_FILE)} must be one of {', '.join(get_args(Method))}"
            raise BadRun(f"{rule}, got {stored!r:.60}")
        return cast(Method, stored)

    @property
    def has_network(self) -> bool:
        """Whether a network was trained. A run of another method has a hidden Markov model instead."""
        return self.method == "tdb"

    @property
    def name(self) -> str:
        """The model's name as the paper prints it, or that of another method."""
        return self.config.name if self.has_network else f"{self.stored.get('name', self.method)!s:.60}"

    @property
    def makes_map(self) -> bool:
        """Whether a finished run has a map of its own: a vanilla model has none, and of a family its rooms have."""
        return not self.config.vanilla and self.task != "family"

    @property
    def has_map(self) -> bool:
        return self._path(MAP_FILES["minimal"]).is_file()

    @cached_property
    def map(self) -> CognitiveMap:
        """The minimal map; of a text, its latent graph."""
        return self.load_map("minimal")

    @cached_property
    def paper_map(self) -> CognitiveMap:
        """The map built as in the paper."""
        return self.load_map("paper")

    def map_of(self, kind: MapKind) -> CognitiveMap:
        return self.map if kind == "minimal" else self.paper_map

    def load_map(self, kind: MapKind) -> CognitiveMap:
        """One of the run's maps, read from its file."""
        if self.config.vanilla:
            raise BadRun(f"only a TDB has a map, {self.folder} holds a {self.name}")
        if kind == "paper" and not self.has_network:
            raise BadRun(f"only a TDB has the paper's map, {self.folder} was learned by {self.name}")
        path = self._path(MAP_FILES[kind])
        if not path.is_file():
            rule = f"a run must hold {path.name}, {self.folder} does not yet"
            raise BadRun(f"{rule}: resume with `cogmap learn --resume`")
        found = load_map(path)
        for what in ("num_observations", "num_actions"):
            own, known = getattr(found, what), getattr(self.config, what)
            if own > known:
                raise BadRun(f"{path} must have at most the run's `{what}` (={known}), got {own}")
        return found

    @property
    def map_kinds(self) -> tuple[MapKind, ...]:
        """The maps that a finished run has."""
        return tuple(MAP_FILES) if self.has_network else ("minimal",)

    @cached_property
    def states(self) -> StateCounts:
        """The hidden Markov model of a run without a network."""
        found = load_states(self._path(STATES_FILE))
        for what in ("num_observations", "num_actions"):
            own, known = getattr(found, what), getattr(self.config, what)
            if own != known:
                raise BadRun(f"{self._path(STATES_FILE)} must have the run's `{what}` (={known}), got {own}")
        return found

    @cached_property
    def atlas(self) -> CognitiveMap:
        """What the codes of a family's run stand for, learned in its training rooms."""
        path = self._path(ATLAS_FILE)
        if not path.is_file():
            rule = f"a family's run must hold {ATLAS_FILE}, {self.folder} does not yet"
            raise BadRun(f"{rule}: resume with `cogmap learn --family --resume`")
        return load_map(path)

    @cached_property
    def quantizer(self) -> ViewQuantizer | None:
        """What turns views into observations; None where the run learned from observations themselves."""
        path = self._path(QUANTIZER_FILE)
        return load_quantizer(path) if path.is_file() else None

    @cached_property
    def text_reading(self) -> TextReading:
        """How the text was read that the run was learned from."""
        return read_text_reading(self._path(TEXT_FILE))

    def metrics(self) -> list[dict[str, Any]]:
        """The rows of metrics.jsonl; none before the first was written."""
        path = self._path(METRICS_FILE)
        return _read_metrics(path) if path.exists() else []

    def scores(self, first: MapKind = "minimal") -> tuple[Scored, ...]:
        """What `cogmap evaluate` wrote into the run folder, the scores of the `first` map first."""
        kinds = sorted(SCORE_FILES, key=lambda kind: kind != first)
        present = [(kind, path) for kind in kinds if (path := self._path(SCORE_FILES[kind])).is_file()]
        return tuple(Scored(self.name, REMARKS[kind], Scores.load(path)) for kind, path in present)

    def concepts(self, num_nodes: int) -> NodeConcepts | None:
        """The concepts of a text run's nodes; None where there is no concepts.json."""
        path = self._path(CONCEPTS_FILE)
        return load_concepts(path, num_nodes) if path.is_file() else None

    def text_baselines(self) -> TextBaselines | None:
        """What counting predicts of a text run's text; None where there is no baselines.json."""
        path = self._path(BASELINES_FILE)
        return load_baselines(path) if path.is_file() else None

    def node_views(self) -> NodeViews | None:
        """views.npz of a run that learned from images; None where there is none."""
        path = self._path(VIEWS_FILE)
        return _read_views(path) if path.is_file() else None

    def state(self) -> State:
        return run_state(self.folder, self.makes_map)

    def load_walks(self, path: str | Path) -> Walks:
        """Walks from a file in the run's vocabulary: labels that it never saw are an error.

        Views are seen through the run's quantizer; a text is read as the run's was.
        """
        path = Path(path)
        if self.task == "text" and path.suffix == ".txt":
            return load_text(path, self.text_reading.unit, PIECE, like=self._vocabulary())
        walks = load_walks(path, like=self._vocabulary())
        if not isinstance(walks, ViewWalks):
            return walks
        with prefix_errors(path):
            walks = self.categorical(walks)
            self.check_walks(walks)
            return walks

    def load_truth(self, path: str | Path, walks: Walks) -> Truth | None:
        """The truth beside a walks file, in the vocabulary of `load_walks`; None where there is none."""
        path = Path(path)
        if not truth_path(path).exists():
            return None
        with prefix_errors(truth_path(path)):
            if self.quantizer is None:
                truth = load_truth(path, walks)
            else:
                seen = load_walks(path)
                truth = self.quantizer.walks_and_truth(seen, load_truth(path, seen))[1]
            self._check_truth(truth)
            return truth

    def _check_truth(self, truth: Truth) -> None:
        if truth.world.num_actions != self.config.num_actions:
            rule = f"the true world must have the run's {self.config.num_actions} actions"
            raise BadWalks(f"{rule}, it has {truth.world.num_actions}")
        if truth.world.observation.max() >= self.config.num_observations:
            rule = f"the true world must show the run's {self.config.num_observations} observations"
            raise BadWalks(f"{rule}, it shows {truth.world.observation.max()}")

    def categorical(self, walks: Walks) -> Walks:
        """Walks of views as the run's quantizer sees them; other walks stay as they are."""
        if not isinstance(walks, ViewWalks):
            return walks
        if self.quantizer is None:
            raise BadWalks(f"walks of views need a run that learned from views, {self.folder} did not")
        return self.quantizer.walks(walks)

    def check_walks(self, walks: Walks) -> None:
        """Walks must use the run's vocabulary: the same labels, no larger sizes."""
        for what in ("observation", "action"):
            own, theirs = getattr(self, f"{what}_labels"), getattr(walks, f"{what}_labels")
            if own is not None and theirs is not None and own != theirs:
                rule = f"walks must have the run's {what} labels {', '.join(own)!s:.300}"
                raise BadWalks(f"{rule}, got {', '.join(theirs)!s:.300}")
            known, asked = getattr(self.config, f"num_{what}s"), getattr(walks, f"num_{what}s")
            if asked > known:
                raise BadWalks(f"walks must have at most the run's {known} {what}s, got {asked}")

    def _vocabulary(self) -> Walks:
        """The smallest walks that have the run's sizes and labels."""
        return Walks(
            observations=np.zeros((1, 2), dtype=np.int32),
            actions=np.zeros((1, 1), dtype=np.int32),
            lengths=np.array([2], dtype=np.int32),
            num_observations=self.config.num_observations,
            num_actions=self.config.num_actions,
            observation_labels=self.observation_labels,
            action_labels=self.action_labels,
        )

    def _path(self, name: str) -> Path:
        return self.folder / name


def save_config(
    folder: Path, task: TaskName, model: ModelConfig, training: TrainingConfig, walks: Walks, chosen: str = ""
) -> None:
    """Write every choice into the run folder. chosen: what the log is and what was chosen for it, in words."""
    stored = {
        "format": FORMAT,
        "cogmap": __version__,
        "task": task,
        "name": model.name,
        "model": asdict(model),
        "training": asdict(training),
        "observation_labels": walks.observation_labels,
        "action_labels": walks.action_labels,
        "walks": walks.num_walks,
        "chosen": chosen,
    }
    write_json(folder / CONFIG_FILE, stored)


def run_state(folder: Path, makes_map: bool = True) -> State:
    """What a run is doing: by its lock file if nobody writes, else by which of its files was written last.

    So no process has to be asked, and a copy, whose files are of one moment, is what it was copied from.
    """
    map_file = MAP_FILES["minimal"]
    files = (CONFIG_FILE, METRICS_FILE, MODEL_FILE, STATES_FILE, EARLY_MAP_FILE, map_file)
    written = {name: when for name in files if (when := _written(folder / name)) is not None}
    if not written:
        return "waiting"
    if _is_released(folder / LOCK_FILE):
        learned = MODEL_FILE in written or STATES_FILE in written
        return "finished" if learned and (map_file in written or not makes_map) else "stopped"
    model, metrics = written.get(MODEL_FILE, written.get(STATES_FILE)), written.get(METRICS_FILE, 0.0)
    silent = time.time() - max(written.values()) > _SILENT_SECONDS
    if model is None or model < metrics:
        if metrics == 0 and map_file in written:  # a map that was put there by hand
            return "finished"
        return "stopped" if silent else "training"
    mapped = not makes_map or written.get(map_file, 0.0) >= model
    return "finished" if mapped or silent else "mapping"


def read_text_reading(path: Path) -> TextReading:
    """text.json of a run that learned from a text."""
    where = f"{path} must say how a text is read, by unit, least_count and splice"
    return checked(TextReading, read_json(path, BadRun), where, BadRun)


def _is_released(lock: Path) -> bool:
    """Whether the last process that wrote came to its end: then its lock file is empty, else it holds a number."""
    try:
        return lock.stat().st_size == 0
    except OSError:
        return False


def _written(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadRun(f"a run must be a folder made by `cogmap learn`, there is no folder {folder}")
    stored = read_json(folder / CONFIG_FILE, BadRun)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        found = shown(stored.get("format")) if isinstance(stored, dict) else type(stored).__name__
        raise BadRun(f"{folder / CONFIG_FILE} must be of format {FORMAT}, got {found}")
    known = {"model", "training", "observation_labels", "action_labels"}  # what else there is, is only shown
    return {key: value for key, value in stored.items() if key in known or not isinstance(value, dict | list)}


def _options(kind: type, stored: Mapping[str, Any], key: str, folder: Path) -> Any:
    """One of the two config records. An option that came after the run was made has its default."""
    values = stored.get(key)
    if isinstance(values, dict):
        values = with_current_names(values)
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if not isinstance(values, dict) or not needed <= set(values) <= known:
        got = shown(sorted(set(values) ^ known) if isinstance(values, dict) else values)
        rule = f"{folder / CONFIG_FILE} must hold the {key} options of this version"
        raise BadRun(f"{rule}, these differ: {got}")
    return checked(kind, values, f"{folder / CONFIG_FILE}, the {key} options", BadRun)


def _read_metrics(path: Path) -> list[dict[str, Any]]:
    """Rows of numbers, some with a list of them, a number for each bottleneck; NaN may be among them."""
    rows = read_json_lines(path, BadRun, nan=True)
    for line, row in enumerate(rows, 1):
        for name, value in row.items():
            many = name in _LISTS
            if isinstance(value, list) != many or not all(map(_is_number, value if many else [value])):
                rule = (
                    f"{path}, line {line}: `{name[:40]}` must be a {'list of numbers' if many else 'number'}"
                )
                raise BadRun(f"{rule}, got {shown(value)}")
            if name == "step" and not (isinstance(value, int) and value >= 0):
                raise BadRun(
                    f"{path}, line {line}: `step` must be an integer of at least 0, got {shown(value)}"
                )
    return rows


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 2**63)


def _read_views(path: Path) -> NodeViews:
    arrays = read_arrays(path, BadRun)
    views, chosen = arrays.get("views"), arrays.get("view_of_node")
    if views is None or views.ndim != 4 or views.shape[3] not in (1, 3, 4) or views.dtype != np.uint8:
        raise BadRun(f"{path.name} must hold `views` (U, H, W, C) of bytes")
    if chosen is None or chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise BadRun(f"{path.name} must hold `view_of_node` (V,) of integers")
    if 0 in views.shape[1:]:
        raise BadRun(f"{path.name} must hold `views` of at least a pixel, got shape {views.shape}")
    if chosen.size and (chosen.max() >= len(views) or chosen.min() < -1):
        rule = f"`view_of_node` must be -1 or below the number of views (={len(views)})"
        raise BadRun(f"{rule}, got {chosen.min()} to {chosen.max()}")
    return NodeViews(views, chosen)
