"""A GINC folder read back: its truth, and its prompts by number of examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.environments.ginc.documents import Documents
from cogmap.environments.ginc.prompts import Prompts
from cogmap.environments.ginc.world import GincWorld
from cogmap.errors import BadWalks
from cogmap.files import read_arrays, read_text
from cogmap.records import Labels

TRUTH = ("train_concept", "train_hidden", "validation_concept", "validation_hidden")
PARAMETERS = ("start", "slot_transitions", "value_transitions", "emission", "vocabulary")
FIELDS = {
    "text": str,
    "label": str,
    "x": list,
    "slot_pattern": list,
    "test_value": int,
    "hmm_type": str,
    "n_examples": int,
    "hmm_id": int,
}


def read_truth(folder: str | Path) -> tuple[GincWorld, Documents, Documents]:
    """The concepts, and what emitted the training and the validation documents."""
    path = Path(folder) / "truth.npz"
    arrays = read_arrays(path, BadWalks)
    for name in (*TRUTH, *PARAMETERS):
        if name not in arrays:
            raise BadWalks(f"{path} must hold `{name}`, it holds {', '.join(sorted(arrays)) or 'nothing'}")
    training, validation = (
        Documents(arrays[f"{kind}_concept"].astype(np.int32), arrays[f"{kind}_hidden"].astype(np.int32))
        for kind in ("train", "validation")
    )
    world = GincWorld(
        start=arrays["start"],
        slot_transitions=arrays["slot_transitions"],
        value_transitions=arrays["value_transitions"],
        emission=arrays["emission"].astype(np.int32),
        vocabulary=tuple(arrays["vocabulary"].tolist()),
    )
    return world, training, validation


def read_prompts(path: str | Path, vocabulary: Labels) -> list[Prompts]:
    """The prompts of an `..._prompts_randomsample_K.json`, a record for each number of examples, in order."""
    index = {word: place for place, word in enumerate(vocabulary)}
    groups: dict[tuple[int, int, bool], list[dict[str, Any]]] = {}
    for number, line in enumerate(read_text(path, BadWalks).splitlines(), start=1):
        row = _row(line, index, f"line {number} of {path}")
        kind = (len(row["x"]) + 1, row["n_examples"], row["hmm_type"] == "ID_sample")
        groups.setdefault(kind, []).append(row)
    return [_record(kind, rows, path) for kind, rows in groups.items()]


def _row(line: str, index: dict[str, int], where: str) -> dict[str, Any]:
    """The fields of one line, words turned into their places in the vocabulary."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadWalks(f"{where} must be JSON: {error}") from error
    for name, kind in FIELDS.items():
        if not isinstance(row, dict) or not isinstance(row.get(name), kind):
            raise BadWalks(f"{where} must hold `{name}` as a{'n' * (kind is int)} {kind.__name__}")
    slots = row["slot_pattern"]
    if len(slots) != len(row["x"]) + 2 or not all(isinstance(slot, int) for slot in slots):
        raise BadWalks(f"{where} must hold {len(row['x']) + 2} integers as `slot_pattern`, got {slots}")
    try:
        tokens = [index[word] for word in row["text"].split()]
        return row | {
            "tokens": tokens,
            "label": index[row["label"]],
            "x": [index[str(word)] for word in row["x"]],
        }
    except KeyError as error:
        raise BadWalks(f"every token of a prompt must be in the vocabulary, {where} has {error}") from error


def _record(kind: tuple[int, int, bool], rows: list[dict[str, Any]], path: str | Path) -> Prompts:
    length, examples, in_distribution = kind
    expected = (examples + 1) * (length + 1) - 2
    for row in rows:
        if len(row["tokens"]) != expected:
            rule = f"a prompt of {examples} examples of {length} tokens must have {expected} tokens"
            raise BadWalks(f"{rule}, one in {path} has {len(row['tokens'])}")

    def column(name: str) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=np.int32)

    return Prompts(
        length=length,
        examples=examples,
        in_distribution=in_distribution,
        concept=column("hmm_id"),
        tokens=column("tokens"),
        label=column("label"),
        last_slots=column("slot_pattern"),
        last_value=column("test_value"),
    )
