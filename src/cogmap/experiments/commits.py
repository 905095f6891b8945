"""Which commit measured a row, and which rows may stand in a folder under version control."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from cogmap.errors import BadOutput

PACKAGE = Path(__file__).parents[1]
DIRTY, UNKNOWN = "-dirty", "unknown"


@lru_cache(maxsize=1)  # the code that a process runs is that of its start, whatever is committed later
def current_commit() -> str:
    """The commit of the package's sources, with `-dirty` where they differ from it; `unknown` without git.

    Only the sources count: rows that were just written into a results folder change nothing about the code.
    """
    if not _git("ls-files", "errors.py"):  # an installed package may lie in somebody else's checkout
        return UNKNOWN
    commit, changes = _git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain", "--", ".")
    return UNKNOWN if commit is None else commit + (DIRTY if changes else "")


def check_commits(results: Path, commits: Iterable[str]) -> None:
    """Refuse rows of sources that no commit has, where the rows' folder is under version control itself."""
    dirty = [commit for commit in commits if commit.endswith(DIRTY)]
    if dirty and is_committed(results):
        rule = f"rows in {results} must be of a commit, these would be of {dirty[0]}"
        raise BadOutput(
            f"{rule}: commit the sources and train what they trained again, or give another --results"
        )


@lru_cache
def is_committed(folder: Path) -> bool:
    """Whether a folder belongs to the checkout of these sources, and is not ignored there."""
    top = _git("rev-parse", "--show-toplevel")
    if not top or not folder.resolve().is_relative_to(top):
        return False
    return _git("check-ignore", str(folder.resolve())) is None


def _git(*words: str) -> str | None:
    """What git says about the package; None where it fails, or is not there."""
    command = ["git", "-C", str(PACKAGE), *words]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
