"""report.html of a text: its latent graph, what its nodes stand for, and how the training went."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.files import write_whole
from cogmap.records import CognitiveMap, Floats, Integers, label_of
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
from cogmap.report.tables import Table
from cogmap.version import __version__

_SHOWN = 24  # nodes, the most visited ones
_FOLLOWING = 4  # next nodes of each


def node_table(cognitive_map: CognitiveMap, concepts: NodeConcepts | None) -> Table:
    """The most visited nodes: their word, how often they are active, what follows, and their concept."""
    total = max(int(cognitive_map.node_support.sum()), 1)
    rows = []
    for node in np.argsort(-cognitive_map.node_support, kind="stable")[:_SHOWN].tolist():
        row = (
            f"{node}: {_word(cognitive_map, node)}",
            f"{cognitive_map.node_support[node] / total:.2%}",
            _following(cognitive_map, node),
        )
        rows.append(row if concepts is None else (*row, _concept(concepts, node)))
    columns = ("node", "of the steps", "what follows") + (() if concepts is None else ("concept",))
    return Table(columns, tuple(rows), "A word may have many nodes: one for each of its uses.")


def word_table(cognitive_map: CognitiveMap) -> Table:
    """The words with the most nodes: those whose meaning depends most on what came before."""
    used = cognitive_map.node_support > 0
    nodes = np.bincount(cognitive_map.node_observation[used], minlength=cognitive_map.num_observations)
    rows = [
        (str(label_of(cognitive_map.observation_labels, word)), str(nodes[word]))
        for word in np.argsort(-nodes, kind="stable")[:_SHOWN].tolist()
        if nodes[word]
    ]
    return Table(("word", "nodes"), tuple(rows))


def walk_text(cognitive_map: CognitiveMap, units: int, rng: np.random.Generator) -> list[str]:
    """A text of so many units: from node to node, each edge as likely as it was taken."""
    if not cognitive_map.num_edges:
        return []
    node = int(cognitive_map.edge_source[cognitive_map.edge_support.argmax()])
    told = []
    for _ in range(units):
        told.append(_word(cognitive_map, node))
        edges = np.flatnonzero(cognitive_map.edge_source == node)
        if not len(edges):
            break
        taken = cognitive_map.edge_support[edges]
        node = int(cognitive_map.edge_target[rng.choice(edges, p=taken / taken.sum())])
    return told


def _following(cognitive_map: CognitiveMap, node: int) -> str:
    edges = np.flatnonzero(cognitive_map.edge_source == node)
    taken = cognitive_map.edge_support[edges]
    order = np.argsort(-taken, kind="stable")[:_FOLLOWING]
    shares = taken[order] / max(int(taken.sum()), 1)
    return _listed(cognitive_map, cognitive_map.edge_target[edges[order]], shares.tolist())


def _listed(cognitive_map: CognitiveMap, nodes: Integers, shares: Iterable[float]) -> str:
    told = [
        f"{_word(cognitive_map, node)} {share:.0%}"
        for node, share in zip(nodes.tolist(), shares, strict=True)
    ]
    return ", ".join(told) or "nothing"


def _word(cognitive_map: CognitiveMap, node: int) -> str:
    return str(label_of(cognitive_map.observation_labels, int(cognitive_map.node_observation[node])))


def _concept(concepts: NodeConcepts, node: int) -> str:
    concept = int(concepts.concept[node])
    return "never active" if concept < 0 else concepts.names[concept]


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
