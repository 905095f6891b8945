"""The seconds that docs/data_and_time.md states are those of rows in results/."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "data_and_time.md").read_text(encoding="utf-8")
MEASURED = re.findall(
    r'^\|.*\| ([^|]+) \| `cogmap reproduce (\S+) .*?--only "([^"]+)"(.*)` \|$', PAGE, re.MULTILINE
)


def test_the_table_is_read() -> None:
    assert len(MEASURED) == 8


@pytest.mark.parametrize(("seconds", "table", "method", "options"), MEASURED)
def test_seconds_are_those_of_a_row(seconds: str, table: str, method: str, options: str) -> None:
    encoder = "gru" if "--encoder gru" in options else "transformer"
    with (ROOT / "results" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        measured = {
            row["seconds"] for row in csv.DictReader(file) if row["method"].startswith(f"{method}, {encoder}")
        }
    stated = re.findall(r"\d+", seconds.replace(",", "") if re.search(r"\d,\d{3}", seconds) else seconds)
    assert stated
    assert set(stated) <= measured
