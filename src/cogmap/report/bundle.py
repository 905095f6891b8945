"""ES modules as one classic script, for a page that is a single file.

The explorer loads the same files as they are. Only what they use is understood: imports at the head of a module, each
on one line, and `export` before a function, a class or a constant.
"""

from __future__ import annotations

import re
from importlib.resources import files
from posixpath import dirname, join, normpath

_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from "(?P<path>[^"]+)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (?P<name>\w+))", re.MULTILINE)


def bundle(package: str, entry: str) -> str:
    """The module `entry` of a package and all that it imports, each in a scope of its own, the imported ones first."""
    done: dict[str, str] = {}  # path of a module -> its part of the script
    _add(package, normpath(entry), done)
    return '"use strict";\n' + "\n".join(done.values())


def _add(package: str, path: str, done: dict[str, str]) -> None:
    text = files(package).joinpath(path).read_text(encoding="utf-8")
    imported = [normpath(join(dirname(path), found["path"])) for found in _IMPORT.finditer(text)]
    for other in imported:
        if other not in done:
            _add(package, other, done)
    targets = iter(imported)
    text = _IMPORT.sub(lambda found: _binding(found, next(targets)), text)
    names = ", ".join(found["name"] for found in _EXPORT.finditer(text))
    body = _EXPORT.sub("", text)
    done[path] = f"const {_variable(path)} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"


def _binding(found: re.Match[str], target: str) -> str:
    return f"const {found['all'] or '{' + found['some'] + '}'} = {_variable(target)};\n"


def _variable(path: str) -> str:
    return "module_" + re.sub(r"\W", "_", path.removesuffix(".js"))
