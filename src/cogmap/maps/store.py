"""A cognitive map as a file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

from cogmap.errors import BadRun
from cogmap.files import read_arrays, write_arrays
from cogmap.records import CognitiveMap

_TEXTS = ("warnings", "observation_labels", "action_labels")


def save_map(path: str | Path, cognitive_map: CognitiveMap) -> None:
    """Write `map.npz`: one array a field, labels as fixed-width text, absent labels left out."""
    values = {field.name: getattr(cognitive_map, field.name) for field in fields(cognitive_map)}
    absent = (None, ())
    write_arrays(path, {n: np.array(v) for n, v in values.items() if not any(v is none for none in absent)})


def load_map(path: str | Path) -> CognitiveMap:
    """The map in a file, or BadRun with one line."""
    arrays = read_arrays(path, BadRun)
    values = {}
    for field in fields(CognitiveMap):
        if field.name in arrays:
            value = arrays[field.name]
            values[field.name] = (
                tuple(map(str, value)) if field.name in _TEXTS else value if value.ndim else value.item()
            )
    try:
        return CognitiveMap(**values)
    except TypeError as problem:
        raise BadRun(f"{path} must hold a cognitive map: {problem}") from problem
