"""Draws the paper's figures from kept trials: python docs/make_paper_pictures.py [RUNS]

RUNS is where `cogmap reproduce` keeps its runs, by default runs/reproduce. Needed are, each made by one command of
docs/paper.md: table-cube with TDB(S=3, M=1) for accuracy, codes, jumps and the picture of a cube; table-3d with
TDB(S=1, M=4) for merged nodes; and any of table-3d's TDBs for the training curves. What is missing is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from cogmap.evaluation.diagnostics import CodeUse, code_use, teleportation_by_step
from cogmap.evaluation.places import node_places
from cogmap.evaluation.prediction import accuracy_by_step
from cogmap.experiments import Options, Trial, trials_of
from cogmap.experiments.ledger import training_state
from cogmap.experiments.places import Places
from cogmap.experiments.tables import TABLES
from cogmap.hmm.counts import count_transitions, unique_codes
from cogmap.maps.build import build_map
from cogmap.maps.paper import threshold_edges, well_connected
from cogmap.planning.localise import estimated_nodes
from cogmap.records import Codes, Integers, Truth, Walks
from cogmap.report.curve_figures import (
    MODEL_COLOUR,
    SECOND_COLOUR,
    accuracy_figure,
    code_use_figure,
    teleportation_figure,
)
from cogmap.report.layout import layout_map
from cogmap.report.map_figures import map_figure
from cogmap.report.style import save_figure
from cogmap.runs.run import Run, load_run

IMAGES = Path(__file__).parent / "images"
T_RATIO = 0.1  # the paper's
CURVES = ("TDB(S=1, M=1)", "TDB(S=1, M=4)", "TDB(S=3, M=1)", "TDB(S=3, M=4)")


def trained(table: str, method: str, runs: Path) -> Trial | None:
    (trial,) = trials_of(table, Options(only=(method,), encoder="gru", out=runs))
    return trial if training_state(trial) == "finished" else None


def read(trial: Trial, run: Run) -> tuple[Walks, Truth, Codes, Integers]:
    """The test walks of a trial, with codes and predictions."""
    kind = TABLES[trial.table]
    assert isinstance(kind, Places)
    walks, truth = kind.test_set(trial, run)
    return walks, truth, *run.encode(walks)


def cube(trial: Trial) -> Iterator[tuple[str, Figure]]:
    """The three curves of the paper's appendix by step of a walk, and the map of a cube, laid out without truth."""
    run = load_run(trial.folder)
    walks, _, codes, predicted = read(trial, run)
    yield "accuracy", accuracy_figure(accuracy_by_step(predicted, walks))
    yield "codes", code_use_figure(use_of_codes(walks, codes))
    nodes = estimated_nodes(run.paper_map, walks.observations, walks.actions, walks.lengths, codes)
    yield "jumps", teleportation_figure(teleportation_by_step(nodes, run.paper_map))
    yield "cube", map_figure(run.map, layout_map(run.map))


def use_of_codes(walks: Walks, codes: Codes) -> CodeUse:
    """Which codes the paper's builder keeps, on codes as they are: those with two neighbours each way in its step 2."""
    tuples, index = unique_codes(codes)
    counts = count_transitions(index, walks.actions, len(tuples), walks.num_actions)
    retained = well_connected(threshold_edges(counts, T_RATIO))
    return code_use(codes, build_map(codes, walks, "paper", T_RATIO), retained)


def merged(trial: Trial) -> Iterator[tuple[str, Figure]]:
    """The paper's map of a model that predicts one step, with a ring around each node that is of several places."""
    run = load_run(trial.folder)
    walks, truth, codes, _ = read(trial, run)
    found = run.paper_map
    nodes = estimated_nodes(found, walks.observations, walks.actions, walks.lengths, codes)
    several = node_places(nodes, walks.step_mask(), found.num_nodes, truth).merged
    yield "merged", map_figure(found, layout_map(found), several)


def training(trials: list[Trial]) -> Iterator[tuple[str, Figure]]:
    """Accuracy on held-out walks by training step: one bottleneck dashed, four in a line."""
    figure = Figure(figsize=(6, 3.4), layout="constrained")
    axes = figure.subplots()
    for trial in trials:
        rows = load_run(trial.folder).metrics()
        steps, accuracy = (np.array([row[name] for row in rows]) for name in ("step", "validation_accuracy"))
        colour = MODEL_COLOUR if "S=3" in trial.method else SECOND_COLOUR
        line = "-" if "M=4" in trial.method else "--"
        axes.plot(steps, 100 * accuracy, line, color=colour, label=trial.method)
    axes.set(xlabel="training step", ylabel="held-out observations predicted (%)")
    axes.legend()
    yield "training", figure


def main(runs: Path) -> None:
    drawn: list[tuple[str, Figure]] = []
    for table, method, draw in (("table-cube", "TDB(S=3, M=1)", cube), ("table-3d", "TDB(S=1, M=4)", merged)):
        if (trial := trained(table, method, runs)) is not None:
            drawn += draw(trial)
    curves = [trial for method in CURVES if (trial := trained("table-3d", method, runs)) is not None]
    if len(curves) > 1:
        drawn += training(curves)
    for name, figure in drawn:
        save_figure(figure, IMAGES / f"paper_{name}.png")
        print(f"wrote docs/images/paper_{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "runs/reproduce"))
