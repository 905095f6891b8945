"""report.html of a text: its latent graph, its most visited nodes, a sampled text and the training curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.evaluation.text_baselines import LONGEST, TextBaselines
from cogmap.records import CognitiveMap, Floats, label_of
from cogmap.report.html import (
    Picture,
    Section,
    command_section,
    config_section,
    figures_html,
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
from cogmap.report.text_clusters import cluster_figure, cluster_table, find_clusters

_MOST_ROWS = 24  # of a table
_MOST_NEIGHBOURS = 4  # of a node, before and after it
_SAMPLED_UNITS = 80  # of the sampled text
_READABLE_EDGES = 200  # of a graph that is drawn with all of them


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
    baselines: TextBaselines | None = None


def write_text_report(folder: str | Path, own: TextMaterial, commands: Sequence[str] = ()) -> Path:
    """Write the pictures and the page that contains them. Returns the path of the page."""
    separator = "" if own.unit == "characters" else " "
    text = separator.join(sample_text(own.graph, _SAMPLED_UNITS, np.random.default_rng(0)))
    nodes = table_html(node_table(own.graph, own.concepts))
    sections = [
        warning_section([*own.graph.warnings, *_beaten(own)]),
        *_graph_sections(own),
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
    accuracy = _accuracy(own)
    text = (
        f"From a text with {own.graph.num_observations} different {own.unit}, {own.name} learned a latent graph of "
        f"{own.graph.num_nodes} nodes and {own.graph.num_edges} edges; {own.graph.explained:.1%} of the steps "
        "follow an edge"
    )
    if accuracy is not None:
        text += f". On held-out text it predicts {accuracy:.1%} of the next {own.unit}"
        if own.baselines is not None:
            text += (
                f"; counting what followed the one before predicts {own.baselines.one_before:.1%}, the last "
                f"{LONGEST} as far as they were met {own.baselines.longest:.1%}, and always the same one "
                f"{own.baselines.most_frequent:.1%}"
            )
    if own.concepts is not None:
        text += (
            f". {own.concepts.purity:.1%} of the steps are of the concept of their node, and "
            f"{own.concepts.edges_within:.1%} of the edges stay within a concept"
        )
    return f"{text}."


def _accuracy(own: TextMaterial) -> float | None:
    """Of the next units of held-out text."""
    return own.rows[-1].get("validation_accuracy") if own.rows else None


def _beaten(own: TextMaterial) -> list[str]:
    """A warning where the model predicts no better than counting does."""
    accuracy, counted = _accuracy(own), own.baselines
    if counted is None or accuracy is None or accuracy >= counted.one_before:
        return []
    return [
        f"the model predicts worse ({accuracy:.1%}) than counting what followed the one before "
        f"({counted.one_before:.1%}), so its graph says little yet: train it longer (--resume), or on more text"
    ]


def node_table(cognitive_map: CognitiveMap, concepts: NodeConcepts | None) -> Table:
    """The most visited nodes: their word in its context, how often they are active, and their concept."""
    total = max(int(cognitive_map.node_support.sum()), 1)
    rows = []
    for node in np.argsort(-cognitive_map.node_support, kind="stable")[:_MOST_ROWS].tolist():
        row = (
            f"{node}: {_word(cognitive_map, node)}",
            f"{cognitive_map.node_support[node] / total:.2%}",
            _neighbours(cognitive_map, node, before=True),
            _neighbours(cognitive_map, node, before=False),
        )
        rows.append(row if concepts is None else (*row, _concept(concepts, node)))
    columns = ("node", "share of steps", "words before", "next words") + (
        () if concepts is None else ("concept",)
    )
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


def _neighbours(cognitive_map: CognitiveMap, node: int, before: bool) -> str:
    """The most frequent words before or after a node, with their shares."""
    here, there = cognitive_map.edge_source, cognitive_map.edge_target
    here, there = (there, here) if before else (here, there)
    edges = np.flatnonzero(here == node)
    support = cognitive_map.edge_support[edges]
    order = np.argsort(-support, kind="stable")[:_MOST_NEIGHBOURS]
    shares = support[order] / max(int(support.sum()), 1)
    targets = there[edges[order]].tolist()
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


def _graph_sections(own: TextMaterial) -> list[Section]:
    """The clusters of a large graph with their words, and the graph itself: first where it can be read, else folded."""
    graph = _graph_picture(own)
    if own.graph.num_edges <= _READABLE_EDGES:
        return [picture_section("graph", "The latent graph", [graph])]
    clusters = find_clusters(own.graph)
    shown = picture(
        "clusters",
        cluster_figure(own.graph, clusters),
        "Nodes that lead to each other more than to others, by their most frequent words. A disc's area is the share "
        "of the text that is there, an arrow's width how often one cluster leads to the other.",
        f"{clusters.max() + 1} clusters of the {own.graph.num_nodes} nodes, with arrows between them.",
        wide=True,
    )
    table = Section(table_html(cluster_table(own.graph, clusters)))
    whole = Section(folded_html("All nodes and edges", figures_html([graph])), (graph,))
    return [picture_section("graph", "The latent graph in clusters", [shown]), table, whole]


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
