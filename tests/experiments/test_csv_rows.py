"""CSV files of rows: what is wrong with them is one error, and they are written whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from cogmap.errors import BadRun
from cogmap.experiments.cell_rows import merge_table, read_table
from cogmap.experiments.cells import Cell, read_cell
from cogmap.experiments.comparison import LogData
from cogmap.experiments.csv_rows import append_row, header_of, read_csv, write_csv
from cogmap.experiments.hours import measured
from cogmap.experiments.rows import COLUMNS, merge_rows, read_rows
from cogmap.files import write_json


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a,b\n1,2,3\n", "row 2: it must have as many cells as the header"),
        (b"a,b\n1,2\n1\n", "row 3: it must have as many cells as the header"),
        (b"a,c\n1,2\n", "must have the column `b`"),
        (b"a,b\nx,1\n", 'row 2: `a` must be a number, got "x"'),
        (b"a,b\n\xff,1\n", "must be a CSV file in UTF-8: invalid start byte"),
        (b"a,b\n" + b"9" * 200_000 + b",1\n", "must be a CSV file in UTF-8: field larger"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_error(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(BadRun) as caught:
        read_csv(tmp_path / "t.csv", ("a", "b"), ("a",))
    assert told in str(caught.value)


def test_rows_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    rows = [{"a": "1", "b": 'of "two",\nlines'}, {"a": "", "b": "ü"}]
    write_csv(tmp_path / "t.csv", ("a", "b"), rows)
    assert read_csv(tmp_path / "t.csv", ("a", "b"), ("a",)) == rows
    assert read_csv(tmp_path / "none.csv") == []


def test_a_row_is_appended_whole_and_its_new_columns_come_last(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.csv"
    append_row(path, {"a": 1, "b": 2})
    append_row(path, {"c": 3, "a": 4})
    assert header_of(path) == ("a", "b", "c")
    assert read_csv(path) == [{"a": "1", "b": "2", "c": ""}, {"a": "4", "b": "", "c": "3"}]
    assert [each.name for each in path.parent.iterdir()] == ["t.csv"]


def test_tables_of_others_beside_the_rows_are_left_alone(tmp_path: Path) -> None:
    row = dict.fromkeys(COLUMNS, "1") | {"command": "cogmap reproduce small-room --first-seed 0"}
    merge_rows(tmp_path / "small-room.csv", [row])
    (tmp_path / "own-logs.csv").write_text("log,seed\nvending,0\n")
    (tmp_path / "broken.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "returns.csv").write_bytes(b"a\rb,c\n1,2\n")
    assert len(measured(tmp_path)) == 1


def test_rows_of_another_kind_are_refused_where_rows_are_kept(tmp_path: Path) -> None:
    (tmp_path / "small-room.csv").write_text("log,seed\nvending,0\n")
    with pytest.raises(BadRun, match="must have the column `method`"):
        read_rows(tmp_path / "small-room.csv")
    with pytest.raises(BadRun, match="must have the column `method`"):
        merge_rows(tmp_path / "small-room.csv", [dict.fromkeys(COLUMNS, 1)])
    assert (tmp_path / "small-room.csv").read_text() == "log,seed\nvending,0\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"method": "magic"}, "one of our methods"),
        ({"steps": ""}, "must hold steps"),
        ({"accuracy": "high"}, "`accuracy` must be a number"),
    ],
)
def test_a_table_of_cells_is_checked(tmp_path: Path, change: dict[str, str], told: str) -> None:
    row = {"log": "a", "steps": 10, "seed": 0, "method": "tdb", "accuracy": 0.5}
    merge_table(tmp_path / "t.csv", [row])
    assert len(read_table(tmp_path / "t.csv")) == 1
    merge_table(tmp_path / "wrong.csv", [row | change])
    with pytest.raises(BadRun, match=told):
        read_table(tmp_path / "wrong.csv")


@pytest.mark.parametrize("figure", [10**400, [1], {}, "x"])
def test_the_row_of_a_cell_is_checked(tmp_path: Path, figure: object) -> None:
    cell = Cell("a", 10, 0, "tdb", 1.0, LogData(tmp_path, tmp_path, 10), tmp_path / "tdb-10", "")
    row = {"log": "a", "steps": 10, "seed": 0, "method": "tdb", "accuracy": 0.5}
    write_json(tmp_path / "trials" / "tdb-10.json", row)
    assert read_cell(cell) == row
    write_json(tmp_path / "trials" / "tdb-10.json", row | {"accuracy": figure})
    with pytest.raises(BadRun, match="`accuracy` must be a number"):
        read_cell(cell)
