"""Draws docs/images/ladder.png from results/ladder.csv: python docs/make_ladder_picture.py

What each rung between the presets `paper` and `fast` reaches in as much time: accuracy, codes in use, NormGED.
"""

from __future__ import annotations

import re
from pathlib import Path
from statistics import mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogmap.experiments.rows import read_rows
from cogmap.experiments.tables import RUNGS
from cogmap.report.curve_figures import MODEL_COLOUR, SECOND_COLOUR
from cogmap.report.style import save_figure

ROOT = Path(__file__).parents[1]
PLACES = 48  # of the room

Values = dict[tuple[int, str, str], float]  # by rung, map and metric


def values() -> Values:
    """Means over rooms."""
    found: dict[tuple[int, str, str], list[float]] = {}
    for row in read_rows(ROOT / "results" / "ladder.csv"):
        number = re.search(r", (\d+): ", row["method"])
        assert number is not None
        found.setdefault((int(number[1]), row["map"], row["metric"]), []).append(float(row["value"]))
    return {key: mean(each) for key, each in found.items()}


def bars(axes: Axes, found: Values, map_: str, metric: str, scale: float = 1.0, **look: object) -> None:
    rungs = [rung for rung in range(len(RUNGS)) if (rung, map_, metric) in found]
    axes.barh(rungs, [scale * found[rung, map_, metric] for rung in rungs], **look)


def main() -> None:
    found = values()
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    accuracy, codes, distance = figure.subplots(1, 3, sharey=True)
    bars(accuracy, found, "paper", "test_accu", 100, color=MODEL_COLOUR)
    accuracy.set(xlabel="TestAccu (%)", xlim=(0, 100))
    accuracy.axvline(
        100 * max(found[key] for key in found if key[2] == "ceiling"), color="0.4", linestyle=":"
    )
    bars(codes, found, "", "codes_in_use", color=MODEL_COLOUR)
    codes.set(xlabel="codes in use (dotted: places)", xscale="log")
    codes.axvline(PLACES, color="0.4", linestyle=":")
    bars(distance, found, "paper", "norm_ged", color=SECOND_COLOUR, height=0.8, label="the paper's builder")
    bars(distance, found, "minimal", "norm_ged", color=MODEL_COLOUR, height=0.4, label="our map")
    distance.set(xlabel="NormGED", xlim=(0, 1))
    figure.legend(*distance.get_legend_handles_labels(), loc="outside upper right", ncols=2)
    for rung in range(len(RUNGS)):
        if (rung, "paper", "test_accu") not in found:
            accuracy.text(3, rung, "not run", va="center", color="0.5")
    accuracy.set_yticks(range(len(RUNGS)), [f"{number}: {rung.name}" for number, rung in enumerate(RUNGS)])
    accuracy.set_ylim(len(RUNGS) - 0.5, -0.5)
    save_figure(figure, ROOT / "docs" / "images" / "ladder.png")
    print("wrote docs/images/ladder.png")


if __name__ == "__main__":
    main()
