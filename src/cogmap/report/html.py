"""Pieces of a page as HTML, everything that is not ours escaped; and its modules bundled into one script."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from posixpath import dirname, join, normpath
from typing import NamedTuple

from cogmap.report.pictures import Picture
from cogmap.report.tables import Table


class Section(NamedTuple):
    html: str
    pictures: tuple[Picture, ...] = ()


def section_html(name: str, heading: str, body: str) -> str:
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(heading)}</h2>\n{body}\n</section>'


def folded_html(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{body}\n</details>"


def table_html(table: Table) -> str:
    """The table in a box that scrolls sideways on a narrow screen, its caption below and always in sight."""
    box = f'<div class="scroll" tabindex="0" role="region" aria-label="Table">{table.html()}</div>'
    return f'{box}\n<p class="note">{escape(table.caption)}</p>' if table.caption else box


def figures_html(pictures: Iterable[Picture]) -> str:
    return f'<div class="figures">{"".join(map(_figure, pictures))}</div>'


def _figure(picture: Picture) -> str:
    source = base64.b64encode(picture.svg.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(picture.alt)}">'
    kind = ' class="wide"' if picture.wide else ""
    return f"<figure{kind}>{image}<figcaption>{escape(picture.caption)}</figcaption></figure>\n"


def image_html(content: bytes, kind: str, caption: str, alt: str) -> str:
    """A picture that is no SVG, within the page: `kind` is png or gif."""
    source = base64.b64encode(content).decode()
    image = f'<img src="data:image/{escape(kind)};base64,{source}" alt="{escape(alt)}">'
    return f'<figure class="wide">{image}<figcaption>{escape(caption)}</figcaption></figure>\n'


def style_sheet() -> str:
    """What the explorer and the reports share, and what a report adds."""
    return asset("shared/theme.css") + asset("page.css")


def asset(name: str) -> str:
    return files("cogmap.report").joinpath(name).read_text(encoding="utf-8")


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
