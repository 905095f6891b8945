"""Walks as arrays: `observations` (B, N), `actions` (B, N - 1 or N), and optional lengths, sizes, labels and `rewards`
(B, N - 1 or N).

Walks of which a few are far longer than the rest: `observations`, `actions` (T,), end to end, and `offsets` (B + 1,).

Walks of views: `views` (B, N, H, W, C) of bytes or `features` (B, N, F), one for every step. If views repeat, a far
smaller form is `observations` (B, N) as indices into `distinct_views` (U, H, W, C) or (U, F).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Labels, Walks
from cogmap.walks.log import WalkLog, each_walk, may_be_padded, small_type
from cogmap.walks.ragged import Column, checked_lengths, walks_from_columns
from cogmap.walks.views import Views, ViewWalks, checked_views, distinct_views
from cogmap.walks.vocabulary import MOST_INDICES, check_labels, vocabulary_size

Arrays = Mapping[str, NDArray[Any]]
EVERY_STEP = {"views": ("(B, N, H, W, C)", 5), "features": ("(B, N, F)", 3)}
DISTINCT = "distinct_views"


def walks_from_arrays(arrays: Arrays) -> Walks:
    """The walks. Values after the end of a walk are ignored.

    If the file states neither `num_observations` nor labels, their number is the largest observation plus one.
    """
    if "offsets" in arrays:
        return _end_to_end(arrays)
    observations, actions = integer_array(arrays, "observations", 2), integer_array(arrays, "actions", 2)
    walks, steps = observations.shape
    lengths = checked_lengths(read_lengths(arrays, walks, steps))
    if actions.shape not in ((walks, steps - 1), (walks, steps)):
        rule = f"`actions` must have shape (B, N - 1) = {(walks, steps - 1)} or (B, N) = {(walks, steps)}"
        raise BadWalks(f"{rule}, got {actions.shape}")
    step = np.arange(steps)
    observations = np.where(step < lengths[:, None], observations, 0)
    actions = np.where(step[1:] < lengths[:, None], actions[:, : steps - 1], 0)
    observation_labels = read_labels(arrays, "observation_labels")
    action_labels = read_labels(arrays, "action_labels")
    return Walks(
        observations=observations,
        actions=actions,
        lengths=lengths,
        num_observations=vocabulary_size(
            read_size(arrays, "num_observations"), observation_labels, observations
        ),
        num_actions=vocabulary_size(read_size(arrays, "num_actions"), action_labels, actions),
        observation_labels=observation_labels,
        action_labels=action_labels,
        rewards=_rewards(arrays, lengths, walks, steps),
    )


def _end_to_end(arrays: Arrays) -> Walks:
    seen, taken, offsets = (integer_array(arrays, name, 1) for name in ("observations", "actions", "offsets"))
    good = len(offsets) > 1 and offsets[0] == 0 and offsets[-1] == len(seen) == len(taken)
    if not good or (offsets[1:] < offsets[:-1]).any():
        rule = "`offsets` must rise from 0 to the number of observations, which is that of actions"
        raise BadWalks(f"{rule}, got {len(seen)} and {len(taken)} of them and {len(offsets)} offsets")
    labels = {name: read_labels(arrays, f"{name}_labels") for name in ("observation", "action")}
    last = np.zeros(len(seen), dtype=bool)
    last[offsets[1:][offsets[1:] > 0] - 1] = True

    def column(name: str, values: NDArray[Any]) -> Column:
        return Column(f"{name}s", values.tolist(), read_size(arrays, f"num_{name}s"), labels[name])

    lengths = np.diff(offsets.astype(np.int64)).tolist()
    return walks_from_columns(column("observation", seen), column("action", taken[~last]), lengths)


def _rewards(arrays: Arrays, lengths: NDArray[Any], walks: int, steps: int) -> NDArray[Any] | None:
    """(B, N - 1), 0 after the end of a walk; None where there are none."""
    if "rewards" not in arrays:
        return None
    rewards = arrays["rewards"]
    if rewards.dtype.kind not in "iuf" or rewards.shape not in ((walks, steps - 1), (walks, steps)):
        rule = f"`rewards` must be numbers of shape (B, N - 1) = {(walks, steps - 1)} or (B, N) = {(walks, steps)}"
        raise BadWalks(f"{rule}, got {rewards.dtype} of shape {rewards.shape}")
    return np.where(np.arange(1, steps) < lengths[:, None], rewards[:, : steps - 1], 0.0)


def view_walks_from_arrays(arrays: Arrays) -> ViewWalks:
    """The walks. Views after the end of a walk are ignored."""
    given = [name for name in (*EVERY_STEP, DISTINCT) if name in arrays]
    if len(given) > 1 or (given != [DISTINCT] and "observations" in arrays):
        rule = "a file must hold only one of `observations`, `views` and `features`"
        raise BadWalks(f"{rule}, got {' and '.join(['observations'] * ('observations' in arrays) + given)}")
    if given == [DISTINCT]:
        views = checked_views(arrays[DISTINCT])
        rest = {"num_observations": np.array(len(views)), **arrays}
    else:
        views, index = _of_every_step(arrays, given[0])
        rest = {**arrays, "observations": index, "num_observations": np.array(len(views))}
    plain = walks_from_arrays(rest)
    return ViewWalks(**{name: getattr(plain, name) for name in Walks.__dataclass_fields__}, views=views)


def arrays_from_walks(walks: Walks) -> dict[str, NDArray[Any]]:
    end_to_end = isinstance(walks, WalkLog) and not may_be_padded(walks.lengths)
    arrays: dict[str, NDArray[Any]] = {
        **(_flat_arrays(walks) if end_to_end else _padded_arrays(walks)),
        "num_observations": np.array(walks.num_observations),
        "num_actions": np.array(walks.num_actions),
    }
    if walks.rewards is not None:
        arrays["rewards"] = walks.rewards
    return arrays | label_arrays(walks.observation_labels, walks.action_labels)


def _padded_arrays(walks: Walks) -> dict[str, NDArray[Any]]:
    return {"observations": walks.observations, "actions": walks.actions, "lengths": walks.lengths}


def _flat_arrays(walks: Walks) -> dict[str, NDArray[Any]]:
    rows = list(each_walk(walks))
    nothing = np.zeros(1, dtype=np.int32)  # after the last step of a walk
    actions = [part for _, taken in rows for part in (taken, nothing)]
    return {
        "observations": np.concatenate([seen for seen, _ in rows]),
        "actions": np.concatenate(actions).astype(small_type(walks.num_actions)),
        "offsets": np.concatenate([[0], np.cumsum(walks.lengths, dtype=np.int64)]),
    }


def view_arrays(walks: Walks) -> dict[str, NDArray[Any]]:
    """The arrays that walks of views add to a file; none for other walks."""
    return {DISTINCT: walks.views} if isinstance(walks, ViewWalks) else {}


def holds_views(arrays: Arrays) -> bool:
    return any(name in arrays for name in (*EVERY_STEP, DISTINCT))


def label_arrays(observation_labels: Labels | None, action_labels: Labels | None) -> dict[str, NDArray[Any]]:
    pairs = {"observation_labels": observation_labels, "action_labels": action_labels}
    return {name: np.array(labels, dtype=np.str_) for name, labels in pairs.items() if labels is not None}


def integer_array(arrays: Arrays, name: str, ndim: int) -> NDArray[Any]:
    if name not in arrays:
        raise BadWalks(f"`{name}` is missing, got {', '.join(arrays) or 'no arrays':.300}")
    array = arrays[name]
    if array.dtype.kind not in "iu":
        raise BadWalks(f"`{name}` must hold integers, got dtype {array.dtype}")
    if array.ndim != ndim:
        raise BadWalks(f"`{name}` must have {ndim} dimension(s), got shape {array.shape}")
    return array


def read_lengths(arrays: Arrays, walks: int, steps: int) -> NDArray[Any]:
    if "lengths" not in arrays:
        return np.full(walks, steps)
    lengths = integer_array(arrays, "lengths", 1)
    if lengths.shape != (walks,):
        raise BadWalks(f"`lengths` must have shape (B,) = {(walks,)}, got {lengths.shape}")
    return lengths


def read_size(arrays: Arrays, name: str) -> int | None:
    if name not in arrays:
        return None
    size = int(integer_array(arrays, name, 0))
    if size < 1:
        raise BadWalks(f"`{name}` must be at least 1, got {size}")
    return size


def read_labels(arrays: Arrays, name: str) -> Labels | None:
    if name not in arrays:
        return None
    array = arrays[name]
    if array.dtype.kind != "U" or array.ndim != 1:
        raise BadWalks(f"`{name}` must be a row of strings, got dtype {array.dtype} and shape {array.shape}")
    if array.size > MOST_INDICES:
        raise BadWalks(f"`{name}` must be at most {MOST_INDICES} labels, got {array.size}")
    labels = tuple(array.tolist())
    check_labels(name, labels)
    return labels


def _of_every_step(arrays: Arrays, name: str) -> tuple[Views, NDArray[np.int32]]:
    """The distinct views (U, ...), and the index of the view at each step (B, N)."""
    seen, (shape, ndim) = arrays[name], EVERY_STEP[name]
    if seen.ndim != ndim or 0 in seen.shape:
        raise BadWalks(f"`{name}` must have shape {shape} with none of them 0, got {seen.shape}")
    walks, steps = seen.shape[:2]
    lengths = checked_lengths(read_lengths(arrays, walks, steps))
    mask = np.arange(steps) < lengths[:, None]  # (B, N)
    views, which = distinct_views(checked_views(seen[mask]))
    index = np.zeros((walks, steps), dtype=np.int32)
    index[mask] = which
    return views, index
