"""Makes the logs of docs/examples.md, learns them and draws their maps: python docs/make_example_pictures.py [NAME ...]

Each log is learned with no option but `--minutes 3`. What a map has, beside the truth, is printed. With --runs FOLDER,
runs NAME-0 that `python scripts/own_logs.py --keep FOLDER` left there are drawn as they are.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import cogmap
from cogmap.report.layout import layout_map
from cogmap.report.map_figures import draw_map
from cogmap.report.room_figures import add_legend
from cogmap.report.style import save_figure, styled

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import logs  # noqa: E402

STEPS = {
    "vending": 5000,
    "robot": 11_000,
    "own_eyes": 10_000,
    "shop": 40_000,
    "elevator": 10_000,
    "minigrid": 20_000,
    "camera": 10_000,
}
LABELLED = 9  # kinds of observations that a legend can name


@styled
def picture(found: cogmap.CognitiveMap) -> Figure:
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, found, layout_map(found))
    if found.num_observations <= LABELLED:
        add_legend(axes, found)
    return figure


def learned(name: str, folder: Path) -> tuple[cogmap.Run, Path]:
    """A log of this name in a folder, and what was learned from it."""
    log = folder / ("log.npz" if name == "camera" else "log.jsonl")
    logs.write(log, logs.KINDS[name](0, STEPS[name]))
    return cogmap.learn(log, folder / "run", minutes=3, quiet=True), log


def kept(name: str, runs: Path) -> tuple[cogmap.Run, Path]:
    return cogmap.load_run(runs / f"{name}-0"), next(runs.glob(f"{name}-0.[njc]*"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(STEPS))
    parser.add_argument("--runs", type=Path, default=None)
    args = parser.parse_args()
    for name in args.names:
        with tempfile.TemporaryDirectory() as folder:
            run, log = learned(name, Path(folder)) if args.runs is None else kept(name, args.runs)
            places = cogmap.load_truth(log, cogmap.load_walks(log)).world.num_positions
            found = f"{run.map.num_nodes} nodes for {places} places, {run.map.explained:.2%}"
            print(f"{name}: {found}", *run.map.warnings, sep="\n  ", flush=True)
            save_figure(picture(run.map), ROOT / "docs" / "images" / f"example_{name}.png")


if __name__ == "__main__":
    main()
