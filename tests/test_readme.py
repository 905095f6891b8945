"""README is short, begins with what a newcomer types first, and promises nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCREEN = 40  # lines


def test_first_screen_has_the_two_commands() -> None:
    first_screen = "\n".join(README.splitlines()[:SCREEN])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "pip install cogmap" in first_screen


def test_two_screens_and_a_table_of_five_rows() -> None:
    assert len(README.splitlines()) <= 2 * SCREEN
    rows = re.findall(r"^\| (?!world|---)", README, re.MULTILINE)
    assert len(rows) == 5


def test_every_target_that_readme_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE))
    assert named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_figure_of_the_table_stands_in_the_results() -> None:
    """The rows are those of results/README.md, word for word up to their first cell."""
    results = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| (?!world|---).*$", README, re.MULTILINE):
        figures = row.split("|")[2:]
        assert "|".join(figures) in results, row


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(targets) > 8
    for target in targets:
        assert (ROOT / target).exists(), target
