"""Files written whole or not at all, and read without ever unpickling, hanging or taking memory without bound.

Whatever is read here may come from a stranger. Sizes are checked as a file declares them, before anything is allocated:
the arrays of an npz may have `EXPANSION` times the bytes of their file and `ROOM` bytes more.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import shutil
import stat
import zipfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cogmap.errors import BadOutput, CogmapError
from cogmap.parts import PART, exchange, new_part, remove

EXPANSION = 64  # bytes of arrays for each byte of an npz: random walks reach about 30
ROOM = 16 << 20  # bytes of arrays that any npz may have, however small its file is
MOST_JSON = 256 << 20  # bytes of a JSON file
_EMPTY_SIDE = 1 << 16  # the longest side of an array without entries
_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_REASON = 300  # characters of a library's words, which may quote the file
_KINDS = "biufU"  # of the arrays that any of our files has


@contextmanager
def write_whole(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears at `path` only if the block succeeds: temporary file, fsync, rename."""
    path = Path(path)
    try:
        handle, temporary = new_part(path)
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            _readable(temporary, 0o666)
            temporary.replace(path)
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing. Only for a folder that no other process is writing to."""
    inside = [folder, *(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())]
    for path in [left for each in inside for left in each.glob(f".*{PART}")]:
        remove(path)


@contextmanager
def write_folder(path: str | Path) -> Iterator[Path]:
    """A new folder that appears at `path` only if the block succeeds. An existing one is replaced."""
    path = Path(path)
    try:
        handle, temporary = new_part(path, is_folder=True)
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    try:
        yield temporary
        for file in temporary.iterdir():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
            _readable(file, 0o666)
        _readable(temporary, 0o777)
        _put_in_place(temporary, path)
    except OSError as error:
        raise BadOutput(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            remove(temporary)
        os.close(handle)


def _put_in_place(folder: Path, path: Path) -> None:
    """A folder cannot replace one that holds files: the two change places at once, and the old one is removed last."""
    if not path.exists():
        folder.rename(path)
        return
    if not path.is_dir():
        raise BadOutput(f"cannot write {path}: it is a file, not a folder")
    if exchange(folder, path):
        return  # the old one is now where the new one was written, which is removed
    handle, old = new_part(path, is_folder=True)
    try:
        path.rename(old / path.name)  # of a process that is killed here, the next one puts it back
        try:
            folder.rename(path)
        except OSError:
            (old / path.name).rename(path)
            raise
        finally:
            if path.exists():
                shutil.rmtree(old, ignore_errors=True)
    finally:
        os.close(handle)


def _readable(path: Path, mode: int) -> None:
    """Give a temporary file the mode of any new file, where the file system has modes."""
    mask = os.umask(0)
    os.umask(mask)
    with suppress(OSError):  # of a memory stick, or another system's share
        path.chmod(mode & ~mask)


def write_json(path: str | Path, value: Any) -> None:
    with write_whole(path) as stream:
        stream.write((json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


@contextmanager
def open_file(path: str | Path, error: type[CogmapError], pipes: bool = False) -> Iterator[IO[bytes]]:
    """Open a file to read. A pipe, which might never end, is refused without `pipes`."""
    try:
        with _opened(path, pipes) as stream:
            if not (pipes or stat.S_ISREG(os.fstat(stream.fileno()).st_mode)):
                raise error(f"{path} must be a file, got a pipe or a device")
            yield stream
    except OSError as problem:
        if problem.errno in _OF_WRITING:  # of a file that the block writes
            raise
        raise error(f"cannot read {path}: {problem.strerror or problem}") from problem


def _opened(path: str | Path, pipes: bool) -> IO[bytes]:
    """Opening a pipe that nobody writes to would wait forever, so it is opened without waiting."""
    try:
        if b"\0" in os.fsencode(path):
            raise OSError(errno.EINVAL, "the path holds a NUL")
    except UnicodeEncodeError:
        raise OSError(errno.EINVAL, "the path is not valid text") from None
    waiting = 0 if pipes else getattr(os, "O_NONBLOCK", 0)
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | waiting))


def read_bytes(
    path: str | Path, error: type[CogmapError], most: int | None = None, pipes: bool = False
) -> bytes:
    """The bytes of a file, at most `most` of them. Raises `error` with a one-line reason."""
    with open_file(path, error, pipes) as stream:
        content = stream.read(-1 if most is None else most + 1)
    if most is not None and len(content) > most:
        raise error(f"{path} must have at most {most} bytes, got more")
    return content


def read_json(path: str | Path, error: type[CogmapError], *, nan: bool = False, pipes: bool = False) -> Any:
    """The value in a JSON file. Raises `error` with a one-line reason if it cannot be read.

    nan: numbers may be NaN or infinite, which Python writes and JSON does not have.
    """
    content = read_bytes(path, error, MOST_JSON, pipes)
    try:
        return parse_json(content.decode("utf-8"), nan=nan)
    except ValueError as problem:
        raise error(f"{path} must be JSON: {_line(problem)}") from problem


def parse_json(text: str, *, nan: bool = False) -> Any:
    """The value of a JSON text; a ValueError for anything else, however deep or long."""
    try:
        value = json.loads(text) if nan else _FINITE.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half a character can be escaped, but not printed
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def read_json_lines(path: str | Path, error: type[CogmapError], *, nan: bool = False) -> list[dict[str, Any]]:
    """The JSON objects in a file, one per line. Raises `error` with a one-line reason if it cannot be read."""
    content = read_bytes(path, error, MOST_JSON)
    try:
        rows = [parse_json(line, nan=nan) for line in content.decode("utf-8").splitlines()]
    except ValueError as problem:
        raise error(f"{path} must hold one JSON object per line: {_line(problem)}") from problem
    if not all(isinstance(row, dict) for row in rows):
        raise error(f"{path} must hold one JSON object per line")
    return rows


def _line(problem: ValueError) -> str:
    """The reason in one line, without Python's advice on how to allow longer numbers."""
    if isinstance(problem, UnicodeError):
        return f"its text must be UTF-8, {problem.reason}" if hasattr(problem, "reason") else "not UTF-8"
    return str(problem).partition(";")[0]


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"a number must be finite, got {text[:40]}")


def _finite_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


_FINITE = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite_number)


def read_text(path: str | Path, error: type[CogmapError], content: str = "text") -> str:
    """The text in a file. Raises `error` if it cannot be read, is empty or is not UTF-8, or UTF-16 that says so.

    content: what the file should hold, for the error message.
    """
    try:
        data = read_bytes(path, error)
        text = data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
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
    """All arrays of an npz. Raises `error` with a one-line reason; pickled arrays are refused.

    Arrays may be read-only. Their bytes together are at most `EXPANSION` times those of the file, plus `ROOM`; an array
    is refused unless its header declares just the bytes that are there.
    """
    path = Path(path)
    with open_file(path, error) as stream:
        if stream.read(1) == b"":
            raise error(f"{path} must be an npz file, got an empty file")
        try:
            with zipfile.ZipFile(stream) as archive:
                members = archive.infolist()
                if _expected_entries(stream) not in (None, len(members)):
                    raise error(f"{path} must be a whole npz file, some of its arrays are missing")
                most = ROOM + EXPANSION * os.fstat(stream.fileno()).st_size
                declared = sum(member.file_size for member in members)
                if declared > most:
                    raise error(
                        f"{path} must declare arrays of at most {most} bytes for its size, got {declared}"
                    )
                return {
                    member.filename.removesuffix(".npy"): _read_member(archive, member) for member in members
                }
        except (CogmapError, OSError):
            raise
        except Exception as problem:  # damaged files raise many kinds of errors in zipfile, zlib and numpy
            reason = str(problem)[:_REASON] or type(problem).__name__
            raise error(f"{path} must be an npz file without pickles: {reason}") from problem


def map_array(path: str | Path, error: type[CogmapError]) -> NDArray[Any]:
    """A row of integers in an npy file, mapped: nothing is read until it is asked for. Read-only."""
    path = Path(path)
    with open_file(path, error) as stream:
        try:
            shape, dtype = _integers_header(stream, os.fstat(stream.fileno()).st_size)
            start = stream.tell()
        except (CogmapError, OSError):
            raise
        except Exception as problem:  # numpy parses headers, and raises many kinds of errors
            raise error(f"{path} must be an npy file: {str(problem)[:_REASON]}") from problem
    return np.memmap(path, dtype, "r", start, shape) if shape[0] else np.zeros(0, dtype)


def _integers_header(stream: IO[bytes], size: int) -> tuple[tuple[int], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"it must be of version 1.0, got {version}")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in "iu" or len(shape) != 1 or not dtype.isnative:
        raise ValueError(f"it must be a row of integers, got {dtype} of shape {shape}")
    if shape[0] * dtype.itemsize != size - stream.tell():
        rule = f"it must have the bytes of the {shape[0]} entries that it declares"
        raise ValueError(f"{rule}, got {size - stream.tell()} bytes")
    return shape, dtype


class ArrayWriter:
    """Writes a row of integers to an npy file part by part. Its length is in the header once it is closed."""

    _HEADER = 128  # bytes; enough for any length, and a multiple of 64 as numpy writes it

    def __init__(self, path: str | Path, dtype: Any) -> None:
        self._stream = Path(path).open("wb")  # noqa: SIM115, closed by `close`
        self._stream.write(bytes(self._HEADER))
        self.dtype, self.size = np.dtype(dtype), 0

    def add(self, values: NDArray[Any]) -> None:
        self._stream.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self.size += len(values)

    def close(self) -> None:
        stated = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.size,)}
        text = repr(stated).encode()
        magic = np.lib.format.magic(1, 0)
        room = self._HEADER - len(magic) - 2
        self._stream.seek(0)
        self._stream.write(magic + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n")
        self._stream.close()


def _expected_entries(stream: IO[bytes]) -> int | None:
    """The number of members in the archive's end record. zipfile does not check it and drops members silently."""
    stream.seek(-22, os.SEEK_END)
    record = stream.read(22)
    return int.from_bytes(record[10:12], "little") if record[:4] == b"PK\x05\x06" else None


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """One array. All bytes are read first, so that the checksum is verified whatever the header claims."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{member.filename} must be stored or deflated")  # others inflate without a bound
    with archive.open(member) as stream:
        content = stream.read(member.file_size)  # no more, even where there is more
        if stream.read(1) or len(content) != member.file_size:
            raise ValueError(f"{member.filename} must have the {member.file_size} bytes that it declares")
    return _array(member.filename, content)


def _array(name: str, content: bytes) -> NDArray[Any]:
    """The array in the bytes of an npy file, which must have as many as its header declares."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"{name} must be of npy version 1.0 or 2.0, got {version}")
    shape, in_columns, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded, they are pickles")
    if dtype.kind not in _KINDS or any(side < 0 for side in shape):
        raise ValueError(f"{name} must hold numbers or text, got {dtype} of shape {shape}")
    size, start = math.prod(shape), stream.tell()
    if size * dtype.itemsize != len(content) - start or (size and not dtype.itemsize):
        rule = f"{name} must have the bytes that its header declares, {size} entries of {dtype.itemsize}"
        raise ValueError(f"{rule}, got {len(content) - start} bytes")
    if not size and max(shape) > _EMPTY_SIDE:
        raise ValueError(f"{name} has no entries and must have no side above {_EMPTY_SIDE}, got {shape}")
    array = np.frombuffer(content, dtype, size, start) if size else np.zeros(0, dtype)
    array = array.reshape(shape, order="F" if in_columns else "C")
    if dtype.kind == "U":
        _check_characters(name, array)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_characters(name: str, array: NDArray[np.str_]) -> None:
    points = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
    wrong = points[(points > 0x10FFFF) | ((points >= 0xD800) & (points <= 0xDFFF))]
    if wrong.size:
        raise ValueError(f"{name} must be valid Unicode, got the code point {wrong[0]:#x}")
