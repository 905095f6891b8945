"""How figures look, and how they become SVG that is readable on a light and on a dark page."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
from matplotlib.figure import Figure

from cogmap.files import write_whole

P = ParamSpec("P")

INK = "#1b1b1c"  # lines and text; no other colour of ours, so that it can be told apart in the SVG
FADED = "#8a8a8b"  # what is there but does not matter; reads on light and on dark
_DARK_INK = "#ececec"
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
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "cogmap",  # the same figure gives the same bytes
}
_DARK_SCREEN = f"@media (prefers-color-scheme: dark) {{ svg {{ color: {_DARK_INK} }} }}"
_INK_STYLE = f"<style>svg {{ color: {INK} }} {_DARK_SCREEN}</style>"


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Let a function draw in our style, without a trace in matplotlib's settings."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


def svg_text(figure: Figure) -> str:
    """A figure as SVG on no background, whose ink turns light where the reader's screen is dark."""
    stream = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # text stays text: the reader's fonts count
        figure.savefig(stream, format="svg", dpi=150, transparent=True, metadata=nothing)
    text = stream.getvalue().decode().replace(INK, "currentColor")
    body = text[text.index("<svg ") :]  # without the XML declaration and the address of a DTD
    end_of_tag = body.index(">") + 1
    return body[:end_of_tag] + _INK_STYLE + body[end_of_tag:]


def save_svg(svg: str, path: Path) -> None:
    with write_whole(path) as stream:
        stream.write(svg.encode())
