"""From an opened run on a text to its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cogmap.commands.run_report import learn_command, report_command
from cogmap.errors import BadRun
from cogmap.evaluation.concepts import load_concepts
from cogmap.files import read_json
from cogmap.maps.layout import layout_map
from cogmap.report.text_page import TextMaterial, write_text_report
from cogmap.run import CONFIG_FILE
from cogmap.text_learning import CONCEPTS_FILE
from cogmap.training.loop import read_metrics

if TYPE_CHECKING:
    from cogmap.run import Run
    from cogmap.text_learning import Reading

# Nodes; Kamada-Kawai takes some ten seconds for so many, and shows clusters that scaling does not.
_POLISHED = 1000


def report_text(opened: Run, reading: Reading) -> Path:
    """Write the report of a run on a text. Returns the page's path."""
    graph = opened.map
    concepts = opened.folder / CONCEPTS_FILE
    material = TextMaterial(
        name=opened.name,
        unit=reading.unit,
        config=read_json(opened.folder / CONFIG_FILE, BadRun),
        graph=graph,
        layout=layout_map(graph, polished=_POLISHED),
        rows=read_metrics(opened.folder),
        concepts=load_concepts(concepts, graph.num_nodes) if concepts.is_file() else None,
    )
    learned = f"{learn_command(opened, 'TEXT.txt')} --{reading.unit} --least-count {reading.least_count}"
    learned += f" --splice {reading.splice}" if reading.splice else ""
    commands = [learned, report_command(opened.folder, None, None)]
    return write_text_report(opened.folder, material, commands)
