"""Walks of views as arrays: `views` (B, N, H, W, C) of bytes or `features` (B, N, F), one for every step; or, far
smaller where views come again, `observations` (B, N) that point into `distinct_views` (U, H, W, C) or (U, F)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Walks
from cogmap.walks.npz import Arrays, read_lengths, walks_from_arrays
from cogmap.walks.views import Views, ViewWalks, checked_views, distinct_views

EVERY_STEP = {"views": ("(B, N, H, W, C)", 5), "features": ("(B, N, F)", 3)}
DISTINCT = "distinct_views"


def holds_views(arrays: Arrays) -> bool:
    return any(name in arrays for name in (*EVERY_STEP, DISTINCT))


def view_walks_from_arrays(arrays: Arrays) -> ViewWalks:
    """The walks; views of padding are ignored."""
    told = [name for name in ("views", "features", DISTINCT) if name in arrays]
    if len(told) > 1 or (told != [DISTINCT] and "observations" in arrays):
        rule = "what was seen must be told by one of `observations`, `views` and `features`"
        raise BadWalks(f"{rule}, got {' and '.join(['observations'] * ('observations' in arrays) + told)}")
    if told == [DISTINCT]:
        views = checked_views(arrays[DISTINCT])
        rest = {"num_observations": np.array(len(views)), **arrays}
    else:
        views, index = _of_every_step(arrays, told[0])
        rest = {**arrays, "observations": index, "num_observations": np.array(len(views))}
    plain = walks_from_arrays(rest)
    return ViewWalks(**{name: getattr(plain, name) for name in Walks.__dataclass_fields__}, views=views)


def view_arrays(walks: Walks) -> dict[str, NDArray[Any]]:
    """What walks of views add to a file; nothing for others."""
    return {DISTINCT: walks.views} if isinstance(walks, ViewWalks) else {}


def _of_every_step(arrays: Arrays, name: str) -> tuple[Views, NDArray[np.int32]]:
    """The distinct views (U, ...), and which of them is seen at each step (B, N)."""
    seen, (shape, ndim) = arrays[name], EVERY_STEP[name]
    if seen.ndim != ndim or 0 in seen.shape:
        raise BadWalks(f"`{name}` must have shape {shape} with none of them 0, got {seen.shape}")
    walks, steps = seen.shape[:2]
    there = np.arange(steps) < read_lengths(arrays, walks, steps)[:, None]  # (B, N)
    if not there.any():
        raise BadWalks("a walk must have at least 2 steps, walk 0 has 0")
    views, which = distinct_views(checked_views(seen[there]))
    index = np.zeros((walks, steps), dtype=np.int32)
    index[there] = which
    return views, index
