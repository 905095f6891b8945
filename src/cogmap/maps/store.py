"""A cognitive map as a file, `map.npz`, and a hidden Markov model as one, `states.npz`; neither needs a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun, BadWalks
from cogmap.files import read_arrays, write_arrays
from cogmap.hmm.states import StateCounts
from cogmap.records import CognitiveMap
from cogmap.walks.vocabulary import MOST_INDICES, check_labels

_TEXTS = ("warnings", "observation_labels", "action_labels")
_SIZES = ("num_observations", "num_actions")
_SHARES = ("explained", "model_accuracy", "sign_weight")
_SUPPORTS = ("node_support", "edge_support")
_KINDS = ("minimal", "paper", "true")  # the true map of a world is for tests and comparisons
_MOST_MOVES = 1 << 25  # nodes times actions


def save_map(path: str | Path, cognitive_map: CognitiveMap) -> None:
    """Write one array per field; labels are fixed-width text, missing labels are left out."""
    values = {field.name: getattr(cognitive_map, field.name) for field in fields(cognitive_map)}
    arrays = {name: np.asarray(value) for name, value in values.items() if value is not None}
    for name in _TEXTS:
        if name in arrays:
            arrays[name] = arrays[name].astype(np.str_)  # an empty array of warnings would have floats
    write_arrays(path, arrays)


def load_map(path: str | Path) -> CognitiveMap:
    """Read the map in a file; `BadRun` if it is not one."""
    arrays = read_arrays(path, BadRun)
    values: dict[str, Any] = {}
    try:
        for field in fields(CognitiveMap):
            if field.name in arrays:
                values[field.name] = _field_value(field.name, arrays[field.name])
            elif field.default is MISSING:
                raise BadRun(f"it must hold a cognitive map, got no `{field.name}`")
        _check_table(values)
        return CognitiveMap(**values)
    except (BadRun, BadWalks) as problem:
        raise BadRun(f"{path}: {problem}") from None


def _field_value(name: str, array: NDArray[Any]) -> Any:
    if name in _TEXTS:
        return _texts(name, array)
    if name in _SIZES:
        return _size(name, array)
    if name in _SHARES:
        return _share(name, array)
    if name == "kind":
        if array.ndim or array.dtype.kind != "U" or array.item() not in _KINDS:
            raise BadRun(
                f"`kind` must be one of {', '.join(_KINDS)}, got {array.reshape(-1)[:4].tolist()!r:.60}"
            )
        return str(array)
    if name in _SUPPORTS and array.dtype.kind in "iu" and array.size and array.min() < 0:
        raise BadRun(f"`{name}` must be at least 0, got {array.min()}")
    if name == "seen_node" and array.ndim and array.dtype.kind in "iu" and (array[1:] < array[:-1]).any():
        raise BadRun("`seen_node` must be in rising order, it is not")
    return array


def _texts(name: str, array: NDArray[Any]) -> tuple[str, ...]:
    if array.ndim != 1 or array.dtype.kind != "U":
        raise BadRun(f"`{name}` must be a row of text, got {array.dtype} of shape {array.shape}")
    if len(array) > MOST_INDICES:
        raise BadRun(f"`{name}` must be at most {MOST_INDICES}, got {len(array)}")
    texts = tuple(map(str, array))
    if name != "warnings":
        check_labels(name, texts)
    return texts


def _size(name: str, array: NDArray[Any]) -> int:
    if array.ndim or array.dtype.kind not in "iu":
        raise BadRun(f"`{name}` must be an integer, got {array.dtype} of shape {array.shape}")
    if not 0 <= int(array) <= MOST_INDICES:
        raise BadRun(f"`{name}` must be from 0 to {MOST_INDICES}, got {int(array)}")
    return int(array)


def _share(name: str, array: NDArray[Any]) -> float:
    if array.ndim or array.dtype.kind not in "iuf":
        raise BadRun(f"`{name}` must be a number, got {array.dtype} of shape {array.shape}")
    if not np.isfinite(array):
        raise BadRun(f"`{name}` must be finite, got {float(array)}")
    return float(array)


def _check_table(values: Mapping[str, Any]) -> None:
    """Plans and pages have a number for each node and action, so that a few bytes could ask for much memory."""
    entries = values["node_observation"].size * values["num_actions"]
    if entries > _MOST_MOVES:
        raise BadRun(f"nodes times actions must be at most {_MOST_MOVES}, got {entries}")


def save_states(path: str | Path, counts: StateCounts) -> None:
    """Write one array per field."""
    write_arrays(path, {field.name: np.asarray(getattr(counts, field.name)) for field in fields(counts)})


def load_states(path: str | Path) -> StateCounts:
    """Read the hidden Markov model in a file; `BadRun` if it is not one."""
    arrays = read_arrays(path, BadRun)
    try:
        for field in fields(StateCounts):
            if field.name not in arrays:
                raise BadRun(f"it must hold states with counts, got no `{field.name}`")
        sizes = {name: _size(name, arrays[name]) for name in _SIZES}
        _check_states(arrays, **sizes)
    except BadRun as problem:
        raise BadRun(f"{path}: {problem}") from None
    kinds = {"row": np.int64, "target": np.int32, "seen_at": np.int32, "seen": np.int32}
    values: dict[str, Any] = {
        field.name: sizes.get(field.name, arrays[field.name].astype(kinds.get(field.name, np.float64)))
        for field in fields(StateCounts)
    }
    return StateCounts(**values)


def _check_states(arrays: Mapping[str, NDArray[Any]], num_observations: int, num_actions: int) -> None:
    """Rows of counts first, so that those of indices can be held against their lengths."""
    for name in ("first", "count", "seen_count"):
        given = _row_of(name, arrays[name], "f", None)
        if not np.isfinite(given).all() or (given < 0).any():
            raise BadRun(f"`{name}` must hold counts of at least 0")
    states = len(arrays["first"])
    if not states:
        raise BadRun("there must be at least one state, got none")  # compiled passes count on it
    moves = states * num_actions
    if moves > _MOST_MOVES:
        raise BadRun(f"states times actions must be at most {_MOST_MOVES}, got {moves}")
    for name, length_of, bound in (
        ("row", "count", moves),
        ("target", "count", states),
        ("seen_at", "seen_count", states),
        ("seen", "seen_count", num_observations),
    ):
        _check_indices(name, _row_of(name, arrays[name], "iu", len(arrays[length_of])), bound)
    for name in ("row", "seen_at"):
        if (arrays[name][1:] < arrays[name][:-1]).any():
            raise BadRun(f"`{name}` must be in rising order, it is not")


def _row_of(name: str, array: NDArray[Any], kinds: str, length: int | None) -> NDArray[Any]:
    if array.ndim != 1 or array.dtype.kind not in kinds or (length is not None and len(array) != length):
        raise BadRun(
            f"`{name}` must be a row of numbers that fits the others, got {array.dtype} of shape {array.shape}"
        )
    return array


def _check_indices(name: str, array: NDArray[Any], bound: int) -> None:
    if array.size and (array.min() < 0 or array.max() >= bound):
        raise BadRun(f"`{name}` must be in [0, {bound}), got {array.min()} to {array.max()}")
