"""A cognitive map as a file, `map.npz`, which never needs a pickle."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadRun
from cogmap.files import read_arrays, write_arrays
from cogmap.records import CognitiveMap

_TEXTS = ("warnings", "observation_labels", "action_labels")


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
    for field in fields(CognitiveMap):
        if field.name in arrays:
            values[field.name] = _field_value(field.name, arrays[field.name], path)
        elif field.default is MISSING:
            raise BadRun(f"{path} must hold a cognitive map, got no `{field.name}`")
    return CognitiveMap(**values)


def _field_value(name: str, array: NDArray[Any], path: str | Path) -> Any:
    if name in _TEXTS:
        if array.ndim != 1 or array.dtype.kind != "U":
            raise BadRun(f"{path}: `{name}` must be a row of text, got {array.dtype} of shape {array.shape}")
        return tuple(map(str, array))
    return array.item() if array.ndim == 0 else array
