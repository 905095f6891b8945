"""A run folder: what was learned from some walks, ready to be asked where things are and how to get there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.errors import BadRun, BadWalks, CogmapError, NotOnMap
from cogmap.files import read_json, write_json
from cogmap.maps.store import load_map
from cogmap.models.config import ModelConfig
from cogmap.models.inference import CodeStream, encode, read_walks
from cogmap.models.tdb import TDB, Model, make_model
from cogmap.planning.localise import whereabouts
from cogmap.planning.shortest_paths import solve
from cogmap.records import Codes, CognitiveMap, Integers, Labels, Plan, Walks
from cogmap.training.checkpoint import load_tensors, load_weights, save_tensors
from cogmap.training.config import TrainingConfig
from cogmap.training.devices import choose_device
from cogmap.walks.quantize import ViewQuantizer, load_quantizer
from cogmap.walks.views import ViewWalks, as_views, shows_views

FORMAT = 1
CONFIG_FILE, MODEL_FILE = "config.json", "model.safetensors"
MAP_FILE, PAPER_MAP_FILE = "map.npz", "map.paper.npz"
QUANTIZER_FILE, VIEWS_FILE = "quantizer.npz", "views.npz"  # of a run that learned from views


class Run:
    """A run folder opened for reading. Model and maps are loaded when first asked for."""

    def __init__(self, folder: str | Path, device: str = "auto") -> None:
        self.folder = Path(folder)
        self._device = device
        stored = _read_config(self.folder)
        self.config: ModelConfig = _from_dict(ModelConfig, stored, "model", self.folder)
        self.training: TrainingConfig = _from_dict(TrainingConfig, stored, "training", self.folder)
        self.observation_labels: Labels | None = _labels(stored, "observation_labels")
        self.action_labels: Labels | None = _labels(stored, "action_labels")

    @property
    def name(self) -> str:
        """The model's name as the paper prints it."""
        return self.config.name

    @cached_property
    def model(self) -> Model:
        model = make_model(self.config)
        path = self.folder / MODEL_FILE
        load_weights(model, load_tensors(path)[0], path)
        return model.to(choose_device(self._device)).eval()

    @cached_property
    def map(self) -> CognitiveMap:
        """The minimal map."""
        return self._map(MAP_FILE)

    @cached_property
    def paper_map(self) -> CognitiveMap:
        """The map built as in the paper."""
        return self._map(PAPER_MAP_FILE)

    def _map(self, name: str) -> CognitiveMap:
        if self.config.vanilla:
            raise BadRun(f"only a TDB has a map, {self.folder} holds a {self.name}")
        path = self.folder / name
        if not path.is_file():
            raise BadRun(
                f"a run must hold {name}, {self.folder} does not yet: go on with `cogmap learn --resume`"
            )
        return load_map(path)

    @property
    def has_map(self) -> bool:
        return (self.folder / MAP_FILE).is_file()

    @cached_property
    def quantizer(self) -> ViewQuantizer | None:
        """What turns views into observations; None where the run learned from observations themselves."""
        path = self.folder / QUANTIZER_FILE
        return load_quantizer(path) if path.is_file() else None

    def categorical(self, walks: Walks) -> Walks:
        """Walks of views as the run's quantizer sees them; other walks stay as they are."""
        if not isinstance(walks, ViewWalks):
            return walks
        if self.quantizer is None:
            raise BadWalks(f"walks of views need a run that learned from views, {self.folder} did not")
        return self.quantizer.walks(walks)

    def encode(self, walks: Walks) -> tuple[Codes, Integers]:
        """Codes of walks, and predicted next observations (B, N - 1)."""
        walks = self.categorical(walks)
        self.check_walks(walks)
        return encode(self.model, walks)

    def stream(self) -> CodeStream:
        """Codes step by step, for a walk without end."""
        if not isinstance(self.model, TDB):
            raise BadRun(f"only a TDB has codes, {self.folder} holds a {self.name}")
        return CodeStream(self.model)

    def locate(self, observations: Sequence[Any], actions: Sequence[Any]) -> int:
        """The node where an agent is that saw `observations` (N,) and did `actions` (N - 1,): indices or labels.

        A run that learned from views takes views as well: images (N, H, W, C), vectors (N, F) or image files.
        """
        if self.quantizer is not None and shows_views(observations):
            observations = self.quantizer(as_views(observations)).tolist()
        seen = _indices("observation", observations, self.observation_labels, self.config.num_observations)
        done = _indices("action", actions, self.action_labels, self.config.num_actions)
        if len(seen) == 0 or len(done) != len(seen) - 1:
            raise BadWalks(
                f"a history must have one action fewer than observations, got {len(seen)} and {len(done)}"
            )
        codes = Codes(
            read_walks(self.model, seen[None], done[None])[0],
            np.array([len(seen)], dtype=np.int32),
            self.config.num_codes,
        )
        node = int(whereabouts(self.map, seen[None], done[None], codes.lengths, codes)[0, -1])
        if node < 0:
            raise NotOnMap(
                f"the history of {len(seen)} observation(s) must lead to a place of the map, it does not yet"
            )
        return node

    def plan(self, here: int, there: int, avoid: Sequence[Any] = (), strict: bool = False) -> Plan:
        """The shortest way between two nodes, past the observations to `avoid` (indices or labels)."""
        avoided = _indices("observation", avoid, self.observation_labels, self.config.num_observations)
        return solve(self.map, here, there, avoid=tuple(avoided.tolist()), strict=strict)

    def check_walks(self, walks: Walks) -> None:
        """Walks must speak the run's language: the same labels, no larger vocabulary."""
        for what in ("observation", "action"):
            own, theirs = getattr(self, f"{what}_labels"), getattr(walks, f"{what}_labels")
            if own is not None and theirs is not None and own != theirs:
                raise BadWalks(f"walks must have the run's {what} labels {own}, got {theirs}")
            known, asked = getattr(self.config, f"num_{what}s"), getattr(walks, f"num_{what}s")
            if asked > known:
                raise BadWalks(f"walks must have at most the run's {known} {what}s, got {asked}")


def load_run(folder: str | Path, device: str = "auto") -> Run:
    """Open a run folder; `BadRun` when it is missing, half, damaged or of another version."""
    return Run(folder, device)


def save_config(folder: Path, model: ModelConfig, training: TrainingConfig, walks: Walks) -> None:
    """Echo every choice into the run folder."""
    from cogmap.version import __version__

    write_json(
        folder / CONFIG_FILE,
        {
            "format": FORMAT,
            "cogmap": __version__,
            "name": model.name,
            "model": asdict(model),
            "training": asdict(training),
            "observation_labels": walks.observation_labels,
            "action_labels": walks.action_labels,
            "walks": walks.num_walks,
        },
    )


def save_model(folder: Path, model: Model) -> None:
    save_tensors(folder / MODEL_FILE, model.state_dict())


def _read_config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise BadRun(f"a run must be a folder made by `cogmap learn`, there is no folder {folder}")
    stored = read_json(folder / CONFIG_FILE, BadRun)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        found = stored.get("format") if isinstance(stored, dict) else type(stored).__name__
        raise BadRun(f"{folder / CONFIG_FILE} must be of format {FORMAT}, got {found}")
    return stored


def _from_dict(kind: type, stored: dict[str, Any], key: str, folder: Path) -> Any:
    values = stored.get(key)
    known = {field.name for field in fields(kind)}
    # An option that came after the run was made is left at its default, which is what was done then.
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if not isinstance(values, dict) or not needed <= set(values) <= known:
        got = sorted(set(values) ^ known) if isinstance(values, dict) else values
        raise BadRun(
            f"{folder / CONFIG_FILE} must hold the {key} options of this version, these differ: {got}"
        )
    try:
        return kind(**values)
    except CogmapError:
        raise
    except TypeError as problem:
        raise BadRun(
            f"{folder / CONFIG_FILE} must hold {key} options of the right types: {problem}"
        ) from problem


def _labels(stored: dict[str, Any], key: str) -> Labels | None:
    labels = stored.get(key)
    return None if labels is None else tuple(str(label) for label in labels)


def _indices(what: str, values: Sequence[Any], labels: Labels | None, count: int) -> Integers:
    """Indices of what a user gave as labels or as indices."""
    position = {label: index for index, label in enumerate(labels or ())}
    indices = []
    for value in values:
        index = position.get(value) if isinstance(value, str) else value
        if not isinstance(index, int | np.integer) or not 0 <= index < count:
            known = ", ".join(labels) if labels else f"0 to {count - 1}"
            raise NotOnMap(f"{what} must be one of {known}, got {value!r}")
        indices.append(int(index))
    return np.array(indices, dtype=np.int32)
