"""`cogmap reproduce --engine ray`: two workers on loopback, one killed in the middle, and nothing is lost."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cogmap.errors import MissingExtra
from cogmap.experiments import cluster
from cogmap.experiments.rows import COLUMNS, read_rows

PROGRAM = Path(__file__).with_name("ray_two_workers.py")


def figures(folder: Path) -> set[tuple[str, ...]]:
    # Sources may change meanwhile, and with them the commit.
    columns = [name for name in COLUMNS if name != "seconds" and not name.endswith("_at")]
    return {tuple(row[name] for name in columns) for row in read_rows(folder / "rows" / "tiny.csv")}


@pytest.mark.learning
@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason='Ray is missing: pip install "cogmap[ray]"')
def test_a_killed_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    (killed,) = found["killed"]
    assert 100 <= killed["step"] < 600
    assert killed["pid"] not in found["workers"]  # another one ended what it had begun
    assert found["driver"] not in found["workers"]
    assert len(set(found["workers"])) >= 2
    assert figures(tmp_path / "storm") == figures(tmp_path / "calm")
    assert {row[0] for row in figures(tmp_path / "calm")} == {
        "TDB(S=3, M=1), gru",
        "TDB(S=3, M=4), gru",
        "Vanilla LSTM",
    }
    for calm in (tmp_path / "calm").rglob("model.safetensors"):
        storm = tmp_path / "storm" / calm.relative_to(tmp_path / "calm")
        assert calm.read_bytes() == storm.read_bytes()
    (log,) = (tmp_path / "storm").rglob("tdb-s-3--m-1*.log")
    assert log.read_text().count("TDB(S=3, M=1), gru, fast") == 2  # it was begun twice
    assert "3 of 3 trials are scored already" in found["again"]


def test_without_ray_the_line_that_installs_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'`--engine ray` needs Ray: pip install "cogmap\[ray\]"'):
        cluster.cluster_cores()
