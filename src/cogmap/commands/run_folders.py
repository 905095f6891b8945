"""The run folders of reproductions: what they are called, whether one is finished, and whether it can go on."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree


def slug(method: str) -> str:
    """A method's name as part of a folder's."""
    return "".join(letter if letter.isalnum() else "-" for letter in method.lower()).strip("-")


def is_finished(folder: Path, steps: int | None) -> bool:
    """Whether there is a trained model that had been allowed as many steps as are asked for now."""
    from cogmap.runs.folder import MODEL_FILE, RunFolder

    if not (folder / MODEL_FILE).is_file():
        return False
    return steps is None or steps <= RunFolder(folder).training.steps


def can_go_on(folder: Path) -> bool:
    """Whether there is a checkpoint. What a training cut off before its first one left behind is cleared away."""
    if (folder / "checkpoint").is_dir():
        return True
    rmtree(folder, ignore_errors=True)
    return False
