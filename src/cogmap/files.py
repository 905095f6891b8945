"""Files written whole or not at all, and read without ever unpickling."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadOutput, CogmapError


@contextmanager
def write_whole(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears at `path` only if the block succeeds: temporary file, fsync, rename."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path: str | Path, value: Any) -> None:
    with write_whole(path) as stream:
        stream.write((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def read_json(path: str | Path, error: type[CogmapError]) -> Any:
    """The value in a JSON file. Raises `error` with a one-line reason if it cannot be read."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except ValueError as problem:
        raise error(f"{path} must be JSON: {problem}") from problem


def read_json_lines(path: str | Path, error: type[CogmapError]) -> list[dict[str, Any]]:
    """The JSON objects in a file, one per line. Raises `error` with a one-line reason if it cannot be read."""
    try:
        rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except ValueError as problem:
        raise error(f"{path} must hold one JSON object per line: {problem}") from problem
    if not all(isinstance(row, dict) for row in rows):
        raise error(f"{path} must hold one JSON object per line")
    return rows


def read_text(path: str | Path, error: type[CogmapError], content: str = "text") -> str:
    """The text in a file. Raises `error` if it cannot be read, is empty or is not UTF-8.

    content: what the file should hold, for the error message.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except UnicodeDecodeError as problem:
        raise error(f"{path} must be UTF-8 text: {problem.reason} at byte {problem.start}") from problem
    if not text.strip():
        raise error(f"{path} must hold {content}, got an empty file")
    return text


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a compressed npz. Strings are stored as fixed-width unicode, so nothing is pickled."""
    with write_whole(path) as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def read_arrays(path: str | Path, error: type[CogmapError]) -> dict[str, NDArray[Any]]:
    """All arrays of an npz. Raises `error` with a one-line reason; pickled arrays are refused."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            if stream.read(1) == b"":
                raise error(f"{path} must be an npz file, got an empty file")
            with zipfile.ZipFile(stream) as archive:
                if _expected_entries(stream) not in (None, len(archive.namelist())):
                    raise error(f"{path} must be a whole npz file, some of its arrays are missing")
                return {name.removesuffix(".npy"): _read_member(archive, name) for name in archive.namelist()}
    except CogmapError:
        raise
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except Exception as problem:  # damaged files raise many kinds of errors in zipfile, zlib and numpy
        raise error(f"{path} must be an npz file without pickles: {problem}") from problem


def _expected_entries(stream: IO[bytes]) -> int | None:
    """The number of members in the archive's end record. zipfile does not check it and drops members silently."""
    stream.seek(-22, os.SEEK_END)
    record = stream.read(22)
    return int.from_bytes(record[10:12], "little") if record[:4] == b"PK\x05\x06" else None


def _read_member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array. All bytes are read first, so that the checksum is verified whatever the header claims."""
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    return array
