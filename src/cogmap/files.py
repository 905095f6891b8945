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
    """A file that appears under `path` only when the block ends well: temporary file, sync, rename."""
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
    """The value in a JSON file, or `error` with one line that says what is wrong with it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except ValueError as problem:
        raise error(f"{path} must be JSON: {problem}") from problem


def read_json_lines(path: str | Path, error: type[CogmapError]) -> list[dict[str, Any]]:
    """One JSON object a line, or `error` with one line."""
    try:
        rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except ValueError as problem:
        raise error(f"{path} must hold one JSON object a line: {problem}") from problem
    if not all(isinstance(row, dict) for row in rows):
        raise error(f"{path} must hold one JSON object a line")
    return rows


def read_text(path: str | Path, error: type[CogmapError]) -> str:
    """The text in a file, or `error` with one line: text that is empty or not UTF-8 is refused."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except UnicodeDecodeError as problem:
        raise error(f"{path} must be UTF-8 text: {problem.reason} at byte {problem.start}") from problem
    if not text.strip():
        raise error(f"{path} must hold text, got an empty file")
    return text


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """A compressed npz; strings go in as fixed-width unicode, so nothing needs a pickle."""
    with write_whole(path) as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def read_arrays(path: str | Path, error: type[CogmapError]) -> dict[str, NDArray[Any]]:
    """All arrays of an npz, or `error` with one line; an array that holds a pickle is refused."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            if stream.read(1) == b"":
                raise error(f"{path} must be an npz file, got an empty file")
            with zipfile.ZipFile(stream) as archive:
                if _entries_promised(stream) not in (None, len(archive.namelist())):
                    raise error(f"{path} must be a whole npz file, some of its arrays are missing")
                return {name.removesuffix(".npy"): _read_member(archive, name) for name in archive.namelist()}
    except CogmapError:
        raise
    except OSError as problem:
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem
    except Exception as problem:  # zipfile, its decompressors and numpy fail on damage in a dozen ways
        raise error(f"{path} must be an npz file without pickles: {problem}") from problem


def _entries_promised(stream: IO[bytes]) -> int | None:
    """How many members the archive's last record speaks of: zipfile does not compare, and loses members in silence."""
    stream.seek(-22, os.SEEK_END)
    record = stream.read(22)
    return int.from_bytes(record[10:12], "little") if record[:4] == b"PK\x05\x06" else None


def _read_member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array, read to its last byte first, so that its checksum is compared whatever its header claims."""
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    return array
