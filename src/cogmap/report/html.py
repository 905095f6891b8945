"""HTML pages in one file: sections, figures and tables as HTML, and JavaScript modules bundled into one script.

`write_page` writes every page of a report. All text from outside is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from posixpath import dirname, join, normpath
from string import Template
from typing import Any, NamedTuple

from cogmap.files import write_whole
from cogmap.report.tables import Table
from cogmap.version import __version__

REPORT_FILE, FIGURES_FOLDER = "report.html", "figures"
_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<some>[^}]*)\}) from "(?P<path>[^"]+)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) (?P<name>\w+))", re.MULTILINE)


class Picture(NamedTuple):
    """A figure as SVG, and the name of its file without the suffix."""

    name: str
    svg: str
    caption: str
    alt: str
    wide: bool = False


class Section(NamedTuple):
    html: str
    pictures: tuple[Picture, ...] = ()


def write_page(
    folder: str | Path, title: str, summary: str, sections: Sequence[Section], data: Any | None = None
) -> Path:
    """Write report.html into a folder, and its pictures into figures/. Returns the path of the page.

    data: a map for the page's explorer, as JSON. A page without one has no script and may run none.
    """
    folder = Path(folder)
    for picture in (picture for section in sections for picture in section.pictures):
        with write_whole(folder / FIGURES_FOLDER / f"{picture.name}.svg") as stream:
            stream.write(picture.svg.encode())
    with write_whole(folder / REPORT_FILE) as stream:
        stream.write(page_html(title, summary, sections, data).encode())
    return folder / REPORT_FILE


def page_html(title: str, summary: str, sections: Iterable[Section], data: Any | None = None) -> str:
    """The whole page. Its security policy allows no request, and no script but its own."""
    script, data_html, script_hash = "", "", "none"
    if data is not None:
        code = "\n" + bundle("cogmap.report", "page.js")
        script = f"<script>{code}</script>"
        data_html = f'<script type="application/json" id="map-data">{script_json(data)}</script>'
        digest = hashlib.sha256(code.encode()).digest()
        script_hash = f"sha256-{base64.b64encode(digest).decode()}"
    return Template(asset("page.html")).substitute(
        title=escape(title),
        sentence=escape(summary),
        sections="\n".join(section.html for section in sections),
        style=asset("shared/theme.css") + asset("page.css"),
        data=data_html,
        script=script,
        script_hash=script_hash,
        version=escape(__version__),
    )


def warning_section(warnings: Sequence[str]) -> Section | None:
    items = "".join(f"<li>{_unbroken(escape(warning))}</li>" for warning in warnings)
    return Section(f'<div class="warning" role="note"><ul>{items}</ul></div>') if warnings else None


def _unbroken(text: str) -> str:
    """A text whose options in brackets are not broken at their dashes."""
    return re.sub(r"\(-[^()]*\)", r'<span class="whole">\g<0></span>', text)


def picture_section(name: str, heading: str, pictures: Iterable[Picture], text: str = "") -> Section:
    """A heading, a paragraph of text if there is any, and the pictures."""
    shown = tuple(pictures)
    paragraph = f"<p>{escape(text)}</p>" if text else ""
    return Section(section_html(name, heading, paragraph + figures_html(shown)), shown)


def config_section(config: Mapping[str, Any]) -> Section:
    text = json.dumps(config, indent=2, ensure_ascii=False)
    return Section(folded_html("All options (config.json)", f'<pre tabindex="0">{escape(text)}</pre>'))


def command_section(commands: Sequence[str]) -> Section | None:
    if not commands:
        return None
    lines = escape("\n".join(commands))
    return Section(
        section_html("again", "How to reproduce this page", f'<pre tabindex="0"><code>{lines}</code></pre>')
    )


def section_html(name: str, heading: str, body: str) -> str:
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(heading)}</h2>\n{body}\n</section>'


def folded_html(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{body}\n</details>"


def table_html(table: Table) -> str:
    """The table in a box that scrolls sideways on a narrow screen, and the caption below the box."""
    named = escape("Table of " + ", ".join(filter(None, table.columns)), quote=True)
    box = f'<div class="scroll" tabindex="0" role="region" aria-label="{named}">{table.html()}</div>'
    return f'{box}\n<p class="note">{escape(table.caption)}</p>' if table.caption else box


def figures_html(pictures: Iterable[Picture]) -> str:
    figures = (
        image_html(each.svg.encode(), "svg+xml", each.caption, each.alt, each.wide) for each in pictures
    )
    return f'<div class="figures">{"".join(figures)}</div>'


def image_html(content: bytes, kind: str, caption: str, alt: str, wide: bool = True) -> str:
    """An image inside the page; `kind` is svg+xml, png or gif."""
    source = base64.b64encode(content).decode()
    image = f'<img src="data:image/{escape(kind)};base64,{source}" alt="{escape(alt)}">'
    opening = '<figure class="wide">' if wide else "<figure>"
    return f"{opening}{image}<figcaption>{escape(caption)}</figcaption></figure>\n"


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element: no character of it can end the element or start another."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def asset(name: str) -> str:
    return files("cogmap.report").joinpath(name).read_text(encoding="utf-8")


def bundle(package: str, entry: str) -> str:
    """The module `entry` of a package and all its imports as one script, each in its own scope, imports first."""
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
