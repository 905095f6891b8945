"""Draws README's picture: python docs/make_picture.py RUN TEST_WALKS OUT.png

The room, with a walk in fuchsia and the plan in red; the learned map, each node where the agent really was; and the
same map laid out without any truth.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from cogmap.evaluation.places import true_places
from cogmap.planning.shortest_paths import solve
from cogmap.report.layout import layout_map
from cogmap.report.map_figures import draw_map, points_at_places
from cogmap.report.room_figures import cell_centres, draw_walk, draw_world
from cogmap.report.style import save_figure
from cogmap.runs.run import load_run
from cogmap.walks.store import load_walks
from cogmap.walks.truth_store import load_truth

CONTEXT, WALK = 50, 0


def main(run_folder: str, walks_file: str, out: str) -> None:
    run, walks = load_run(run_folder), load_walks(walks_file)
    truth = load_truth(walks_file, walks)
    codes, _ = run.encode(walks)
    places = true_places(run.map, walks, truth, codes)
    plan = solve(run.map, int(places.nodes[WALK, CONTEXT - 1]), int(places.nodes[WALK, -CONTEXT - 1]))
    figure = Figure(figsize=(15, 4.2), layout="constrained")
    room, placed, free = figure.subplots(1, 3)
    draw_world(room, truth.world)
    draw_walk(room, truth.world, truth.positions[WALK, :CONTEXT])
    way = cell_centres(truth.world)[places.position[plan.nodes]]
    room.plot(way[:, 0], way[:, 1], color="#d62728", linewidth=4, solid_capstyle="round")
    draw_map(placed, run.map, points_at_places(truth.world, places.position))
    draw_map(free, run.map, layout_map(run.map))
    titles = ("a room that looks alike in many spots", f"its map: {run.map.num_nodes} nodes", "the map alone")
    for axes, title in zip((room, placed, free), titles, strict=True):
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.set_axis_off()
    save_figure(figure, Path(out))


if __name__ == "__main__":
    np.seterr(all="raise")
    main(*sys.argv[1:4])
