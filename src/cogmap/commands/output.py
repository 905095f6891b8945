"""What commands share: refusing to overwrite, and printing for people or for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cogmap.errors import BadOutput


def refuse_to_overwrite(paths: Iterable[Path], force: bool) -> None:
    """Refuse, before any work is done, to write over a file."""
    for path in paths:
        if path.is_dir():
            raise BadOutput(f"{path} is a folder, and must be a file")
        if path.exists() and not force:
            raise BadOutput(f"{path} exists; add --force to overwrite it")


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
