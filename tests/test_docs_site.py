"""The documentation builds as a site, without a network and without a warning, and has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cogmap

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    # As `make docs` does it; -W: warnings, such as a link to a heading that is not there, are errors.
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", ".", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_every_page_is_there(site: Path) -> None:
    assert 'url=docs/index.html"' in (site / "index.html").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / "docs" / f"{page.stem}.html").is_file()
    for page in ("README", "CONTRIBUTING", "CHANGELOG", "results/README"):
        assert (site / f"{page}.html").is_file()


def test_the_api_page_has_every_public_name(site: Path) -> None:
    page = (site / "docs" / "api.html").read_text(encoding="utf-8")
    for name in cogmap.__all__:
        assert name == "__version__" or f'id="cogmap.{name}"' in page, name


def test_fields_and_parameters_are_explained(site: Path) -> None:
    page = re.sub(r"<[^>]+>", "", (site / "docs" / "api.html").read_text(encoding="utf-8"))
    assert "observations: Integers: (B, N)" in page, "of Walks"
    wrapped = re.findall(r"^.*\w+: .*\($", page, re.M)
    assert not wrapped, "a field and its comment must be on one line, or the page loses what follows"
    assert "\nsure: the certainty" in page, "of Navigator"


def test_pages_need_no_other_machine(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link|iframe)[^>]+(?:src|href)=\"(?:https?:)?//[^\"]+", text)
        assert not loaded, f"{page}: {loaded}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?https?:|@import", style.read_text(encoding="utf-8")), style
