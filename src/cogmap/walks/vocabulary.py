"""Labels and their indices, within one file and between two files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadWalks
from cogmap.records import Booleans, Integers, Labels, Walks

MOST_INDICES = 1 << 20  # observations, or actions: a model has a row of weights for each


def index_words(words: Sequence[str], name: str, labels: Labels | None) -> tuple[NDArray[np.int64], Labels]:
    """The index of each word in `labels`, or in the sorted words if the file states no labels.

    Sorted, because the order of first appearance would differ between two files of one place.
    """
    known = tuple(sorted(set(words))) if labels is None else labels
    index = {label: number for number, label in enumerate(known)}
    try:
        return np.array([index[word] for word in words], dtype=np.int64), known
    except KeyError as error:
        raise BadWalks(f"label {error.args[0]!r:.60} in `{name}` is not known, {_listed(known)}") from None


def check_labels(name: str, labels: Labels) -> None:
    """Labels must survive every file format and be printable on every terminal."""
    for label in labels:
        if not label or "\0" in label:
            raise BadWalks(f"`{name}` must be non-empty words without NUL, got {label!r:.60}")
        if not label.isascii() and any("\ud800" <= character <= "\udfff" for character in label):
            raise BadWalks(f"`{name}` must be valid Unicode, got {label!r:.60}")


def vocabulary_size(stated: int | None, labels: Labels | None, values: NDArray[np.integer]) -> int:
    """The size that the file states, else the number of its labels, else its largest value plus one."""
    if stated is not None:
        size = stated
    elif labels is not None:
        size = len(labels)
    else:
        size = max(1, int(values.max()) + 1) if values.size else 1
    if size > MOST_INDICES:
        rule = f"observations and actions must be numbered from 0, each with at most {MOST_INDICES} numbers"
        raise BadWalks(f"{rule}, got {size}: leave no gaps, or write them as labels")
    return size


def translate(walks: Walks, like: Walks) -> Walks:
    """The same walks in the vocabulary of `like`. Labels are matched by name; integers without labels are kept."""
    seen = walks.step_mask()  # (B, N)
    pairs = [
        ("observation", walks.observations, seen, walks.observation_labels, like.observation_labels),
        ("action", walks.actions, seen[:, 1:], walks.action_labels, like.action_labels),
    ]
    observations, actions = (_translate(*pair) for pair in pairs)
    return replace(
        walks,
        observations=observations,
        actions=actions,
        num_observations=like.num_observations,
        num_actions=like.num_actions,
        observation_labels=like.observation_labels,
        action_labels=like.action_labels,
    )


def _translate(
    name: str, values: Integers, mask: Booleans, own: Labels | None, known: Labels | None
) -> Integers:
    new = new_numbers(name, own, known)
    if new is None or own is None or known is None:
        return values
    translated = np.where(mask, new[values], 0)
    unknown = np.argwhere(translated < 0)
    if unknown.size:
        walk, step = unknown[0]
        refuse_unknown(name, own[values[walk, step]], int(walk), int(step), known)
    return translated


def new_numbers(name: str, own: Labels | None, known: Labels | None) -> Integers | None:
    """The known number of each own label, -1 for one that is not known; None if numbers stay as they are."""
    if own is None or own == known:
        return None
    if known is None:
        raise BadWalks(
            f"every {name} must be an integer, as in the walks to match, got the labels {own[0]!r:.60}, ..."
        )
    index = {label: number for number, label in enumerate(known)}
    return np.array([index.get(label, -1) for label in own], dtype=np.int32)


def refuse_unknown(name: str, label: str, walk: int, step: int, known: Labels) -> NoReturn:
    where = f"label {label!r:.60} (the {name} of walk {walk}, step {step})"
    raise BadWalks(f"{where} is not known, {_listed(known)}")


def _listed(labels: Labels, most: int = 8) -> str:
    shown = ", ".join(f"{label!r:.60}" for label in labels[:most])
    return f"the labels are {shown}{', ...' if len(labels) > most else ''}"
