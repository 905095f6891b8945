"""docs/warnings.md explains every warning that a map can have."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKERS = {
    "trust",
    "_behind",
    "minimal_warnings",
    "paper_warnings",
    "_warnings",
    "_doubts",
    "new_room_map",
    "_cut_short",
    "_half_learned",
}


def _functions() -> Iterator[ast.FunctionDef]:
    """The functions that make warnings."""
    source = ROOT / "src" / "cogmap"
    for path in [*source.glob("maps/*.py"), *source.glob("tasks/*.py"), *source.glob("*.py")]:
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.FunctionDef) and found.name in MAKERS:
                yield found


def _texts(function: ast.FunctionDef) -> Iterator[str]:
    """The fixed words of all that a function says, what stands between numbers a text of its own."""
    docstring = ast.get_docstring(function, clean=False)
    for found in ast.walk(function):
        value = found.value if isinstance(found, ast.Constant) else None
        if isinstance(value, str) and " " in value.strip() and value != docstring:
            yield value.strip(" :,")


def test_every_warning_is_explained() -> None:
    page = (ROOT / "docs" / "warnings.md").read_text(encoding="utf-8")
    functions = list(_functions())
    assert {function.name for function in functions} == MAKERS
    for function in functions:
        for text in _texts(function):
            assert text in page, f"docs/warnings.md must explain the warning {text!r}"
