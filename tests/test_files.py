"""Files: bounded memory, no waiting, one error for all that is wrong, and nothing left of what was not finished."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.checks import checked, checked_labels
from cogmap.errors import BadOutput, BadRun
from cogmap.files import (
    EXPANSION,
    ROOM,
    parse_json,
    read_arrays,
    read_bytes,
    read_json,
    read_json_lines,
    remove_leftovers,
    write_arrays,
    write_folder,
    write_json,
    write_whole,
)
from cogmap.models.config import ModelConfig

ARRAYS = {
    "integers": np.arange(12, dtype=np.int32).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "words": np.array(["", "täg", "🙂"]),
    "size": np.array(7),
    "none": np.zeros((0, 3), dtype=np.int64),
    "flags": np.array([True, False]),
    "swapped": np.array([1, 2, 3], dtype=">i4"),
}


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def header(shape: tuple[int, ...], descr: str) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": descr})
    return stream.getvalue()


def save_members(path: Path, compression: int = zipfile.ZIP_DEFLATED, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_arrays_are_read_back_equal(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", ARRAYS)
    found = read_arrays(tmp_path / "a.npz", BadRun)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=")


@given(data=st.data())
@settings(deadline=None)  # it waits for the disk
def test_every_cut_and_every_flipped_byte_is_equal_or_the_one_error(
    data: st.DataObject, tmp_path_factory
) -> None:
    folder = tmp_path_factory.mktemp("arrays")
    write_arrays(folder / "a.npz", ARRAYS)
    whole = bytearray((folder / "a.npz").read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[place:]
    else:
        whole[place] ^= data.draw(st.integers(1, 255))
    (folder / "b.npz").write_bytes(whole)
    try:
        found = read_arrays(folder / "b.npz", BadRun)
    except BadRun:
        return
    for name in found.keys() & ARRAYS.keys():  # a flipped byte of a name is not covered by a checksum
        np.testing.assert_array_equal(found[name], ARRAYS[name])


def refused(path: Path, message: str) -> int:
    """The most memory that is taken at any moment while a file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(BadRun, match=message):
            read_arrays(path, BadRun)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_zip_bomb_is_refused_before_it_is_inflated(tmp_path: Path) -> None:
    size = ROOM + (16 << 20)
    path = save_members(tmp_path / "bomb.npz", zeros=header((size,), "|u1") + bytes(size))
    assert path.stat().st_size < size // 500
    assert refused(path, r"must declare arrays of at most \d+ bytes for its size, got") < 1 << 20


def test_a_member_that_hides_its_size_is_inflated_no_further_than_it_declares(tmp_path: Path) -> None:
    size = 64 << 20
    path = save_members(tmp_path / "bomb.npz", zeros=header((size,), "|u1") + bytes(size))
    content = path.read_bytes()
    true = (size + len(header((size,), "|u1"))).to_bytes(4, "little")
    assert content.count(true) == 2  # before the data, and in the directory
    path.write_bytes(content.replace(true, (1000).to_bytes(4, "little")))
    assert refused(path, "must be an npz file without pickles") < 4 << 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header((10**8,), "<U0"), "must have the bytes that its header declares, 100000000 entries of 0"),
        (header((10**12,), "<i8"), "must have the bytes that its header declares"),
        (header((10**9, 0), "<i8"), "has no entries and must have no side above 65536"),
        (header((2,), "<i4") + bytes(9), "2 entries of 4, got 9 bytes"),
        (
            header((1,), "<U1") + (0x110000).to_bytes(4, "little"),
            "must be valid Unicode, got the code point 0x110000",
        ),
        (
            header((1,), "<U1") + (0xD800).to_bytes(4, "little"),
            "must be valid Unicode, got the code point 0xd800",
        ),
        (npy(np.array([1 + 2j])), "must hold numbers or text, got complex128"),
        (npy(np.zeros(2, dtype=[("a", "<i4")])), "must hold numbers or text"),
        (b"\x93NUMPY\x09\x00", "an npz file without pickles"),
        (b"", "an npz file without pickles"),
    ],
)
def test_arrays_that_are_not_what_they_declare(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(BadRun, match=message):
        read_arrays(save_members(tmp_path / "a.npz", entry=content), BadRun)


def test_kinds_of_compression_without_a_bound_are_refused(tmp_path: Path) -> None:
    path = save_members(tmp_path / "a.npz", zipfile.ZIP_BZIP2, entry=npy(np.arange(3)))
    with pytest.raises(BadRun, match="must be stored or deflated"):
        read_arrays(path, BadRun)


def test_the_limits_leave_room_for_walks(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    drawn = {
        "observations": rng.integers(0, 4, (200, 400), dtype=np.int32),
        "actions": np.zeros((200, 399), np.int32),
    }
    write_arrays(tmp_path / "a.npz", drawn)
    inflated = sum(array.nbytes for array in drawn.values())
    assert inflated / (tmp_path / "a.npz").stat().st_size < EXPANSION / 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "must be JSON: Exceeds the limit"),
        ('["\\ud800"]', "must be JSON: its text must be UTF-8"),
        ("NaN", "a number must be finite, got NaN"),
        ("-1e999", "a number must be finite, got -1e999"),
        ("{", "must be JSON"),
    ],
)
def test_json_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BadRun, match=message) as caught:
        read_json(tmp_path / "a.json", BadRun)
    assert len(str(caught.value)) < 300
    with pytest.raises(BadRun, match="must hold one JSON object per line"):
        read_json_lines(tmp_path / "a.json", BadRun)


def test_nan_is_read_where_python_writes_it() -> None:
    assert str(parse_json('{"loss": NaN}', nan=True)) == "{'loss': nan}"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadRun, match="must be a file, got a pipe or a device"):
        read_json(tmp_path / "pipe.json", BadRun)
    with pytest.raises(BadRun, match="must be a file, got a pipe or a device"):
        read_arrays(tmp_path / "pipe.json", BadRun)


def test_no_more_is_read_than_allowed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(11))
    assert len(read_bytes(tmp_path / "a", BadRun, 11)) == 11
    with pytest.raises(BadRun, match="must have at most 10 bytes"):
        read_bytes(tmp_path / "a", BadRun, 10)


def test_a_path_that_no_file_can_have() -> None:
    for path in ("a\0b", "\ud800", "a" * 5000):
        with pytest.raises(BadRun, match="cannot read"):
            read_bytes(path, BadRun)


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text("before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(BadOutput, match=r"cannot write .*a\.json: No space left on device"),
        write_whole(tmp_path / "a.json") as stream,
    ):
        stream.write(b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "before"


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    kept = [tmp_path / "a.part", tmp_path / ".hidden", tmp_path / "checkpoint" / "b.npz"]
    gone = [tmp_path / ".map.npz.x1.part", tmp_path / "checkpoint" / ".c.safetensors.x2.part"]
    for path in kept + gone:
        path.touch()
    remove_leftovers(tmp_path)
    assert [path.exists() for path in kept + gone] == [True] * 3 + [False] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": "64"}, '`width` must be an integer, got "64"'),
        ({"width": 64.0}, "`width` must be an integer, got 64.0"),
        ({"width": True}, "`width` must be an integer, got true"),
        ({"width": None}, "`width` must be an integer, got null"),
        ({"dropout": "0"}, '`dropout` must be a number, got "0"'),
        ({"dropout": float("nan")}, "`dropout` must be a finite number, got NaN"),
        ({"vanilla": 1}, "`vanilla` must be true or false, got 1"),
        ({"encoder": "rnn"}, 'must be one of transformer, gru, lstm, got "rnn"'),
        ({"depth": 3}, "`depth` must not be there"),
        ({"layers": 10**9}, "`layers` must be at most 256, got 1000000000"),
        ({"num_observations": 10**8}, "`num_observations` must be at most 1048576"),
        ({"heads": [1] * 999}, r"`heads` must be an integer, got \[1, 1, .*\.\.\."),
    ],
)
def test_records_from_json_have_their_declared_types(change: dict, message: str) -> None:
    sizes = {"num_observations": 4, "num_actions": 4, "num_targets": 4}
    assert checked(ModelConfig, sizes, "here", BadRun) == ModelConfig(**sizes)
    with pytest.raises(BadRun, match=f"here: .*{message}"):
        checked(ModelConfig, sizes | change, "here", BadRun)


def test_records_from_json_that_is_no_object() -> None:
    with pytest.raises(BadRun, match=r"here must be an object, got \[1\]"):
        checked(ModelConfig, [1], "here", BadRun)
    with pytest.raises(BadRun, match="here: `num_observations` must be there"):
        checked(ModelConfig, {}, "here", BadRun)


@pytest.mark.parametrize(
    "labels", ["ab", ["a"], ["a", "a"], ["a", 1], {"a": 1, "b": 2}, 7, json.loads("[[], []]")]
)
def test_labels_are_as_many_different_words_as_there_are_things(labels: object) -> None:
    assert checked_labels(None, 2, "here", BadRun) is None
    assert checked_labels(["a", "b"], 2, "here", BadRun) == ("a", "b")
    with pytest.raises(BadRun, match="here must be"):
        checked_labels(labels, 2, "here", BadRun)


def test_a_file_system_without_modes_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def chmod(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("pathlib.Path.chmod", chmod)
    write_json(tmp_path / "x.json", 1)
    with write_folder(tmp_path / "folder") as folder:
        (folder / "file").touch()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "x.json"]
