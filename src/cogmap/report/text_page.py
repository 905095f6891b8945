"""report.html of a text: its latent graph, what its nodes stand for, and how the training went."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.files import write_whole
from cogmap.records import CognitiveMap, Floats
from cogmap.report.curve_figures import training_figure
from cogmap.report.html import (
    Section,
    asset,
    figures_html,
    folded_html,
    section_html,
    style_sheet,
    table_html,
)
from cogmap.report.latent_figures import concept_figure, word_figure
from cogmap.report.pictures import Picture
from cogmap.report.style import save_svg, svg_text
from cogmap.report.text_tables import node_table, walk_text, word_table
from cogmap.version import __version__

REPORT_FILE, FIGURES_FOLDER = "report.html", "figures"
_WALKED = 80  # units of the text that is walked on the graph


@dataclass(frozen=True, eq=False)
class TextMaterial:
    """All that a run on a text holds for a report."""

    name: str  # of the model, as the paper prints it
    unit: str  # "words" or "characters"
    config: Mapping[str, Any]  # of the run folder
    graph: CognitiveMap
    layout: Floats  # (V, 2)
    rows: Sequence[Mapping[str, Any]]  # of metrics.jsonl
    concepts: NodeConcepts | None = None


def write_text_report(folder: str | Path, own: TextMaterial, commands: Sequence[str] = ()) -> Path:
    """Write the pictures, then the page that holds them too. Returns the page's path."""
    folder = Path(folder)
    sections = _sections(own, commands)
    for section in sections:
        for picture in section.pictures:
            save_svg(picture.svg, folder / FIGURES_FOLDER / f"{picture.name}.svg")
    with write_whole(folder / REPORT_FILE) as stream:
        stream.write(_page(own, sections).encode())
    return folder / REPORT_FILE


def _page(own: TextMaterial, sections: Sequence[Section]) -> str:
    """The whole page, which needs no script and may run none."""
    return Template(asset("page.html")).substitute(
        title=escape(f"The latent graph that {own.name} learned"),
        sentence=escape(summary(own)),
        sections="\n".join(section.html for section in sections),
        style=style_sheet(),
        data="",
        script="",
        script_hash="none",
        version=escape(__version__),
    )


def summary(own: TextMaterial) -> str:
    """What was learned, in a sentence or two."""
    last = own.rows[-1] if own.rows else {}
    told = (
        f"From a text with {own.graph.num_observations} different {own.unit}, {own.name} made a latent graph of "
        f"{own.graph.num_nodes} nodes and {own.graph.num_edges} edges, which {own.graph.explained:.1%} of the steps "
        "follow"
    )
    if "validation_accuracy" in last:
        told += f"; of pieces held back it foretells {last['validation_accuracy']:.1%} of the next {own.unit}"
    if own.concepts is not None:
        told += (
            f". {own.concepts.purity:.1%} of the steps are of the concept of the node they are at, and "
            f"{own.concepts.edges_within:.1%} of the edges stay within a concept"
        )
    return f"{told}."


def _sections(own: TextMaterial, commands: Sequence[str]) -> list[Section]:
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in own.graph.warnings)
    picture, training = _graph_picture(own), _training_picture(own)
    separator = "" if own.unit == "characters" else " "
    walked = separator.join(walk_text(own.graph, _WALKED, np.random.default_rng(0)))
    config = json.dumps(own.config, indent=2, ensure_ascii=False)
    lines = escape("\n".join(commands))
    sections = [
        Section(f'<div class="warning" role="note"><ul>{warnings}</ul></div>') if warnings else None,
        Section(section_html("graph", "The latent graph", figures_html([picture])), (picture,)),
        Section(
            section_html("nodes", "The most visited nodes", table_html(node_table(own.graph, own.concepts)))
        ),
        Section(section_html("walk", "A text walked on the graph", f"<p>{escape(walked)}</p>"))
        if walked
        else None,
        Section(section_html("training", "The training", figures_html([training])), (training,))
        if own.rows
        else None,
        Section(folded_html("Words by number of nodes", table_html(word_table(own.graph)))),
        Section(folded_html("Every choice (config.json)", f"<pre>{escape(config)}</pre>")),
        Section(section_html("again", "How to make this again", f"<pre><code>{lines}</code></pre>")),
    ]
    return [section for section in sections if section is not None]


def _graph_picture(own: TextMaterial) -> Picture:
    count = f"{own.graph.num_nodes} nodes"
    if own.concepts is None:
        caption = "Each node one use of a word; the most visited ones are named."
        svg = svg_text(word_figure(own.graph, own.layout))
        return Picture(
            "latent_graph", svg, caption, f"The latent graph of {count}, some with their words.", True
        )
    caption = (
        "Each node in the colour of the concept most frequent when it is active, which the model never saw."
    )
    svg = svg_text(concept_figure(own.graph, own.layout, own.concepts))
    alt = f"The latent graph of {count}, coloured by {len(own.concepts.names)} concepts."
    return Picture("latent_graph", svg, caption, alt, True)


def _training_picture(own: TextMaterial) -> Picture:
    if not own.rows:
        return Picture("training", "", "", "")
    caption = "Loss, accuracy, and the use of the dictionary once the bottleneck is on."
    alt = "Three curves by training step: loss, accuracies, codes in use."
    return Picture("training", svg_text(training_figure(own.rows)), caption, alt, True)
