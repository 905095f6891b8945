"""The colours of observations, and where the nodes of one place are drawn. Needs no matplotlib."""

from __future__ import annotations

import colorsys
import re
from itertools import count

import numpy as np

from cogmap.records import Floats, Integers, Labels

WALK_COLOUR = "#ff00ff"  # the paper draws walks in fuchsia
PATH_COLOUR = "#d62728"  # and paths in red; no observation has a similar colour
# They differ in lightness as well as in hue, for print and for most colour-blind readers.
_CHOSEN = (
    "#4c78a8",
    "#f2cf5b",
    "#54a24b",
    "#d8d3cd",
    "#8c6d4f",
    "#9ecae9",
    "#2d3e50",
    "#f58518",
    "#b8e186",
    "#7a7a7a",
    "#1f8a8a",
    "#b6a6d8",
)
_GOLDEN = 0.618033988749895  # steps of the golden ratio give neighbouring indices different hues
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_SPREAD = 0.34  # of a cell: how far from its middle the nodes of one place are drawn


# Names of colours that observations may have, in English, German, French and Spanish.
_NAMED = {
    "#c0392b": "red rot rouge rojo crimson scarlet",
    "#2f6fb7": "blue blau bleu azul",
    "#3f9b46": "green grün vert verde",
    "#f2cf3b": "yellow gelb jaune amarillo gold",
    "#ef8a1d": "orange naranja",
    "#8450a8": "purple violet lila violett morado",
    "#e89ac0": "pink rosa rose",
    "#8c6d4f": "brown braun brun marrón",
    "#8a8a8a": "grey gray grau gris silver",
    "#2b2b2b": "black schwarz noir negro",
    "#f4f1ea": "white weiß weiss blanc blanco",
    "#2aa5a5": "cyan turquoise türkis teal",
    "#c04bb0": "magenta fuchsia",
}
_COLOUR_OF = {name: colour for colour, names in _NAMED.items() for name in names.split()}


def observation_colours(num_observations: int, labels: Labels | None = None) -> tuple[str, ...]:
    """`num_observations` colours as "#rrggbb"; index k has the same colour for any number of observations.

    labels: where a label names one colour, such as "red" or "red tile", that is its colour.
    """
    named = [_named(label) for label in labels or ()]
    taken = set(named)
    free = (colour for index in count() if (colour := _colour(index)) not in taken)
    if not any(named):
        return tuple(_colour(index) for index in range(num_observations))
    return tuple(colour or next(free) for colour in named)


def _named(label: str) -> str | None:
    """The colour that a label names; None for none or several."""
    found = {_COLOUR_OF[word] for word in re.findall(r"\w+", label.casefold()) if word in _COLOUR_OF}
    return found.pop() if len(found) == 1 else None


def side_by_side(centres: Floats, position: Integers) -> Floats:
    """(V, 2) each node at the middle (P, 2) of its place (V,), nan where it has none.

    The nodes of one place are spread on a golden-angle spiral.
    """
    points = np.full((len(position), 2), np.nan)
    order = np.argsort(position, kind="stable")
    order = order[position[order] >= 0]
    _, first, times = np.unique(position[order], return_index=True, return_counts=True)
    seed = np.arange(len(order)) - np.repeat(first, times)  # 0, 1, ... among the nodes of one place
    many = np.repeat(times, times)
    radius = np.where(many > 1, _SPREAD * np.sqrt((seed + 0.5) / many), 0.0)
    turn = seed * _GOLDEN_ANGLE
    points[order] = centres[position[order]] + np.stack(
        (radius * np.cos(turn), radius * np.sin(turn)), axis=1
    )
    return points


def _colour(index: int) -> str:
    if index < len(_CHOSEN):
        return _CHOSEN[index]
    turn = index - len(_CHOSEN)
    hue = 0.08 + 0.66 * ((turn * _GOLDEN) % 1)  # orange to violet: neither red nor fuchsia
    lightness = (0.40, 0.72, 0.56)[turn % 3]
    red, green, blue = colorsys.hls_to_rgb(hue, lightness, 0.55)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
