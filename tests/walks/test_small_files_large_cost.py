"""Small files must not cost much: memory is at most a stated multiple of the file's size (SECURITY.md)."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cogmap.cli import main
from cogmap.errors import BadRun, BadWalks, CogmapError
from cogmap.files import write_arrays
from cogmap.walks.log import WalkLog, total_steps
from cogmap.walks.quantize import load_quantizer
from cogmap.walks.store import load_walks
from cogmap.walks.summary import summarise

MULTIPLE, MORE = 400, 256 << 20  # of the file's size, and bytes however small it is: below the promise


def cost(path: Path, read: Callable[[Path], object]) -> int:
    """The most bytes that are taken at any moment, whether the file is read or refused."""
    tracemalloc.start()
    try:
        read(path)
    except CogmapError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def bomb(name: str, shape: tuple[int, ...], kind: str, size: int) -> bytes:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": shape, "fortran_order": False, "descr": kind})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", header.getvalue() + bytes(size))
    return stream.getvalue()


def test_ragged_walks_are_kept_as_they_are(tmp_path: Path) -> None:
    """Padded, 20,000 walks of 2 steps and one of 40,000 would have 800 million cells: 10,000 times their steps."""
    short = '{"observations": [0, 1], "actions": [0]}\n'
    long = json.dumps({"observations": [0, 1] * 20_000, "actions": [0] * 39_999})
    path = tmp_path / "ragged.jsonl"
    path.write_text(short * 20_000 + long)
    assert cost(path, load_walks) < 60 * path.stat().st_size
    walks = load_walks(path)
    assert isinstance(walks, WalkLog)
    assert (walks.num_walks, walks.num_steps, total_steps(walks)) == (20_001, 40_000, 80_000)
    assert cost(path, lambda _: summarise(walks)) < 200 * path.stat().st_size
    with pytest.raises(
        BadWalks, match="got 800040000: cut the longest walks into pieces, walk 20000 has 40000 steps"
    ):
        _ = walks.observations


def test_ragged_walks_of_a_usual_kind_are_read(tmp_path: Path) -> None:
    lines = [{"observations": [0, 1] * length, "actions": [0] * (2 * length)} for length in (1, 1, 1, 500)]
    (tmp_path / "walks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert load_walks(tmp_path / "walks.jsonl").lengths.tolist() == [2, 2, 2, 1000]


@pytest.mark.parametrize(
    ("name", "shape", "kind", "size"),
    [
        ("observations", (1 << 14, 1 << 14), "|u1", 1 << 28),
        ("observations", (1 << 11, 1 << 13), "|u1", 1 << 24),
        ("observation_labels", (10**8,), "<U0", 0),
        ("observation_labels", (1 << 22,), "<U1", 1 << 24),
        ("views", (1 << 6, 2, 256, 256, 3), "|u1", 25165824),
    ],
)
def test_bombs(tmp_path: Path, name: str, shape: tuple[int, ...], kind: str, size: int) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(bomb(name, shape, kind, size))
    assert cost(path, load_walks) < MULTIPLE * path.stat().st_size + MORE


def test_a_file_of_zeros_that_is_within_the_limits_costs_no_more_than_promised(tmp_path: Path) -> None:
    path = tmp_path / "zeros.npz"
    zeros = np.zeros((2000, 4000), dtype=np.uint8)
    write_arrays(path, {"observations": zeros, "actions": zeros})
    assert cost(path, load_walks) < MULTIPLE * path.stat().st_size + MORE
    assert load_walks(path).num_walks == 2000


def test_a_quantizer_of_two_kilobytes(tmp_path: Path) -> None:
    path = tmp_path / "quantizer.npz"
    path.write_bytes(bomb("typical", (10**9, 2), "<f4", 0))
    with pytest.raises(BadRun, match="must have the bytes that its header declares"):
        load_quantizer(path)
    shapes = {
        "view_shape": np.array([10**9]),
        "mean": np.zeros(3, np.float32),
        "directions": np.zeros((3, 2)),
    }
    write_arrays(
        path, {**shapes, "centres": np.zeros((2, 2), np.float32), "typical": np.zeros((2, 3), np.float32)}
    )
    with pytest.raises(BadRun, match=r"`mean` must have shape \(1000000000,\), got \(3,\)"):
        load_quantizer(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"observations": [0, 2000000000], "actions": [0]}',
        '{"observations": [0, 1], "actions": [2000000000]}',
        '{"observations": [0, 1], "actions": [0], "num_observations": 4611686018427387904}',
    ],
)
def test_one_large_number_is_one_line(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.jsonl").write_text(text)
    for command in (["check", str(tmp_path / "w.jsonl")], ["learn", str(tmp_path / "w.jsonl"), "--out", "x"]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert "must be numbered from 0, each with at most 1048576 numbers" in told
        assert told.count("\n") == 1


def test_a_label_that_is_no_text_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrays = {"observations": np.array([[0, 1]]), "actions": np.array([[0]])}
    write_arrays(tmp_path / "w.npz", arrays | {"observation_labels": np.array(["a", "\ud800"])})
    assert main(["check", str(tmp_path / "w.npz")]) == 2
    assert "must be valid Unicode" in capsys.readouterr().err


@pytest.mark.parametrize(
    "problems",
    [
        '[{"from": [0, 1], "showing": null}]',
        '[{"from": [0, 1], "showing": {}}]',
        '["\\ud800"]',
        "9" * 5000,
        "[" * 10**5,
    ],
)
def test_problems_that_are_none_are_one_line(
    tmp_path: Path, problems: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "problems.json").write_text(problems)
    assert main(["plan", "run", "--walks", "w.npz", "--problems", str(tmp_path / "problems.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_thousands_of_digits_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for start in ("9" * 5000 + ":0", "0:" + "9" * 5000, "٣:٣"):
        assert main(["plan", "run", "--walks", "w.npz", "--from", start, "--to", "0:1"]) == 2
        told = capsys.readouterr().err
        assert "`--from` must be WALK:STEP" in told
        assert len(told) < 200
