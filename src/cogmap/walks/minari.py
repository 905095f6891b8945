"""Read and write Minari datasets by local path. Nothing is downloaded, and no environment is created.

A dataset is a folder `<path>/data` with `metadata.json` and `main_data.hdf5`. To open it with `minari.load_dataset`,
give it a name as Minari does, such as `room-v0`, and put it under `MINARI_DATASETS_PATH`.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.errors import BadOutput, BadWalks, MissingExtra
from cogmap.files import read_json
from cogmap.records import Labels, Walks
from cogmap.walks.ragged import walks_from_rows
from cogmap.walks.record import view_label, walks_from_views

try:
    import gymnasium
    import minari
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage
except ImportError as error:
    raise MissingExtra('Minari must be installed for this: pip install "cogmap[data]"') from error

LABELS = "cogmap_labels"  # key of our labels in a dataset's metadata


def write_minari(walks: Walks, path: str | Path) -> None:
    """Write walks as a new dataset, whole or not at all. Rewards are 0; episodes are truncated, not terminated."""
    path = Path(path)
    if path.exists():
        raise BadOutput(f"a dataset must be written to a new folder, {path} exists")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    try:
        _fill(walks, temporary / "data", dataset_id=_dataset_id(path.name))
        temporary.chmod(0o755)
        temporary.rename(path)
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def read_minari(path: str | Path, observation_labels: Labels | None = None) -> Walks:
    """Walks from a dataset with discrete actions, one per episode.

    Discrete observations keep their numbers. Any other view is identified by its `view_label`, numbered as in
    `observation_labels` if given.
    """
    storage, metadata = _open(Path(path))
    space, action_space = storage.observation_space, storage.action_space
    if not isinstance(action_space, gymnasium.spaces.Discrete):
        raise BadWalks(f"a dataset must have discrete actions, {path} has {action_space}")
    episodes = list(_episodes(storage, path))
    actions = [np.asarray(episode["actions"]) - int(action_space.start) for episode in episodes]
    labels = metadata.get(LABELS, {})
    action_labels = _as_labels(labels.get("actions"))
    if isinstance(space, gymnasium.spaces.Discrete):
        return walks_from_rows(
            [np.asarray(episode["observations"]) - int(space.start) for episode in episodes],
            actions,
            num_observations=int(space.n),
            num_actions=int(action_space.n),
            observation_labels=_as_labels(labels.get("observations")),
            action_labels=action_labels,
        )
    views = [
        [view_label(_at(episode["observations"], step)) for step in range(len(taken) + 1)]
        for episode, taken in zip(episodes, actions, strict=True)
    ]
    rows = [row.tolist() for row in actions]
    return walks_from_views(views, rows, int(action_space.n), observation_labels, action_labels)


def _dataset_id(name: str) -> str:
    """The folder's name, changed as little as needed for Minari to parse it."""
    name = re.sub(r"[^-\w]", "-", name)
    return name if re.search(r"-v\d+$", name) else f"{name}-v0"


def _fill(walks: Walks, data: Path, dataset_id: str) -> None:
    storage = MinariStorage.new(
        data_path=data,
        observation_space=gymnasium.spaces.Discrete(walks.num_observations),
        action_space=gymnasium.spaces.Discrete(walks.num_actions),
    )
    storage.update_episodes(_buffer(walks, walk) for walk in range(walks.num_walks))
    storage.update_metadata(
        {
            "dataset_id": dataset_id,
            "minari_version": minari.__version__,
            "dataset_size": float(storage.get_size()),
            LABELS: {"observations": walks.observation_labels, "actions": walks.action_labels},
        }
    )


def _buffer(walks: Walks, walk: int) -> EpisodeBuffer:
    moves = int(walks.lengths[walk]) - 1
    return EpisodeBuffer(
        observations=walks.observations[walk, : moves + 1].astype(np.int64),
        actions=walks.actions[walk, :moves].astype(np.int64),
        rewards=[0.0] * moves,
        terminations=[False] * moves,
        truncations=[False] * (moves - 1) + [True],
    )


def _open(path: Path) -> tuple[MinariStorage, dict[str, Any]]:
    """The storage of a dataset, whose metadata must contain its spaces.

    Without them Minari would create the environment that the metadata names, and so run untrusted code.
    """
    data = path / "data" if (path / "data").is_dir() else path
    metadata = read_json(data / "metadata.json", BadWalks)
    if not isinstance(metadata, dict) or not {"observation_space", "action_space", "data_format"} <= set(
        metadata
    ):
        raise BadWalks(f"{path} must be a Minari dataset whose metadata contains its spaces and its format")
    try:
        return MinariStorage.read(data), metadata
    except (ValueError, KeyError, TypeError, AssertionError, NotImplementedError, ImportError) as error:
        raise BadWalks(f"{path} must be a Minari dataset: {error}") from error


def _episodes(storage: MinariStorage, path: str | Path) -> Iterator[dict[str, Any]]:
    try:
        yield from storage.get_episodes(range(storage.total_episodes))
    except (OSError, KeyError, ValueError, AssertionError) as error:
        raise BadWalks(f"{path} must hold all episodes listed in its metadata: {error}") from error


def _at(observations: Any, step: int) -> Any:
    """The view at one step, from arrays with the structure of the observation space."""
    if isinstance(observations, dict):
        return {key: _at(value, step) for key, value in observations.items()}
    if isinstance(observations, tuple):
        return tuple(_at(value, step) for value in observations)
    return observations[step]


def _as_labels(labels: Any) -> Labels | None:
    return None if labels is None else tuple(labels)
