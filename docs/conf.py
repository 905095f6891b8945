"""The documentation site: Markdown pages of this repository, and the API from the docstrings (`make docs`).

The repository's root is the source folder, so that a link means the same on the site as in the checkout.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import cogmap

project, author = "cogmap", "the cogmap authors"
version = release = cogmap.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = [
    "docs/*.md",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "results/README.md",
]
exclude_patterns = [".*", "site", "runs", "demo", "src", "tests", "benchmarks"]  # not even looked into
html_theme = "furo"  # brings its own styles, scripts and no fonts: pages open without a network
html_title = f"cogmap {release}"
html_copy_source = html_show_copyright = False
myst_heading_anchors = 3  # `page.md#a-heading` as on GitHub
default_role = "code"  # docstrings have single backticks
smartquotes = False
autodoc_type_aliases = {name: name for name in ("Integers", "Booleans", "Floats", "Labels")}
autodoc_inherit_docstrings = False  # of Gymnasium, say
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
python_maximum_signature_line_length = 90

# Headings of the API page, each with the modules that it is for; a name from elsewhere goes under "Other".
SUBJECTS = {
    "Learning": ("tasks.learning", "tasks.text", "models", "training"),
    "Runs": ("runs",),
    "Walks": ("walks",),
    "Maps": ("maps", "tasks.family"),
    "Plans": ("planning",),
    "Scores and reports": ("evaluation", "tasks.evaluation", "tasks.reporting"),
    "Records": ("records",),
    "Worlds": ("environments",),
    "Other": ("",),
    "Errors": ("errors",),
}


def subject_of(name: str) -> str:
    """The subject with the longest module that the name's module is, or lies in."""
    module = getattr(cogmap, name).__module__.removeprefix("cogmap.")
    fitting = [
        (len(prefix), subject)
        for subject, prefixes in SUBJECTS.items()
        for prefix in prefixes
        if f"{module}.".startswith(f"{prefix}." if prefix else "")
    ]
    return max(fitting)[1]


def public_names() -> dict[str, list[str]]:
    """The names in `cogmap.__all__` by subject."""
    groups: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for name in cogmap.__all__:
        if not name.startswith("__"):
            groups[subject_of(name)].append(name)
    functions_first = {subject: sorted(names, key=_is_class) for subject, names in groups.items()}
    return {subject: names for subject, names in functions_first.items() if names}


def _is_class(name: str) -> bool:
    return inspect.isclass(getattr(cogmap, name))


def directive(name: str) -> str:
    """What documents one name: its signature, its docstring and the public methods."""
    found = getattr(cogmap, name)
    if not _is_class(name):
        return f".. autofunction:: cogmap.{name}"
    if issubclass(found, Exception):
        return f".. autoexception:: cogmap.{name}"
    return f".. autoclass:: cogmap.{name}\n   :members:"


def add_public_names(app: Sphinx, page: str, source: list[str]) -> None:
    if page != "docs/api":
        return
    for subject, names in public_names().items():
        source[0] += f"\n## {subject}\n"
        for name in names:
            source[0] += f"\n### {name}\n\n```{{eval-rst}}\n{directive(name)}\n```\n"


def tidy_docstring(
    app: Sphinx, what: str, name: str, found: Any, options: dict[str, bool], lines: list[str]
) -> None:
    """Our docstrings are plain text with `name: meaning` lines for parameters; the fields of a record are comments."""
    told = [_escaped(line) for line in _as_list(lines, _parameters(found))]
    if inspect.isclass(found) and is_dataclass(found):
        told += ["", *_fields(found), ""]
    lines[:] = told


def _parameters(found: Any) -> set[str]:
    try:
        return set(inspect.signature(found).parameters)
    except (TypeError, ValueError):
        return set()


def _as_list(lines: list[str], parameters: set[str]) -> list[str]:
    """Lines `name, other: meaning` of parameters become items of a list, with what is indented under them."""
    told: list[str] = []
    in_item = False
    for line in lines:
        head, colon, meaning = line.partition(": ")
        names = [part.strip(" `") for part in head.split(",")]
        if colon and parameters.issuperset(names):
            told += [*([] if in_item else [""]), f"- {', '.join(f'`{part}`' for part in names)}: {meaning}"]
            in_item = True
        elif in_item and line.startswith(" "):
            told.append(f"  {line.strip()}")
        else:
            told += ["", line] if in_item and line else [line]
            in_item = False
    return told


def _fields(record: Any) -> list[str]:
    """A line for each field of a record, with the comment beside it, which holds its shape."""
    told = []
    for line in inspect.getsource(record).splitlines():
        code, _, comment = line.partition("  # ")
        name = code.partition(":")[0].strip()
        if re.match(r"    \w+: ", code) and name in {field.name for field in fields(record)}:
            told.append(f"- `{code.strip()}`" + (f": {_escaped(comment)}" if comment else ""))
    return told


def _escaped(line: str) -> str:
    """Outside of backticks nothing is markup."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"([*|])|(_)(?=\W|$)", r"\\\1\2", part) for part in parts[::2]]
    return "`".join(parts)


def lead_to_first_page(app: Sphinx, failure: Exception | None) -> None:
    """`site/index.html` leads to the first page, which lies in `site/docs`."""
    if failure is None:
        page = Path(app.outdir) / "index.html"
        page.write_text('<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">\n')


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_public_names)
    app.connect("autodoc-process-docstring", tidy_docstring)
    app.connect("build-finished", lead_to_first_page)
