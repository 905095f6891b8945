"""What other people's environments show, made categorical: equal views get equal labels everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Labels, Walks


def view_label(seen: Any) -> str:
    """A short hash of numbers, strings, arrays, and of sequences and dictionaries of them."""
    return blake2b(_canonical(seen), digest_size=6).hexdigest()


def walks_from_views(
    views: Sequence[Sequence[str]],
    actions: Sequence[Sequence[int]],
    num_actions: int,
    observation_labels: Labels | None = None,
    action_labels: Labels | None = None,
) -> Walks:
    """Walks whose observations are labels, numbered as in `observation_labels` or in sorted order."""
    labels = observation_labels or tuple(sorted({label for walk in views for label in walk}))
    index = {label: number for number, label in enumerate(labels)}
    unknown = next((label for walk in views for label in walk if label not in index), None)
    if unknown is not None:
        raise BadWalks(f"every view must be one of the {len(labels)} known ones, got {unknown!r}")
    return padded_walks(
        [np.array([index[label] for label in walk]) for walk in views],
        [np.asarray(walk) for walk in actions],
        num_observations=len(labels),
        num_actions=num_actions,
        observation_labels=labels,
        action_labels=action_labels,
    )


def padded_walks(
    observations: Sequence[NDArray[Any]], actions: Sequence[NDArray[Any]], **fields: Any
) -> Walks:
    """Walks of any lengths, a row for each; `fields` are the sizes and labels of `Walks`."""
    lengths = np.array([len(row) for row in observations], dtype=np.int32)
    seen = np.zeros((len(lengths), max(lengths, default=1)), dtype=np.int64)
    done = np.zeros((len(lengths), seen.shape[1] - 1), dtype=np.int64)
    for walk, (row, taken) in enumerate(zip(observations, actions, strict=True)):
        if len(taken) != len(row) - 1:
            rule = f"a walk of {len(row)} observations must have {len(row) - 1} actions"
            raise BadWalks(f"{rule}, walk {walk} has {len(taken)}")
        seen[walk, : len(row)] = row
        done[walk, : len(taken)] = taken
    return Walks(observations=seen, actions=done, lengths=lengths, **fields)


def _canonical(seen: Any) -> bytes:
    """Bytes that two views share exactly if they show the same, each part led by its kind and size."""
    if isinstance(seen, dict):
        parts = [_canonical(key) + _canonical(seen[key]) for key in sorted(seen, key=str)]
        return _tagged(b"d", b"".join(parts))
    if isinstance(seen, list | tuple):
        return _tagged(b"s", b"".join(map(_canonical, seen)))
    if isinstance(seen, str):
        return _tagged(b"t", seen.encode())
    if isinstance(seen, bytes):
        return _tagged(b"y", seen)
    array = np.asarray(seen)
    if array.dtype.kind in "biu":
        return _tagged(b"i%r" % (array.shape,), array.astype(np.int64).tobytes())
    if array.dtype.kind == "f":
        return _tagged(b"f%r" % (array.shape,), (array.astype(np.float64) + 0.0).tobytes())  # -0.0 is 0.0
    if array.dtype.kind in "US":
        return _canonical(array.tolist())
    raise BadWalks(f"a view must be made of numbers and strings, got {type(seen).__name__}")


def _tagged(kind: bytes, content: bytes) -> bytes:
    return b"%b%d:%b" % (kind, len(content), content)
