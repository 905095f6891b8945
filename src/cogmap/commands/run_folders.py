"""The run folders of reproductions: what they are called, and whether a training in one can go on."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree


def slug(method: str) -> str:
    """A method's name as part of a folder's."""
    return "".join(letter if letter.isalnum() else "-" for letter in method.lower()).strip("-")


def can_go_on(folder: Path) -> bool:
    """Whether there is a checkpoint. What a training cut off before its first one left behind is cleared away."""
    if (folder / "checkpoint").is_dir():
        return True
    rmtree(folder, ignore_errors=True)
    return False
