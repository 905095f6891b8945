"""A run folder, read without torch: what was chosen, measured and mapped, and walks in the run's vocabulary.

Commands, the library and the explorer all read a run through here. Every file is JSON, npz without pickle, or
safetensors: opening a stranger's run can never run code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from cogmap.checks import checked_labels
from cogmap.errors import BadRun, BadWalks
from cogmap.evaluation.concepts import NodeConcepts, load_concepts
from cogmap.evaluation.scores import Scores
from cogmap.evaluation.text_baselines import TextBaselines, load_baselines
from cogmap.hmm.states import StateCounts
from cogmap.maps.store import load_map, load_states
from cogmap.models.config import ModelConfig
from cogmap.records import CognitiveMap, Labels, Truth, Walks
from cogmap.report.tables import Scored
from cogmap.runs.names import (
    ATLAS_FILE,
    BASELINES_FILE,
    CONCEPTS_FILE,
    CONFIG_FILE,
    MAP_FILES,
    QUANTIZER_FILE,
    REMARKS,
    SCORE_FILES,
    STATES_FILE,
    TEXT_FILE,
    VIEWS_FILE,
    MapKind,
    Method,
    State,
    TaskName,
)
from cogmap.runs.state import run_state
from cogmap.runs.stored import (
    NodeViews,
    read_config,
    read_metrics,
    read_options,
    read_text_reading,
    read_views,
)
from cogmap.training.config import TrainingConfig
from cogmap.training.progress import METRICS_FILE
from cogmap.walks.quantize import ViewQuantizer, load_quantizer
from cogmap.walks.store import load_walks, prefix_errors
from cogmap.walks.text import ACTION, PIECE, TextReading, load_text
from cogmap.walks.truth_store import load_truth, truth_path
from cogmap.walks.views import ViewWalks


class RunFolder:
    """A run folder opened for reading. `BadRun` when it is missing, damaged or of another version."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.stored: Mapping[str, Any] = read_config(self.folder)  # config.json as it is, to be shown
        self.config: ModelConfig = read_options(ModelConfig, self.stored, "model", self.folder)
        self.training: TrainingConfig = read_options(TrainingConfig, self.stored, "training", self.folder)
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
        return read_metrics(path) if path.exists() else []

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
        return read_views(path) if path.is_file() else None

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
        """The truth beside a walks file, in the vocabulary of `load_walks`; None where there is none.

        Places of a machine that no walk can distinguish are one.
        """
        from cogmap.environments.minimal import minimal_truth  # scipy, only where there is a truth

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
            return minimal_truth(truth)

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
