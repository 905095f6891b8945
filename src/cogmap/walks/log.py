"""Walks end to end, as they were logged: no padding, in memory or mapped from a folder (`log_store.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Booleans, Integers, Labels, Walks
from cogmap.walks.vocabulary import new_numbers, refuse_unknown

PART_CELLS = 1 << 20  # cells of the padded walks of a part
MOST_PADDING = 32  # cells of the padded form for each step
MOST_CELLS = 1 << 22  # that any walks may have, however few their steps are
BLOCK = 1 << 22  # steps that are checked, or ordered by length, at once

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
        fields = {name: getattr(self, name) for name in VOCABULARY}
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
        fields = {name: getattr(self, name) for name in VOCABULARY}
        return WalkLog(
            self.flat_observations, self.flat_actions, starts, lengths.astype(np.int32, copy=False), **fields
        )


VOCABULARY = ("num_observations", "num_actions", "observation_labels", "action_labels")


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
    fields = {name: getattr(log, name) for name in VOCABULARY}
    seen, taken = log.flat_observations[place], log.flat_actions[place]
    taken[ends - 1] = 0
    return WalkLog(seen, taken, ends - log.lengths, log.lengths, **fields)


def walk_parts(walks: Walks, cells: int = PART_CELLS) -> Iterator[tuple[NDArray[np.int64], Walks]]:
    """All walks, some at a time and padded: their numbers (b,) and the walks, of about `cells` cells at the most.

    A walk that is longer is a part of its own. Walks of a part are of similar lengths, and parts follow the order in
    which walks are stored, so that a mapped log is read from its beginning to its end.
    """
    for block in blocks(walks.lengths):
        order = block[np.argsort(walks.lengths[block], kind="stable")]
        first = 0
        while first < len(order):
            last = _end_of_part(walks.lengths[order[first:]], cells) + first
            chosen = np.sort(order[first:last])
            yield chosen, _padded_rows(walks, chosen)
            first = last


def _padded_rows(walks: Walks, chosen: NDArray[np.int64]) -> Walks:
    return walks.rows(slice(None) if len(chosen) == walks.num_walks else chosen)


def blocks(lengths: Integers, steps: int = BLOCK) -> Iterator[NDArray[np.int64]]:
    """Numbers of consecutive walks that have about so many steps."""
    ends = np.cumsum(lengths, dtype=np.int64)
    first = 0
    while first < len(lengths):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + steps, side="right")))
        yield np.arange(first, last)
        first = last


def _end_of_part(lengths: Integers, cells: int) -> int:
    """How many walks of ascending lengths are padded to at most `cells` cells and twice their steps."""
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
    fields = {name: getattr(walks, name) for name in VOCABULARY}
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
    fields = {name: getattr(like, name) for name in VOCABULARY}
    return WalkLog(columns["observation"], columns["action"], log.starts, log.lengths, **fields)
