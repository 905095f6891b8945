"""Make docs/images/ginc_concepts.png: `python docs/make_ginc_picture.py RUN`, a run of `cogmap reproduce ginc`."""

from __future__ import annotations

import sys
from pathlib import Path

from cogmap import load_run
from cogmap.evaluation.concepts import load_concepts
from cogmap.report.layout import layout_map
from cogmap.report.map_figures import concept_figure
from cogmap.report.style import save_figure
from cogmap.runs.names import CONCEPTS_FILE

run = load_run(sys.argv[1])
concepts = load_concepts(run.folder / CONCEPTS_FILE, run.map.num_nodes)
points = layout_map(run.map, polished=run.map.num_nodes)
save_figure(concept_figure(run.map, points, concepts), Path(__file__).parent / "images" / "ginc_concepts.png")
