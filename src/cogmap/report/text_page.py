"""report.html of a text: its latent graph, its most visited nodes, a sampled text and the training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.records import CognitiveMap, Floats, label_of
from cogmap.report.html import (
    Picture,
    Section,
    command_section,
    config_section,
    folded_html,
    picture_section,
    section_html,
    table_html,
    warning_section,
    write_page,
)
from cogmap.report.map_figures import concept_figure, word_figure
from cogmap.report.pictures import picture, training_picture
from cogmap.report.tables import Table

_MOST_ROWS = 24  # of a table
_MOST_SUCCESSORS = 4  # of a node
_SAMPLED_UNITS = 80  # of the sampled text


@dataclass(frozen=True, eq=False)
class TextMaterial:
    """What the report of a text is made from."""

    name: str  # of the model, as the paper prints it
    unit: str  # "words" or "characters"
    config: Mapping[str, Any]  # of the run folder
    graph: CognitiveMap
    layout: Floats  # (V, 2)
    rows: Sequence[Mapping[str, Any]]  # of metrics.jsonl
    concepts: NodeConcepts | None = None


def write_text_report(folder: str | Path, own: TextMaterial, commands: Sequence[str] = ()) -> Path:
    """Write the pictures and the page that contains them. Returns the path of the page."""
    separator = "" if own.unit == "characters" else " "
    text = separator.join(sample_text(own.graph, _SAMPLED_UNITS, np.random.default_rng(0)))
    nodes = table_html(node_table(own.graph, own.concepts))
    sections = [
        warning_section(own.graph.warnings),
        picture_section("graph", "The latent graph", [_graph_picture(own)]),
        Section(section_html("nodes", "The most visited nodes", nodes)),
        Section(section_html("walk", "A text sampled from the graph", f"<p>{escape(text)}</p>"))
        if text
        else None,
        picture_section("training", "Training", [training_picture(own.rows)]) if own.rows else None,
        Section(folded_html("Words by number of nodes", table_html(word_table(own.graph)))),
        config_section(own.config),
        command_section(commands),
    ]
    title = f"The latent graph that {own.name} learned"
    return write_page(folder, title, summary(own), [section for section in sections if section is not None])


def summary(own: TextMaterial) -> str:
    """What the model learned, in a sentence or two."""
    last = own.rows[-1] if own.rows else {}
    text = (
        f"From a text with {own.graph.num_observations} different {own.unit}, {own.name} learned a latent graph of "
        f"{own.graph.num_nodes} nodes and {own.graph.num_edges} edges; {own.graph.explained:.1%} of the steps "
        "follow an edge"
    )
    if "validation_accuracy" in last:
        text += f". On held-out text it predicts {last['validation_accuracy']:.1%} of the next {own.unit}"
    if own.concepts is not None:
        text += (
            f". {own.concepts.purity:.1%} of the steps are of the concept of their node, and "
            f"{own.concepts.edges_within:.1%} of the edges stay within a concept"
        )
    return f"{text}."


def node_table(cognitive_map: CognitiveMap, concepts: NodeConcepts | None) -> Table:
    """The most visited nodes: their word, how often they are active, their successors and their concept."""
    total = max(int(cognitive_map.node_support.sum()), 1)
    rows = []
    for node in np.argsort(-cognitive_map.node_support, kind="stable")[:_MOST_ROWS].tolist():
        row = (
            f"{node}: {_word(cognitive_map, node)}",
            f"{cognitive_map.node_support[node] / total:.2%}",
            _successors(cognitive_map, node),
        )
        rows.append(row if concepts is None else (*row, _concept(concepts, node)))
    columns = ("node", "share of steps", "next words") + (() if concepts is None else ("concept",))
    return Table(columns, tuple(rows), "A word may have many nodes: one for each of its uses.")


def word_table(cognitive_map: CognitiveMap) -> Table:
    """The words with the most nodes: those whose meaning depends most on the context."""
    used = cognitive_map.node_support > 0
    nodes = np.bincount(cognitive_map.node_observation[used], minlength=cognitive_map.num_observations)
    rows = [
        (str(label_of(cognitive_map.observation_labels, word)), str(nodes[word]))
        for word in np.argsort(-nodes, kind="stable")[:_MOST_ROWS].tolist()
        if nodes[word]
    ]
    return Table(("word", "nodes"), tuple(rows))


def sample_text(cognitive_map: CognitiveMap, units: int, rng: np.random.Generator) -> list[str]:
    """A random walk on the graph as `units` words or characters; edges are taken in proportion to their support."""
    if not cognitive_map.num_edges:
        return []
    node = int(cognitive_map.edge_source[cognitive_map.edge_support.argmax()])
    sampled = []
    for _ in range(units):
        sampled.append(_word(cognitive_map, node))
        edges = np.flatnonzero(cognitive_map.edge_source == node)
        if not len(edges):
            break
        support = cognitive_map.edge_support[edges]
        node = int(cognitive_map.edge_target[rng.choice(edges, p=support / support.sum())])
    return sampled


def _successors(cognitive_map: CognitiveMap, node: int) -> str:
    """The most frequent next words of a node, with their shares."""
    edges = np.flatnonzero(cognitive_map.edge_source == node)
    support = cognitive_map.edge_support[edges]
    order = np.argsort(-support, kind="stable")[:_MOST_SUCCESSORS]
    shares = support[order] / max(int(support.sum()), 1)
    targets = cognitive_map.edge_target[edges[order]].tolist()
    listed = [
        f"{_word(cognitive_map, target)} {share:.0%}"
        for target, share in zip(targets, shares.tolist(), strict=True)
    ]
    return ", ".join(listed) or "nothing"


def _word(cognitive_map: CognitiveMap, node: int) -> str:
    return str(label_of(cognitive_map.observation_labels, int(cognitive_map.node_observation[node])))


def _concept(concepts: NodeConcepts, node: int) -> str:
    concept = int(concepts.concept[node])
    return "never active" if concept < 0 else concepts.names[concept]


def _graph_picture(own: TextMaterial) -> Picture:
    count = f"{own.graph.num_nodes} nodes"
    if own.concepts is None:
        return picture(
            "latent_graph",
            word_figure(own.graph, own.layout),
            "Each node is one use of a word; the most visited nodes are labelled.",
            f"The latent graph of {count}, some with their words.",
            wide=True,
        )
    return picture(
        "latent_graph",
        concept_figure(own.graph, own.layout, own.concepts),
        "Each node has the colour of the most frequent concept at it; the model never saw the concepts.",
        f"The latent graph of {count}, coloured by {len(own.concepts.names)} concepts.",
        wide=True,
    )
