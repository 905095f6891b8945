"""Broken copies of files: bytes cut, flipped and doubled, and values that are wrong in a file's own terms."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np

HOSTILE_JSON = [
    None, True, [], {}, "", "x", "\ud800", -1, 0, 1, 3.5, 1e308, float("nan"), float("inf"), 2**31, 2**62, 10**30,
    [[]], [None], ["a", "a"], {"a": {}}, "9" * 5000, [0] * 1000, "nan",
]  # fmt: skip
HOSTILE_TEXT = ["[" * 100_000, "9" * 5000, '{"a":' * 5000, "\x00", "NaN", "", "null", "\ufeff{}", '"\\ud800"']
HOSTILE_CELLS = ["", " ", "-1", "1e999", "nan", "9" * 5000, "a" * 200_000, '"', '""', "\r", "\0", "\ud800", "٣", "2,5",
    "0x10", "1_000", "99999999999999999999", "2024-13-45", "0001-01-01T00:00:00+99:99", "=1+1"]  # fmt: skip
HOSTILE_ARRAYS: list[Callable[[], np.ndarray]] = [
    lambda: np.array(3),
    lambda: np.array(-(2**62)),
    lambda: np.array("x"),
    lambda: np.array(2.5),
    lambda: np.array([]),
    lambda: np.zeros((0, 0), np.int32),
    lambda: np.full((3, 4), np.nan),
    lambda: np.full((3, 4), 2**31 - 1),
    lambda: np.full(3, -1),
    lambda: np.array(["a", "a"]),
    lambda: np.zeros((2, 3, 4, 5, 1), np.uint8),
    lambda: np.array([True]),
    lambda: np.array([2**63], dtype=np.uint64),
    lambda: np.arange(7, dtype=">i2"),
]


def mutated(content: bytes, suffix: str, rng: random.Random) -> bytes:
    """A broken copy: bytes cut, flipped, doubled, or in the file's own terms."""
    kind = rng.random()
    if kind < 0.5 and suffix in (".json", ".jsonl"):
        return _mutated_json(content, suffix, rng)
    if kind < 0.6 and suffix == ".npz":
        return _mutated_arrays(content, rng)
    if kind < 0.6 and suffix == ".safetensors":
        return _mutated_tensors(content, rng)
    if kind < 0.5 and suffix == ".npy":
        return _mutated_row(content, rng)
    if kind < 0.5 and suffix == ".csv":
        return _mutated_cells(content, rng)
    place = rng.randrange(len(content))
    match rng.randrange(5):
        case 0:
            return content[:place]
        case 1:
            flipped = bytearray(content)
            for _ in range(rng.choice([1, 1, 1, 4, 32])):
                flipped[rng.randrange(len(flipped))] ^= rng.randrange(1, 256)
            return bytes(flipped)
        case 2:
            return content[:place] + content[place // 2 : place] + content[place:]
        case 3:
            return content[:place] + rng.randbytes(rng.randrange(1, 64)) + content[place:]
    return content[:place] + content[place + rng.randrange(1, 64) :]


def _mutated_json(content: bytes, suffix: str, rng: random.Random) -> bytes:
    if rng.random() < 0.15:
        return rng.choice(HOSTILE_TEXT).encode("utf-8", "surrogatepass")
    try:
        lines = suffix == ".jsonl" or content.count(b"\n{") > 1
        value = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    except ValueError:
        value, lines = {}, False
    for _ in range(rng.choice([1, 1, 2])):
        _change(value, rng)
    text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
    return text.encode()


def _change(value: Any, rng: random.Random) -> None:
    """Replace, remove or add something somewhere inside; copies, so that no input changes those that come later."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = rng.choice(keys)
        if not isinstance(value[key], dict | list) or not value[key] or rng.random() < 0.3:
            break
        value = value[key]
    kind = rng.random()
    if kind < 0.75:
        value[key] = deepcopy(rng.choice(HOSTILE_JSON))
    elif kind < 0.9:
        del value[key]
    elif isinstance(value, dict):
        value["more"] = deepcopy(rng.choice(HOSTILE_JSON))
    else:
        value.append(deepcopy(rng.choice(HOSTILE_JSON)))


def _mutated_arrays(content: bytes, rng: random.Random) -> bytes:
    with np.load(io.BytesIO(content)) as stored:
        arrays = dict(stored)
    name = rng.choice(sorted(arrays))
    match rng.randrange(6):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = arrays[name].reshape(-1)[:-1]
        case 2:
            arrays[name] = arrays[name][None]
        case 3 if arrays[name].dtype.kind in "iuf":
            wide = arrays[name].astype(np.float64 if arrays[name].dtype.kind == "f" else np.int64)
            arrays[name] = wide * rng.choice([-1, 2, 10**6]) + rng.choice([0, 1, 10**9])
        case 4:
            return _bomb(name, *rng.choice(_BOMBS))
        case _:
            arrays[name] = rng.choice(HOSTILE_ARRAYS)()
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _mutated_row(content: bytes, rng: random.Random) -> bytes:
    """A row of integers with another type, length or content, or any other array."""
    row = np.load(io.BytesIO(content))
    match rng.randrange(4):
        case 0:
            row = row.astype(rng.choice([np.uint8, np.int16, np.uint64, np.float32, bool, "U3", ">i4"]))
        case 1:
            row = row[: rng.randrange(len(row))] if rng.random() < 0.5 else np.concatenate([row, row])
        case 2:
            row = row.astype(np.int64)
            row[rng.randrange(len(row))] = rng.choice([-1, 2**31, 2**62, -(2**62), 10**6])
        case _:
            row = rng.choice(HOSTILE_ARRAYS)()
    stream = io.BytesIO()
    np.save(stream, row)
    return stream.getvalue()


def _mutated_cells(content: bytes, rng: random.Random) -> bytes:
    """A table in which some cells are hostile, or in which cells or rows are gone or come twice."""
    rows = [line.split(",") for line in content.decode().split("\n")]
    for _ in range(rng.choice([1, 1, 3])):
        row = rng.choice(rows[: rng.choice([1, len(rows)])])
        match rng.randrange(4):
            case 0:
                row.append(rng.choice(HOSTILE_CELLS))
            case 1:
                del row[rng.randrange(len(row) + 1) :]
            case 2:
                rows.insert(rng.randrange(len(rows)), list(row))
            case _ if row:
                row[rng.randrange(len(row))] = rng.choice(HOSTILE_CELLS)
    return "\n".join(map(",".join, rows)).encode("utf-8", "surrogatepass")


_BOMBS = (((1 << 27,), "|u1"), ((10**8,), "<U0"), ((10**12,), "<i4"), ((10**9, 0), "<i4"))  # shapes and types


def make_bombs(content: bytes) -> None:
    """Make the largest one for each array of an npz, here and not in every child."""
    with np.load(io.BytesIO(content)) as stored:
        for name in stored.files:
            _bomb(name, *_BOMBS[0])


@cache
def _bomb(name: str, shape: tuple[int, ...], kind: str) -> bytes:
    """An array that is much larger than its file, or says that it is."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": shape, "fortran_order": False, "descr": kind})
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w") as member,
    ):
        member.write(header.getvalue())
        for _ in range(128 if kind == "|u1" else 0):
            member.write(bytes(1 << 20))
    return stream.getvalue()


def _mutated_tensors(content: bytes, rng: random.Random) -> bytes:
    from safetensors.torch import load, save

    tensors = load(content)
    size = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
    name = rng.choice(sorted(tensors))
    match rng.randrange(5):
        case 0:
            del tensors[name]
        case 1:
            tensors[name] = tensors[name].reshape(-1)[:-1].clone()
        case 2:
            tensors[name] = tensors[name].double() * float("nan")
        case 3:
            numbers = json.loads(metadata.get("numbers", "{}"))
            if numbers:
                _change(numbers, rng)
            metadata["numbers"] = json.dumps(numbers)
        case _:
            metadata["numbers"] = rng.choice([text for text in HOSTILE_TEXT if text.isascii()])
    return bytes(save(tensors, metadata=metadata or None))
