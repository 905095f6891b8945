"""The logs of the examples folder: made at a small size, with a truth that fits them, the same for one seed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cogmap
from cogmap.cli import main

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import logs  # noqa: E402

NEEDS_GYM = {"minigrid", "fourrooms"}


@pytest.mark.parametrize("name", sorted(logs.KINDS))
def test_a_log_and_its_truth(name, tmp_path, capsys):
    if name in NEEDS_GYM:
        pytest.importorskip("minigrid")
    file = tmp_path / ("log.npz" if name == "camera" else "log.jsonl")
    logs.write(file, logs.KINDS[name](1, 600))
    walks = cogmap.load_walks(file)
    truth = cogmap.load_truth(file, walks)
    again, _ = logs.KINDS[name](1, 600)
    np.testing.assert_array_equal(walks.lengths, again.lengths)
    mask = walks.step_mask()
    moved = mask[:, 1:]
    here, there = truth.positions[:, :-1][moved], truth.positions[:, 1:][moved]
    np.testing.assert_array_equal(truth.world.next_position[here, walks.actions[moved]], there)
    if name != "camera":  # whose views are clustered first
        np.testing.assert_array_equal(
            truth.world.observation[truth.positions[mask]], walks.observations[mask]
        )
    assert main(["check", str(file)]) == 0
    assert "advice: at least" in capsys.readouterr().out


def test_the_command(tmp_path):
    out = tmp_path / "vending.csv"
    subprocess.run(
        [sys.executable, ROOT / "examples" / "logs.py", "vending", "--steps", "200", "--out", out], check=True
    )
    assert out.read_text().startswith("walk,step,observation,action\n0,0,insert coins,")
