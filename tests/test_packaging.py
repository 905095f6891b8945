"""What is shipped, and what each extra is for."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest

import cogmap

ROOT = Path(__file__).parents[1]
PACKAGE = Path(cogmap.__file__).parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

# Two places that look alike to a pair of numbers each, a ring of four; learned with MuJoCo out of reach.
_LEARN_FROM_FEATURES = """
import sys
for name in ("mujoco", "labmaze", "gymnasium", "minari", "starlette"):
    sys.modules[name] = None
import numpy as np
from cogmap.cli import main
rng = np.random.default_rng(0)
place = np.cumsum(np.ones((12, 30), dtype=int), axis=1) % 4
seen = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 0.0]])[place] + rng.normal(0, 0.1, (12, 30, 2))
np.savez("log.npz", features=seen, actions=np.zeros((12, 29), dtype=int))
small = ["--change", "width=16", "num_codes=8", "head_width=16", "batch_size=4", "bottleneck_from=0"]
sys.exit(main(["learn", "log.npz", "--out", "run", "--encoder", "gru", "--clusters", "3", "--steps", "4", *small]))
"""


def test_feature_vectors_are_learned_without_mujoco(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _LEARN_FROM_FEATURES]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "views in 3 clusters" in ended.stdout
    assert (tmp_path / "run" / "quantizer.npz").is_file()


def test_extras_are_by_what_a_user_wants_to_do() -> None:
    assert {"views", "3d", "gym", "data", "serve"} <= set(EXTRAS)
    assert not [package for package in EXTRAS["views"] if package.startswith(("mujoco", "labmaze"))]
    assert "cogmap[views]" in EXTRAS["3d"]


def test_everything_beside_the_modules_is_there_to_be_shipped() -> None:
    for name in ("py.typed", "app/static/index.html", "report/shared/theme.css", "report/page.html"):
        assert (PACKAGE / name).is_file()
    assert sum(path.stat().st_size for path in (PACKAGE / "data" / "rooms-6x8").iterdir()) > 3_000_000


def test_nothing_of_the_package_is_ignored() -> None:
    """What .gitignore matches is in no commit, and the build leaves it out of the wheel."""
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "src/cogmap"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    ignored = [line for line in listed.stdout.splitlines() if "__pycache__" not in line]
    assert ignored == []


def test_the_page_on_an_index_has_no_picture_and_no_link_that_only_a_checkout_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = types.ModuleType("hatchling.metadata.plugin.interface")
    hook.MetadataHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, hook.__name__, hook)  # the build has it, the tests need not
    text = runpy.run_path(str(ROOT / "hatch_build.py"))["index_text"]((ROOT / "README.md").read_text())
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []
    assert "your own log in five minutes" in " ".join(text.split())
