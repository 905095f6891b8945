"""Walks stored end to end: the same as padded ones, from any file, in pieces and in parts."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walk_strategies import unlike, with_or_without_labels

from cogmap.cli import main
from cogmap.environments.room import AliasedRoom
from cogmap.errors import BadOutput, BadWalks
from cogmap.records import Walks
from cogmap.walks.batches import WindowSampler
from cogmap.walks.convert import convert_walks, converted
from cogmap.walks.draw import draw, draw_log
from cogmap.walks.log import WalkLog, compact, evened, log_of, total_steps, walk_parts
from cogmap.walks.log_store import open_log
from cogmap.walks.store import load_walks, save_walks
from cogmap.walks.summary import summarise
from cogmap.walks.truth_store import load_truth


def unequal(lengths: list[int], seed: int = 0) -> WalkLog:
    """A log whose observations count up over all walks, so that a wrong step shows."""
    steps = sum(lengths)
    rng = np.random.default_rng(seed)
    ends = np.cumsum(lengths)
    actions = rng.integers(3, size=steps)
    actions[ends - 1] = 0
    return WalkLog(np.arange(steps), actions, ends - lengths, np.array(lengths, dtype=np.int32), steps, 3)


@given(walks=with_or_without_labels())
def test_a_log_is_its_padded_walks(walks: Walks) -> None:
    log = log_of(walks)
    assert unlike(walks, log) == []
    assert unlike(walks, replace(log, lengths=walks.lengths)) == []
    assert unlike(walks.rows([0]), log.rows([0])) == [] or walks.num_steps > walks.lengths[0]


@given(walks=with_or_without_labels())
@settings(deadline=None)  # it waits for the disk
def test_a_folder_is_read_back_equal(walks: Walks) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.walks"
        save_walks(path, walks)
        assert unlike(walks, load_walks(path)) == []
        assert unlike(walks, load_walks(path, like=walks)) == []
        save_walks(path, walks.rows([0]))  # another replaces it
        assert load_walks(path).num_walks == 1
        assert [entry.name for entry in Path(folder).iterdir()] == ["w.walks"]


@given(lengths=st.lists(st.integers(2, 40), min_size=1, max_size=30), cells=st.integers(1, 200))
def test_parts_hold_every_walk_once(lengths: list[int], cells: int) -> None:
    log = unequal(lengths)
    met = []
    for numbers, part in walk_parts(log, cells):
        met.extend(numbers.tolist())
        assert len(numbers) == 1 or part.num_walks * part.num_steps <= cells
        assert unlike(part, log.rows(numbers)) == []
    assert sorted(met) == list(range(len(lengths)))


@given(lengths=st.lists(st.integers(2, 300), min_size=1, max_size=30), longest=st.integers(2, 50))
def test_pieces_hold_every_move_once(lengths: list[int], longest: int) -> None:
    log = unequal(lengths)
    pieces = log.cut(longest)
    assert pieces.lengths.min() >= 2
    assert pieces.lengths.max() <= longest
    moves = [
        [tuple(pair) for seen in each for pair in pairwise(seen)]
        for each in (_observations(log), _observations(pieces))
    ]
    assert moves[0] == moves[1]
    assert total_steps(evened(log)) >= total_steps(log)


def _observations(log: WalkLog) -> list[list[int]]:
    return [
        log.flat_observations[start : start + length].tolist()
        for start, length in zip(log.starts, log.lengths, strict=True)
    ]


def test_one_long_walk_among_short_ones_is_cut_to_be_padded() -> None:
    pieces = evened(unequal([40_000] + [2] * 20_000))
    assert pieces.num_walks * pieces.num_steps <= 1 << 22


def test_a_sample_has_about_the_steps_that_were_asked_for() -> None:
    for log in (unequal([50] * 1000), unequal([50_000])):
        some = log.sample(5_000)
        assert 5_000 <= total_steps(some) <= 5_100
        assert unlike(compact(some), some) == []
    whole = unequal([50] * 10)
    assert whole.sample(5_000) is whole


@pytest.mark.parametrize("suffix", [".npz", ".jsonl", ".csv", ".walks"])
def test_ragged_walks_are_written_and_read_as_they_are(tmp_path: Path, suffix: str) -> None:
    log = unequal([30_000] + [2] * 10_000)
    save_walks(tmp_path / f"w{suffix}", log)
    back = load_walks(tmp_path / f"w{suffix}")
    assert isinstance(back, WalkLog)
    assert _observations(log) == _observations(back)
    for walk in (0, 1, 10_000):
        assert unlike(log.rows([walk]), back.rows([walk])) == []


def test_windows_of_a_log_are_those_of_its_padded_walks() -> None:
    walks = log_of(unequal([9, 30, 4, 17, 2, 25])).rows(slice(None))
    samplers = [
        WindowSampler(each, targets, 5, steps=6, ahead=3, fresh_share=0.5, seed=1, start_share=0.3)
        for each, targets in ((walks, walks.observations), (log_of(walks), None))
    ]
    for _ in range(50):
        windows = [sampler.next() for sampler in samplers]
        for name in ("observations", "actions", "targets", "known", "previous_action", "fresh"):
            np.testing.assert_array_equal(*(getattr(window, name) for window in windows))


def test_a_log_has_the_summary_of_its_padded_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = draw(AliasedRoom(6, 8, 4, seed=0), 60, 50).walks
    cut = replace(walks, lengths=np.random.default_rng(0).integers(2, 50, size=60).astype(np.int32))
    cut = Walks(
        np.where(cut.step_mask(), cut.observations, 0), np.where(cut.step_mask()[:, 1:], cut.actions, 0),
        cut.lengths, 4, 4,
    )  # fmt: skip
    whole = summarise(cut)
    monkeypatch.setattr("cogmap.walks.log.BLOCK", 300)
    few = summarise(log_of(cut))
    np.testing.assert_allclose(whole.next_entropy, few.next_entropy)
    for name in ("observation_counts", "action_counts", "min_places"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(few, name))
    assert whole.problems == few.problems


def test_a_log_is_drawn_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = AliasedRoom(6, 8, 4, seed=0)
    at_once = draw_log(tmp_path / "a.walks", world, 20, 30, seed=3)
    assert unlike(draw(world, 20, 30, seed=3).walks, at_once.walks) == []
    np.testing.assert_array_equal(
        load_truth(tmp_path / "a.walks", at_once.walks).positions, draw(world, 20, 30, seed=3).truth.positions
    )
    monkeypatch.setattr("cogmap.walks.draw.DRAWN_AT_ONCE", 90)
    told: list[int] = []
    parted = draw_log(
        tmp_path / "b.walks", world, 20, 30, seed=3, progress=lambda done, of: told.append(done)
    )
    assert told == [3, 6, 9, 12, 15, 18, 20]
    assert parted.walks.num_walks == 20
    with pytest.raises(BadWalks, match="is its world, without positions"):
        load_truth(tmp_path / "b.walks", parted.walks)


@given(walks=with_or_without_labels(), suffix=st.sampled_from([".jsonl", ".csv"]))
@settings(deadline=None)
def test_converted_text_is_what_is_read_at_once(walks: Walks, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"w{suffix}"
        with suppress(BadWalks):  # labels that a CSV cannot hold
            save_walks(path, walks)
            assert unlike(load_walks(path), converted(path, Path(folder) / "w.walks")) == []


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@given(walks=with_or_without_labels(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_text_is_converted_as_it_is_read(suffix: str, walks: Walks, data: st.DataObject) -> None:
    """What is read at once is converted to the same, and what is refused is refused, but for walks that interleave."""
    place, byte = data.draw(st.integers(0, 10_000)), data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"w{suffix}"
        with suppress(BadWalks):
            save_walks(path, walks)
            content = bytearray(path.read_bytes())
            content[place % len(content)] = byte
            path.write_bytes(bytes(content))
            try:
                back: Walks | None = converted(path, Path(folder) / "w.walks")
            except BadWalks:
                back = None
            once = load_walks(path)
            assert back is None or unlike(once, back) == []


def test_rows_that_interleave_are_refused_by_the_conversion(tmp_path: Path) -> None:
    rows = "walk,step,observation,action\na,0,1,0\nb,0,1,0\na,1,1,\nb,1,1,\n"
    (tmp_path / "w.csv").write_text(rows)
    with pytest.raises(BadWalks, match=r"must have at least 2 steps, walk 0 has 1"):
        convert_walks(tmp_path / "w.csv", tmp_path / "w.walks")
    (tmp_path / "w.csv").write_text(rows.replace("b,0,1,0\n", "a,1,1,\nb,0,1,0\nb,1,1,\n", 1))
    with pytest.raises(
        BadWalks, match=r"line 6: the rows of a walk must follow each other .* walk 'a' comes again"
    ):
        convert_walks(tmp_path / "w.csv", tmp_path / "w.walks")
    assert not (tmp_path / "w.walks").exists()


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("walks.json", b"{}", "`num_observations` must be there"),
        (
            "walks.json",
            b'{"num_observations": 2, "num_actions": 2, "format": 9}',
            "`format` must be 1, got 9",
        ),
        (
            "walks.json",
            b'{"num_observations": 1, "num_actions": 2}',
            r"`observations` must be in \[0, 1\), got 0 to 3",
        ),
        ("walks.json", b"[" * 100_000, "nested too deeply"),
        ("offsets.npy", b"", "must be an npy file"),
        ("observations.npy", b"\x93NUMPY\x01\x00", "must be an npy file"),
    ],
)
def test_a_broken_folder_is_one_line(tmp_path: Path, name: str, content: bytes, rule: str) -> None:
    save_walks(tmp_path / "w.walks", draw(AliasedRoom(6, 8, 4), 3, 10).walks)
    (tmp_path / "w.walks" / name).write_bytes(content)
    with pytest.raises(BadWalks, match=rule):
        load_walks(tmp_path / "w.walks")


@given(
    name=st.sampled_from(["walks.json", "observations.npy", "actions.npy", "offsets.npy"]),
    place=st.integers(0, 400),
    byte=st.integers(0, 255),
    cut=st.booleans(),
)
@settings(deadline=None)
def test_a_damaged_folder_gives_walks_or_bad_walks(name: str, place: int, byte: int, cut: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.walks"
        save_walks(path, draw(AliasedRoom(6, 8, 4), 3, 10).walks)
        content = bytearray((path / name).read_bytes())
        place %= len(content)
        content[place] = byte
        (path / name).write_bytes(bytes(content[:place] if cut else content))
        with suppress(BadWalks):
            summarise(open_log(path))


def test_the_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            [
                "walk",
                "room",
                "--height",
                "6",
                "--width",
                "8",
                "--walks",
                "9",
                "--steps",
                "20",
                "--out",
                "l.walks",
            ]
        )
        == 0
    )
    assert "wrote l.walks: 9 walks of 20 steps" in capsys.readouterr().out
    assert main(["walk", "room", "--out", "l.walks"]) == 2
    assert "l.walks exists; add --force" in capsys.readouterr().err
    assert main(["check", "l.walks", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["total_steps"], found["true_places"]) == (180, 48)
    for out in ("l.jsonl", "l.csv", "l.npz", "m.walks"):
        assert main(["convert", "l.walks" if out != "m.walks" else "l.jsonl", "--out", out]) == 0
        assert f"wrote {out}: 9 walks, 180 steps in all" in capsys.readouterr().out
    assert unlike(load_walks("l.walks"), load_walks("m.walks")) == []
    assert main(["convert", "l.jsonl", "--out", "l.txt"]) == 2
    assert main(["convert", "l.npz", "--out", "l.npz", "--force"]) == 2
    assert main(["convert", "none.csv", "--out", "n.walks"]) == 2
    assert "cannot read none.csv" in capsys.readouterr().err


def test_text_too_large_to_be_read_at_once_names_the_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.csv").write_text("walk,step,observation,action\na,0,1,0\na,1,1,\n")
    monkeypatch.setattr("cogmap.walks.store.MOST_TEXT", 10)
    with pytest.raises(
        BadWalks, match=r"at most 10 bytes to be read at once, got 44: convert it once with `cogmap convert"
    ):
        load_walks(tmp_path / "w.csv")


def test_a_file_is_not_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "w.walks").write_text("mine")
    with pytest.raises(BadOutput, match="it is a file"):
        save_walks(tmp_path / "w.walks", draw(AliasedRoom(6, 8, 4), 3, 10).walks)
    assert (tmp_path / "w.walks").read_text() == "mine"


def test_a_folder_that_is_replaced_while_it_is_opened_is_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cogmap.walks import log_store

    path = tmp_path / "w.walks"
    old, new = (
        Walks(np.full((3, 4), seen), np.full((3, 3), seen), np.full(3, 4), 2, 2, None, None)
        for seen in (0, 1)
    )
    save_walks(path, old)
    mapped, names = log_store.map_array, []

    def map_array(file: Path, error: type[BadWalks]) -> np.ndarray:
        names.append(file.name)
        if names == ["observations.npy", "actions.npy"]:
            save_walks(path, new)
        return mapped(file, error)

    monkeypatch.setattr(log_store, "map_array", map_array)
    assert unlike(open_log(path), new) == []
    assert len(names) == 6
