"""One clear line for each way in which a walks file can be wrong or cannot be written."""

import pickle

import numpy as np
import pytest
from walk_files import ACTIONS, COLOURS, OBSERVATIONS, save_npz, save_text

from cogmap.errors import BadOutput, BadWalks
from cogmap.records import Walks
from cogmap.walks.convert import convert_walks
from cogmap.walks.store import load_walks, save_walks


@pytest.mark.parametrize("suffix", [".npz", ".jsonl", ".csv"])
def test_files_that_cannot_be_read(tmp_path, suffix):
    with pytest.raises(BadWalks, match=rf"cannot read .*nowhere\{suffix}: No such file or directory"):
        load_walks(tmp_path / f"nowhere{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(BadWalks, match=rf"cannot read .*folder\{suffix}: Is a directory"):
        load_walks(tmp_path / f"folder{suffix}")
    with pytest.raises(BadWalks, match="got an empty file"):
        load_walks(save_text(tmp_path, f"empty{suffix}", ""))


@pytest.mark.parametrize("name", ["walks", "walks.txt", "walks.npy", "walks.NPZ"])
def test_names_of_no_format(tmp_path, name):
    with pytest.raises(
        BadWalks, match=rf"a walks file must end in .npz, .jsonl, .csv or .walks, got '{name}'"
    ):
        load_walks(tmp_path / name)
    with pytest.raises(BadOutput, match="a walks file must end in"):
        save_walks(tmp_path / name, COLOURS)


def test_another_format_under_the_name(tmp_path):
    save_walks(tmp_path / "w.npz", COLOURS)
    save_walks(tmp_path / "w.csv", COLOURS)
    content = {suffix: (tmp_path / f"w{suffix}").read_bytes() for suffix in (".npz", ".csv")}
    (tmp_path / "a.npz").write_bytes(content[".csv"])
    with pytest.raises(BadWalks, match="must be an npz file without pickles"):
        load_walks(tmp_path / "a.npz")
    (tmp_path / "a.csv").write_bytes(content[".npz"])
    with pytest.raises(BadWalks, match="must be UTF-8 text"):
        load_walks(tmp_path / "a.csv")
    (tmp_path / "a.jsonl").write_bytes(content[".csv"])
    with pytest.raises(BadWalks, match=r'line 1: must be an object \{"observations":.*, got invalid JSON'):
        load_walks(tmp_path / "a.jsonl")


def test_pickles_are_refused(tmp_path):
    (tmp_path / "plain.npz").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(BadWalks, match="must be an npz file without pickles"):
        load_walks(tmp_path / "plain.npz")
    ragged = np.array([[1, 2], [3]], dtype=object)
    with pytest.raises(BadWalks, match="must be an npz file without pickles: Object arrays cannot be loaded"):
        load_walks(save_npz(tmp_path, observations=ragged, actions=ACTIONS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": None}, "`actions` is missing, got observations"),
        ({"observations": OBSERVATIONS / 2}, "`observations` must hold integers, got dtype float64"),
        ({"observations": np.full((2, 3), np.nan)}, "`observations` must hold integers, got dtype float64"),
        ({"observations": OBSERVATIONS > 0}, "`observations` must hold integers, got dtype bool"),
        ({"observations": OBSERVATIONS.astype(str)}, "`observations` must hold integers, got dtype <U21"),
        ({"observations": OBSERVATIONS - 1}, r"`observations` must be in \[0, 2\), got -1 to 1"),
        ({"observations": OBSERVATIONS[0]}, r"`observations` must have 2 dimension\(s\), got shape \(3,\)"),
        (
            {"observations": OBSERVATIONS + 2**40},
            "observations and actions must be numbered from 0, each with at most 1048576 numbers",
        ),
        (
            {"observations": OBSERVATIONS[:0], "actions": ACTIONS[:0]},
            "there must be at least one walk, got none",
        ),
        (
            {"observations": OBSERVATIONS[:, :1], "actions": ACTIONS[:, :1]},
            "a walk must have at least 2 steps, walk 0 has 1",
        ),
        (
            {"actions": ACTIONS[:1]},
            r"`actions` must have shape \(B, N - 1\) = \(2, 2\) or \(B, N\) = \(2, 3\)",
        ),
        ({"num_observations": 2}, r"`observations` must be in \[0, 2\), got 0 to 2"),
        ({"num_actions": 0}, "`num_actions` must be at least 1, got 0"),
        ({"num_actions": 2.0}, "`num_actions` must hold integers, got dtype float64"),
        ({"lengths": [3, 1]}, "a walk must have at least 2 steps, walk 1 has 1"),
        ({"lengths": [3, 4]}, r"`lengths` must be at most N \(=3\), got 4"),
        ({"lengths": [3]}, r"`lengths` must have shape \(B,\) = \(2,\), got \(1,\)"),
        ({"lengths": [3.0, 3.0]}, "`lengths` must hold integers, got dtype float64"),
        ({"observation_labels": ["a", "b"]}, r"`observations` must be in \[0, 2\)"),
        (
            {"observation_labels": ["a", "b", "a"]},
            "`observation_labels` must be distinct, got 'a' more than once",
        ),
        (
            {"observation_labels": ["a", "", "c"]},
            "`observation_labels` must be non-empty words without NUL, got ''",
        ),
        ({"observation_labels": [1, 2, 3]}, "`observation_labels` must be a row of strings, got dtype int64"),
    ],
)
def test_npz_problems(tmp_path, change, message):
    arrays = {"observations": OBSERVATIONS, "actions": ACTIONS} | change
    path = save_npz(tmp_path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(BadWalks, match=rf"walks\.npz: {message}"):
        load_walks(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", 'line 1: must be an object {"observations": .*}, got \\[1, 2\\]'),
        ('{"observations": [1, 2]}', "line 1: must be an object .*, `actions` is missing"),
        ('{"observations": 3, "actions": []}', "line 1: `observations` must be a list, got 3"),
        (
            '{"observations": [0, 1], "actions": [0]}\n{"observations": [0, 1',
            "line 2: must be an object .*, got invalid JSON",
        ),
        (
            '{"observations": [0, 1.5], "actions": [0]}',
            "line 1: `observations` must hold integers or strings, got 1.5",
        ),
        (
            '{"observations": [0, NaN], "actions": [0]}',
            "line 1: `observations` must hold integers or strings, got NaN",
        ),
        (
            '{"observations": [0, true], "actions": [0]}',
            "`observations` must hold integers or strings, got true",
        ),
        (
            '{"observations": [0, null], "actions": [0]}',
            "`observations` must hold integers or strings, got null",
        ),
        (
            '{"observations": [0, "a"], "actions": [0]}',
            "`observations` must be all integers or all strings, got 0 and 'a'",
        ),
        (
            '{"observations": [0, -4], "actions": [0]}',
            "`observations` must be numbered from 0, got -4: write",
        ),
        (
            '{"observations": [0, 1], "actions": [0, 1, 2]}',
            "a walk of 2 observations must have 1 or 2 actions, got 3",
        ),
        ('{"observations": [0], "actions": []}', "a walk must have at least 2 steps, walk 0 has 1"),
        ('{"observations": [], "actions": []}', "a walk must have at least 2 steps, walk 0 has 0"),
        (
            '{"observations": [0, 99999999999999999999], "actions": [0]}',
            "`observations` must fit 32-bit integers, got one of 20 digits",
        ),
        ('{"observations": ["a", "\\ud800"], "actions": [0]}', "`observations` must be valid Unicode"),
        (
            '{"observations": ["a", ""], "actions": [0]}',
            "`observations` must be non-empty words without NUL, got ''",
        ),
        (
            '{"observations": ["a", "b"], "actions": [0], "observation_labels": ["a"]}',
            "label 'b' in `observations` is not known, the labels are 'a'",
        ),
        (
            '{"observations": [0, 1], "actions": [0], "num_actions": "4"}',
            "`num_actions` must be an integer of at least 1",
        ),
    ],
)
def test_jsonl_problems(tmp_path, text, message):
    with pytest.raises(BadWalks, match=rf"w\.jsonl: .*{message}"):
        load_walks(save_text(tmp_path, "w.jsonl", text))


ROW_RULE = r"the steps of a walk must be 0, 1, 2, \.\.\. in order, or times"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "there must be at least one walk, got none"),
        ("0,0,1,0\n0,2,1,\n", rf"line 3: {ROW_RULE}, in walk '0' step 1 is missing"),
        ("0,0,1,0\n0,1,1,0\n0,1,1,\n", rf"line 4: {ROW_RULE}, in walk '0' step 1 is repeated"),
        ("0,0,1,0\n0,2,1,0\n0,1,1,\n", rf"line 3: {ROW_RULE}, in walk '0' step 2 comes before step 1"),
        ("0,1,1,0\n0,2,1,\n1,0,1,0\n1,1,1,\n", rf"line 2: {ROW_RULE}, in walk '0' step 0 is missing"),
        ("0,0,1,0\n0,0,1,0\n0,1,1,\n", rf"line 3: {ROW_RULE}, in walk '0' step 0 is repeated"),
        ("0,zero,1,0\n", "line 2: the step must be an integer or a time, got 'zero'"),
        ("0,0,1\n", "line 2: a row must have 4 cells, as the header, got 3"),
        ("0,0,,0\n0,1,1,\n", "line 2: the observation must not be empty"),
        ("0,0,1,\n0,1,1,\n", "line 2: the action must not be empty before a walk's last step"),
        (
            "0,0,1.5,0\n0,1,1,\n",
            "line 2: the observation must be an integer of at most 18 digits or a label, got '1.5'",
        ),
        (
            "0,0,1,0\n0,1,nan,\n",
            "line 3: the observation must be an integer of at most 18 digits or a label, got 'nan'",
        ),
        (
            "0,0,-1,0\n0,1,1,\n",
            "`observations` must be numbered from 0, got -1: write other numbers as words",
        ),
        ("0,0,1,\n", "a walk must have at least 2 steps, walk 0 has 1"),
        ('0,0,"1,0\n', "line 2: must be valid CSV: unexpected end of data"),
    ],
)
def test_csv_problems(tmp_path, rows, message):
    path = save_text(tmp_path, "w.csv", "walk,step,observation,action\n" + rows)
    with pytest.raises(BadWalks, match=rf"w\.csv: {message}"):
        load_walks(path)


def test_csv_without_the_header(tmp_path):
    path = save_text(tmp_path, "w.csv", "0,0,1,0\n")
    with pytest.raises(
        BadWalks, match=r"line 1: the header must be 'walk,step,observation,action', in any order"
    ):
        load_walks(path)


def test_labels_that_csv_could_not_give_back(tmp_path):
    numbers = Walks(OBSERVATIONS, ACTIONS, np.array([3, 3]), 3, 2, observation_labels=("1", "2", "3"))
    with pytest.raises(
        BadWalks, match=r"`observation_labels` must not all be numbers in CSV.*write \.npz or \.jsonl"
    ):
        save_walks(tmp_path / "w.csv", numbers)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOutput, match=r"cannot write .*file/w\.npz"):
        save_walks(tmp_path / "file" / "w.npz", COLOURS)


def test_an_empty_label_is_not_written(tmp_path):
    empty = Walks(OBSERVATIONS, ACTIONS, np.array([3, 3]), 3, 2, observation_labels=("", "b", "c"))
    with pytest.raises(BadWalks, match="`observation_labels` must be non-empty words without NUL, got ''"):
        save_walks(tmp_path / "w.npz", empty)


def test_a_file_is_not_converted_to_itself(tmp_path):
    save_walks(tmp_path / "w.npz", COLOURS)
    (tmp_path / "link.npz").symlink_to("w.npz")
    for out in ("w.npz", "./w.npz", "link.npz"):
        with pytest.raises(BadOutput, match="must be converted to another file"):
            convert_walks(tmp_path / "w.npz", tmp_path / out)


@pytest.mark.parametrize("name", ["\ud800.npz", "\0.npz"])
def test_names_that_no_file_can_have(tmp_path, name):
    with pytest.raises(BadWalks, match="cannot read"):
        convert_walks(tmp_path / name, tmp_path / "w.npz")
