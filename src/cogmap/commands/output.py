"""What commands share: refusing to overwrite, and printing for people or for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cogmap.errors import BadOutput
from cogmap.walks.log_store import SUFFIX


def refuse_to_overwrite(paths: Iterable[Path], force: bool) -> None:
    """Refuse, before any work is done, to write over a file."""
    for path in paths:
        if path.is_dir() and path.suffix != SUFFIX:
            raise BadOutput(f"{path} is a folder, and must be a file")
        if path.exists() and not force:
            raise BadOutput(f"{path} exists; add --force to overwrite it")


class Told:
    """One line on the error stream with the progress of a long job; nothing if that is not a terminal."""

    def __init__(self, what: str) -> None:
        self._what, self._shown = what, sys.stderr.isatty()

    def __call__(self, done: int, of: int) -> None:
        if self._shown:
            end = "\n" if done >= of else ""
            print(f"\r{self._what}: {done / max(of, 1):.0%}", end=end, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
