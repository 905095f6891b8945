"""Walks end to end, as they were logged: no padding, in memory or mapped from a folder that may be larger than memory.

A folder `NAME.walks` holds `observations.npy` and `actions.npy` (T,), all steps of all walks one after the other,
`offsets.npy` (B + 1,), where each walk begins and the last one ends, and `walks.json` with sizes and labels. The action
at the last step of a walk leads nowhere and is 0. Plain npy files, because every language maps them, they need no
library beyond numpy, and a window of a walk is one look-up: no chunk has to be inflated for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cogmap.checks import checked
from cogmap.errors import BadOutput, BadWalks
from cogmap.files import ArrayWriter, map_array, read_json, write_folder, write_json
from cogmap.records import Booleans, Integers, Labels, Walks
from cogmap.walks.vocabulary import MOST_INDICES, check_labels, new_numbers, refuse_unknown

SUFFIX = ".walks"
PART_CELLS = 1 << 20  # cells of the padded walks of a part
MOST_PADDING = 32  # cells of the padded form for each step
MOST_CELLS = 1 << 22  # that any walks may have, however few their steps are
_BLOCK = 1 << 22  # steps that are checked, or ordered by length, at once
_FILE = "walks.json"

Flat = NDArray[np.integer[Any]]  # (T,)


class WalkLog(Walks):
    """Walks stored end to end. `observations` and `actions` are padded when they are first asked for.

    What may be long is read by `walk_parts`, by `rows`, or step by step with `observed` and `done`.
    """

    flat_observations: Flat  # (T,)
    flat_actions: Flat  # (T,)
    starts: NDArray[np.int64]  # (B,) where each walk begins

    def __new__(cls, *args: Any, **fields: Any) -> Any:
        """`dataclasses.replace` calls the class with the fields of `Walks`: that gives padded walks."""
        return Walks(**fields) if "observations" in fields else super().__new__(cls)

    def __init__(
        self,
        flat_observations: Flat,
        flat_actions: Flat,
        starts: NDArray[np.int64],
        lengths: Integers,
        num_observations: int,
        num_actions: int,
        observation_labels: Labels | None = None,
        action_labels: Labels | None = None,
    ) -> None:
        """No value is checked here: `check_log` does it, once, where steps come from outside."""
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def num_walks(self) -> int:
        return len(self.starts)

    @property
    def num_steps(self) -> int:
        return int(self.lengths.max())

    @property
    def observations(self) -> Integers:
        return self._padded.observations

    @property
    def actions(self) -> Integers:
        return self._padded.actions

    @cached_property
    def _padded(self) -> Walks:
        return self.rows(slice(None))

    def step_mask(self) -> Booleans:
        check_padding(self.lengths)
        return super().step_mask()

    def observed(self, walk: NDArray[Any], step: NDArray[Any]) -> Integers:
        """`observations[walk, step]`, 0 past the end of a walk."""
        return self._at(self.flat_observations, walk, step, self.lengths[walk])

    def done(self, walk: NDArray[Any], step: NDArray[Any]) -> Integers:
        """`actions[walk, step]`, 0 past the last action of a walk."""
        return self._at(self.flat_actions, walk, step, self.lengths[walk] - 1)

    def _at(self, flat: Flat, walk: NDArray[Any], step: NDArray[Any], bound: NDArray[Any]) -> Integers:
        inside = step < bound
        place = self.starts[walk] + np.where(inside, step, 0)
        return np.where(inside, flat[place], 0).astype(np.int32)

    def rows(self, chosen: Any) -> Walks:
        """Some of the walks, padded to the longest of them."""
        some = self.only(chosen)
        check_padding(some.lengths)
        walk, step = np.arange(some.num_walks)[:, None], np.arange(some.num_steps)
        fields = {name: getattr(self, name) for name in _VOCABULARY}
        seen, taken = some.observed(walk, step), some.done(walk, step[:-1])
        for array in (seen, taken):
            array.flags.writeable = False  # so that the record needs no copy
        return Walks(observations=seen, actions=taken, lengths=some.lengths, **fields)

    def only(self, chosen: Any) -> WalkLog:
        """Some of the walks, as they are stored; no step is copied."""
        return self._with(self.starts[chosen], self.lengths[chosen])

    def cut(self, longest: int) -> WalkLog:
        """The same walks in pieces of at most `longest` steps. A piece begins with the last step of the one before."""
        pieces = -(-(self.lengths.astype(np.int64) - 1) // (longest - 1))  # (B,) each has at least one move
        walk = np.repeat(np.arange(self.num_walks), pieces)
        number = np.arange(len(walk)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        first = number * (longest - 1)
        return self._with(self.starts[walk] + first, np.minimum(longest, self.lengths[walk] - first))

    def first_steps(self, most: int) -> WalkLog:
        """Every walk, without the steps after its first `most`."""
        return self._with(self.starts, np.minimum(self.lengths, most))

    def sample(self, steps: int, seed: int = 0) -> WalkLog:
        """Random walks with about so many steps in all, in their order; pieces of walks that are much longer."""
        if int(self.lengths.sum(dtype=np.int64)) <= steps:
            return self
        pieces = self.cut(max(2, steps // 64)) if self.num_steps > steps // 64 else self
        order = np.random.default_rng(seed).permutation(pieces.num_walks)
        enough = int(np.searchsorted(np.cumsum(pieces.lengths[order], dtype=np.int64), steps)) + 1
        return pieces.only(np.sort(order[:enough]))

    def _with(self, starts: NDArray[np.int64], lengths: NDArray[Any]) -> WalkLog:
        fields = {name: getattr(self, name) for name in _VOCABULARY}
        return WalkLog(
            self.flat_observations, self.flat_actions, starts, lengths.astype(np.int32, copy=False), **fields
        )


_VOCABULARY = ("num_observations", "num_actions", "observation_labels", "action_labels")


def total_steps(walks: Walks) -> int:
    return int(walks.lengths.sum(dtype=np.int64))


def sampled(walks: Walks, steps: int) -> Walks:
    """Walks with about so many steps in all: the first of padded ones, random ones of a log."""
    if isinstance(walks, WalkLog):
        return evened(walks.sample(steps)).rows(slice(None))
    return walks.rows(slice(0, max(1, steps // walks.num_steps)))


def evened(log: WalkLog) -> WalkLog:
    """The same walks, in pieces where padding them would take many times the steps that there are."""
    longest, most = log.num_steps, max(MOST_CELLS, 8 * total_steps(log))
    while longest > 64 and padded_cells(log.cut(longest).lengths) > most:
        longest = -(-longest // 2)
    return log if longest == log.num_steps else log.cut(longest)


def compact(log: WalkLog) -> WalkLog:
    """The same walks with copies of their own steps alone, one walk after the other."""
    ends = np.cumsum(log.lengths, dtype=np.int64)
    place = np.repeat(log.starts - (ends - log.lengths), log.lengths) + np.arange(ends[-1])
    fields = {name: getattr(log, name) for name in _VOCABULARY}
    seen, taken = log.flat_observations[place], log.flat_actions[place]
    taken[ends - 1] = 0
    return WalkLog(seen, taken, ends - log.lengths, log.lengths, **fields)


def walk_parts(walks: Walks, cells: int = PART_CELLS) -> Iterator[tuple[NDArray[np.int64], Walks]]:
    """All walks, some at a time and padded: their numbers (b,) and the walks, of about `cells` cells at the most.

    A walk that is longer is a part of its own. Walks of a part are of similar lengths, and parts follow the order in
    which walks are stored, so that a mapped log is read from its beginning to its end.
    """
    for block in _blocks(walks.lengths):
        order = block[np.argsort(walks.lengths[block], kind="stable")]
        first = 0
        while first < len(order):
            last = _end_of_part(walks.lengths[order[first:]], cells) + first
            chosen = np.sort(order[first:last])
            yield chosen, _padded_rows(walks, chosen)
            first = last


def _padded_rows(walks: Walks, chosen: NDArray[np.int64]) -> Walks:
    return walks.rows(slice(None) if len(chosen) == walks.num_walks else chosen)


def _blocks(lengths: Integers) -> Iterator[NDArray[np.int64]]:
    """Numbers of consecutive walks that have about `_BLOCK` steps."""
    ends = np.cumsum(lengths, dtype=np.int64)
    first = 0
    while first < len(lengths):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        yield np.arange(first, last)
        first = last


def _end_of_part(lengths: Integers, cells: int) -> int:
    """How many walks of rising lengths are padded to at most `cells` cells and twice their steps."""
    padded = np.arange(1, len(lengths) + 1) * lengths.astype(np.int64)
    fits = (padded <= cells) & (padded <= 2 * np.cumsum(lengths, dtype=np.int64))
    return max(1, len(fits) if fits.all() else int(fits.argmin()))


def each_walk(walks: Walks) -> Iterator[tuple[Flat, Flat]]:
    """The observations (n,) and the actions (n - 1,) of each walk, in order."""
    if isinstance(walks, WalkLog):
        for start, length in zip(walks.starts.tolist(), walks.lengths.tolist(), strict=True):
            yield (
                walks.flat_observations[start : start + length],
                walks.flat_actions[start : start + length - 1],
            )
        return
    for seen, taken, length in zip(walks.observations, walks.actions, walks.lengths.tolist(), strict=True):
        yield seen[:length], taken[: length - 1]


def padded_cells(lengths: NDArray[np.integer[Any]]) -> int:
    return len(lengths) * int(lengths.max())


def may_be_padded(lengths: NDArray[np.integer[Any]]) -> bool:
    """Whether the padded form is not far larger than the walks are."""
    return padded_cells(lengths) <= _most_cells(lengths)


def check_padding(lengths: NDArray[np.integer[Any]]) -> None:
    """Refuse to pad walks of which a few are far longer than the rest."""
    if not may_be_padded(lengths):
        steps = int(lengths.sum(dtype=np.int64))
        most, cells = _most_cells(lengths), padded_cells(lengths)
        rule = f"walks padded to the longest must have at most {most} cells for their {steps} steps"
        longest = f"walk {int(lengths.argmax())} has {int(lengths.max())} steps"
        raise BadWalks(f"{rule}, got {cells}: cut the longest walks into pieces, {longest}")


def _most_cells(lengths: NDArray[np.integer[Any]]) -> int:
    return max(MOST_CELLS, MOST_PADDING * int(lengths.sum(dtype=np.int64)))


def small_type(size: int) -> np.dtype[Any]:
    """The smallest type for integers below `size`."""
    return np.dtype(np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int32)


def log_of(walks: Walks) -> WalkLog:
    """The walks without their padding."""
    if isinstance(walks, WalkLog):
        return walks
    mask = walks.step_mask()
    taken = np.zeros(mask.shape, dtype=small_type(walks.num_actions))
    taken[:, :-1] = walks.actions
    ends = np.cumsum(walks.lengths, dtype=np.int64)
    fields = {name: getattr(walks, name) for name in _VOCABULARY}
    seen = walks.observations[mask].astype(small_type(walks.num_observations))
    return WalkLog(seen, taken[mask], ends - walks.lengths, walks.lengths, **fields)


def translate_log(log: WalkLog, like: Walks) -> WalkLog:
    """As `vocabulary.translate`. Where numbers change, steps are copied, in the smallest type."""
    columns: dict[str, Flat] = {}
    for name, flat, bound in (
        ("observation", log.flat_observations, log.lengths),
        ("action", log.flat_actions, log.lengths - 1),
    ):
        own, known = (getattr(walks, f"{name}_labels") for walks in (log, like))
        new = new_numbers(name, own, known)
        if new is not None:
            for walk, (start, length) in enumerate(zip(log.starts.tolist(), bound.tolist(), strict=True)):
                used = flat[start : start + length]
                if (new[used] < 0).any():
                    step = int((new[used] < 0).argmax())
                    refuse_unknown(name, own[used[step]], walk, step, known)
            flat = np.maximum(new, 0).astype(small_type(len(known)))[flat]
        columns[name] = flat
    fields = {name: getattr(like, name) for name in _VOCABULARY}
    return WalkLog(columns["observation"], columns["action"], log.starts, log.lengths, **fields)


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
    for first in range(0, len(flat), _BLOCK):
        block = flat[first : first + _BLOCK]
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
            for block in _blocks(log.lengths):
                some = log.only(block)
                follow = (some.starts[1:] == some.starts[:-1] + some.lengths[:-1]).all()
                writer.add(some if follow else compact(some))
        writer.finish(*(getattr(log, name) for name in _VOCABULARY))
