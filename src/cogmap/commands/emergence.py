"""The emergence curves: how well models do in new rooms by how many they were trained in, from a file of rows."""

from __future__ import annotations

import csv
from pathlib import Path

from cogmap.report.paper_icl import PAPER

Curves = dict[str, dict[str, list[tuple[int, float]]]]  # by metric and method: (training rooms, value)


def draw_emergence(path: Path, with_paper: bool) -> None:
    """The curves of all rows that there are, as a figure beside their file."""
    from cogmap.report.curve_figures import emergence_figure
    from cogmap.report.style import save_figure

    figure = path.with_name(f"{path.stem}-emergence.png")
    save_figure(emergence_figure(_curves(path), with_paper=with_paper), figure)
    print(f"wrote {figure}")


def _curves(path: Path) -> Curves:
    """Of models with maps those of the atlas are drawn."""
    curves: Curves = {metric: {} for metric in PAPER}
    with path.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["metric"] not in curves or row["map"] not in ("", "atlas"):
                continue
            rooms = int(row["environment"].split()[1])
            curves[row["metric"]].setdefault(row["method"], []).append((rooms, float(row["value"])))
    return curves
