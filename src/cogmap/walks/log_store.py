"""Folders of walks, `NAME.walks`: logs larger than memory, mapped and not read.

A folder holds `observations.npy` and `actions.npy` (T,), all steps of all walks one after the other, `offsets.npy`
(B + 1,), where each walk begins and the last one ends, and `walks.json` with sizes and labels. The action at the last
step of a walk leads nowhere and is 0. Plain npy files, because every language maps them, they need no library beyond
numpy, and a window of a walk is one look-up: no chunk has to be inflated for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cogmap.checks import checked
from cogmap.errors import BadOutput, BadWalks
from cogmap.files import ArrayWriter, map_array, read_json, write_folder, write_json
from cogmap.records import Labels, Walks
from cogmap.walks.log import BLOCK, VOCABULARY, Flat, WalkLog, blocks, compact, log_of, small_type
from cogmap.walks.vocabulary import MOST_INDICES, check_labels

SUFFIX = ".walks"
_FILE = "walks.json"


@dataclass(frozen=True)
class _Stated:
    """walks.json."""

    num_observations: int
    num_actions: int
    observation_labels: tuple[str, ...] | None = None
    action_labels: tuple[str, ...] | None = None
    format: int = 1

    def __post_init__(self) -> None:
        if self.format != 1:
            raise BadWalks(f"`format` must be 1, got {self.format}: a later version wrote it")
        for name in ("observation", "action"):
            size, labels = getattr(self, f"num_{name}s"), getattr(self, f"{name}_labels")
            if not 1 <= size <= MOST_INDICES:
                raise BadWalks(f"`num_{name}s` must be from 1 to {MOST_INDICES}, got {size}")
            if labels is not None:
                check_labels(f"{name}_labels", labels)
                if len(labels) != size or len(set(labels)) != size:
                    raise BadWalks(f"`{name}_labels` must be {size} different labels, got {len(labels)}")


def open_log(folder: Path) -> WalkLog:
    """The walks of a folder, mapped. If it is replaced between two of its files, it is opened again."""
    while True:
        before = _identity(folder)
        try:
            found = _opened(folder)
        except BadWalks:
            if _identity(folder) == before:
                raise
        else:
            if _identity(folder) == before:
                return found


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except (OSError, ValueError):  # for an impossible path
        return None
    return found.st_dev, found.st_ino


def _opened(folder: Path) -> WalkLog:
    """Every step is checked to be of the vocabulary, part by part."""
    if not folder.is_dir():
        raise BadWalks(f"cannot read {folder}: there must be a folder of walks, got none")
    stated = checked(_Stated, read_json(folder / _FILE, BadWalks), f"{folder / _FILE}", BadWalks)
    seen, taken, offsets = (
        map_array(folder / f"{name}.npy", BadWalks) for name in ("observations", "actions", "offsets")
    )
    offsets = np.array(offsets, dtype=np.int64)
    if seen.shape != taken.shape or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(seen):
        rule = f"{folder} must hold as many observations as actions, and `offsets` from 0 to their number"
        raise BadWalks(f"{rule}, got {len(seen)}, {len(taken)} and {len(offsets)} offsets")
    lengths = np.diff(offsets)
    short = int(lengths.argmin())
    if lengths[short] < 2 or lengths.max() >= 1 << 31:
        raise BadWalks(f"{folder}: a walk must have 2 to 2^31 - 1 steps, walk {short} has {lengths[short]}")
    for name, flat, size in (
        ("observations", seen, stated.num_observations),
        ("actions", taken, stated.num_actions),
    ):
        _check_flat(folder, name, flat, size)
    return WalkLog(
        seen,
        taken,
        offsets[:-1],
        lengths.astype(np.int32),
        stated.num_observations,
        stated.num_actions,
        stated.observation_labels,
        stated.action_labels,
    )


def _check_flat(folder: Path, name: str, flat: Flat, size: int) -> None:
    if flat.dtype.kind == "u" and np.iinfo(flat.dtype).max < size:
        return
    for first in range(0, len(flat), BLOCK):
        block = flat[first : first + BLOCK]
        if block.min() < 0 or block.max() >= size:
            raise BadWalks(
                f"{folder}: `{name}` must be in [0, {size}), got {block.min()} to {block.max()} "
                f"near step {first}"
            )


class LogWriter:
    """Writes a folder of walks part by part."""

    def __init__(self, folder: Path, observations: Any, actions: Any) -> None:
        """observations, actions: the types of the numbers to be written."""
        self._columns = [
            ArrayWriter(folder / f"{name}.npy", kind)
            for name, kind in (("observations", observations), ("actions", actions), ("offsets", np.int64))
        ]
        self._folder = folder
        self._columns[2].add(np.zeros(1, dtype=np.int64))

    def add(self, log: WalkLog) -> None:
        """Append walks that are stored one after the other."""
        first, last = int(log.starts[0]), int(log.starts[-1] + log.lengths[-1])
        self.add_flat(log.flat_observations[first:last], log.flat_actions[first:last], log.lengths)

    def add_flat(self, seen: Flat, taken: Flat, lengths: NDArray[Any]) -> None:
        ends = self._columns[0].size + np.cumsum(lengths, dtype=np.int64)
        for column, values in zip(self._columns, (seen, taken, ends), strict=True):
            column.add(values)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for column in self._columns:
            column.close()

    def finish(
        self,
        num_observations: int,
        num_actions: int,
        observation_labels: Labels | None,
        action_labels: Labels | None,
    ) -> None:
        """State what the numbers mean, which makes the folder whole."""
        stated = {"format": 1, "num_observations": num_observations, "num_actions": num_actions}
        labels = {"observation_labels": observation_labels, "action_labels": action_labels}
        write_json(
            self._folder / _FILE, stated | {name: own for name, own in labels.items() if own is not None}
        )


def save_log(path: Path, walks: Walks) -> None:
    """Write walks to a folder, whole or not at all."""
    if walks.rewards is not None:
        raise BadOutput(
            f"a {SUFFIX} folder has no rewards, these walks do: write them as .npz, .jsonl or .csv"
        )
    log = log_of(walks)
    with write_folder(path) as folder:
        kinds = small_type(log.num_observations), small_type(log.num_actions)
        with LogWriter(folder, *kinds) as writer:
            for block in blocks(log.lengths):
                some = log.only(block)
                follow = (some.starts[1:] == some.starts[:-1] + some.lengths[:-1]).all()
                writer.add(some if follow else compact(some))
        writer.finish(*(getattr(log, name) for name in VOCABULARY))
