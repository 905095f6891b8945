"""How figures look, and how they are saved: as a file, or as SVG that reads well on a light and on a dark page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
from matplotlib.figure import Figure

from cogmap.errors import BadOutput
from cogmap.files import write_whole

P = ParamSpec("P")

INK = "#1b1b1c"  # lines and text; nothing else has this colour, so that `svg_text` can replace it
FADED = "#8a8a8b"  # the background of a figure; reads on light and on dark
MANY_ARTISTS = 2000  # nodes or edges; more are rasterized, since a large SVG is slow
_DARK_INK = "#ececec"
_STABLE_SVG: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "cogmap",  # the same figure gives the same bytes
}
_STYLE: Any = {
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FADED,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    **_STABLE_SVG,
}
_DARK_SCREEN = f"@media (prefers-color-scheme: dark) {{ svg {{ color: {_DARK_INK} }} }}"
_INK_STYLE = f"<style>svg {{ color: {INK} }} {_DARK_SCREEN}</style>"


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a function draw in our style, without changing matplotlib's global settings."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


def svg_text(figure: Figure) -> str:
    """A figure as SVG with a transparent background. Its ink turns light on a dark screen."""
    stream = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # text stays text: the reader's fonts count
        figure.savefig(stream, format="svg", dpi=150, transparent=True, metadata=nothing)
    text = stream.getvalue().decode().replace(INK, "currentColor")
    body = text[text.index("<svg ") :]  # without the XML declaration and the address of a DTD
    end_of_tag = body.index(">") + 1
    return body[:end_of_tag] + _INK_STYLE + body[end_of_tag:]


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure whole or not at all, in the format of the suffix: png, svg or pdf."""
    path = Path(path)
    kind = check_figure_path(path)
    with matplotlib.rc_context(_STABLE_SVG), write_whole(path) as stream:
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


def check_figure_path(path: str | Path) -> str:
    """The format that a figure's suffix names, or `BadOutput`."""
    kind = Path(path).suffix.removeprefix(".")
    if kind not in ("png", "svg", "pdf"):
        raise BadOutput(f"a figure must end in .png, .svg or .pdf, got {Path(path).name!r}")
    return kind
