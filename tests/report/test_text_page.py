"""The report of a text: what it says, what it escapes, and that it needs no script."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cogmap.evaluation.concepts import NodeConcepts
from cogmap.evaluation.text_baselines import TextBaselines
from cogmap.records import CognitiveMap
from cogmap.report.text_clusters import cluster_table, find_clusters
from cogmap.report.text_page import (
    TextMaterial,
    node_table,
    sample_text,
    summary,
    word_table,
    write_text_report,
)

LABELS = ("the", "cat", "<b>dog</b>")


def graph(warnings: tuple[str, ...] = ()) -> CognitiveMap:
    """the -> cat (3 of 4 times) or <b>dog</b>; both lead back to a second use of `the`, and that to the first."""
    return CognitiveMap(
        kind="paper",
        node_observation=np.array([0, 1, 2, 0]),
        node_support=np.array([40, 30, 10, 39]),
        edge_source=np.array([0, 0, 1, 2, 3]),
        edge_action=np.zeros(5, dtype=np.int32),
        edge_target=np.array([1, 2, 3, 3, 0]),
        edge_support=np.array([30, 10, 30, 10, 39]),
        code_tuples=np.arange(4)[:, None],
        code_node=np.arange(4),
        num_observations=3,
        num_actions=1,
        explained=0.9,
        warnings=warnings,
        observation_labels=LABELS,
        action_labels=("next",),
    )


CONCEPTS = NodeConcepts(("cats", "dogs"), np.array([0, 0, 1, -1], dtype=np.int32), 0.95, 0.9, 0.8, 0.85)
ROWS = [
    {"step": 10, "seconds": 1.0, "loss": 2.0, "train_accuracy": 0.4, "validation_accuracy": 0.45}
    | {"late_accuracy": 0.5, "codes_in_use": [4], "perplexity": [3.0], "learning_rate_scale": 1.0}
]


def material(concepts: NodeConcepts | None = None, warnings: tuple[str, ...] = ()) -> TextMaterial:
    layout = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    return TextMaterial("TDB(S=5, M=1)", "words", {"seed": 0}, graph(warnings), layout, ROWS, concepts)


def test_nodes_have_their_word_and_what_follows() -> None:
    table = node_table(graph(), None)
    assert table.rows[0] == ("0: the", "33.61%", "the 100%", "cat 75%, <b>dog</b> 25%")
    assert [row[0] for row in table.rows] == ["0: the", "3: the", "1: cat", "2: <b>dog</b>"]


def test_nodes_have_their_concept_where_it_is_known() -> None:
    assert [row[4] for row in node_table(graph(), CONCEPTS).rows] == ["cats", "never active", "cats", "dogs"]


def test_words_with_several_uses_come_first() -> None:
    assert word_table(graph()).rows == (("the", "2"), ("cat", "1"), ("<b>dog</b>", "1"))


def test_a_text_is_sampled_along_edges() -> None:
    sampled = sample_text(graph(), 30, np.random.default_rng(0))
    assert sampled[:1] == ["the"]
    assert set(pairwise(sampled)) <= {
        ("the", "cat"),
        ("the", "<b>dog</b>"),
        ("cat", "the"),
        ("<b>dog</b>", "the"),
        ("the", "the"),
    }
    assert len(sampled) == 30


def test_the_summary_counts_words_and_concepts() -> None:
    text = summary(material(CONCEPTS))
    assert "3 different words" in text
    assert "4 nodes and 5 edges" in text
    assert "predicts 45.0% of the next words" in text
    assert "95.0% of the steps are of the concept" in text


@pytest.mark.parametrize("concepts", [None, CONCEPTS])
def test_the_page_escapes_words_and_runs_no_script(tmp_path: Path, concepts: NodeConcepts | None) -> None:
    page = write_text_report(tmp_path, material(concepts, ("only 28 % <follow>",)), ["cogmap learn TEXT.txt"])
    text = page.read_text()
    assert "<b>dog</b>" not in text
    assert "&lt;b&gt;dog&lt;/b&gt;" in text
    assert "only 28 % &lt;follow&gt;" in text
    assert "script-src 'none'" in text
    assert "cogmap learn TEXT.txt" in text
    assert (tmp_path / "figures" / "latent_graph.svg").read_text().startswith("<svg")
    assert ("cats, 2 nodes" in (tmp_path / "figures" / "latent_graph.svg").read_text()) == (
        concepts is not None
    )


def large(nodes_each: int = 120) -> CognitiveMap:
    """Two circles of nodes, one of cats and one of dogs, and a single bridge each way."""
    around = np.arange(nodes_each)
    source = np.concatenate([around, around + nodes_each, [0, nodes_each]])
    target = np.concatenate(
        [(around + 1) % nodes_each, (around + 1) % nodes_each + nodes_each, [nodes_each, 0]]
    )
    count = 2 * nodes_each
    return dataclasses.replace(
        graph(),
        node_observation=np.repeat([1, 2], nodes_each),
        node_support=np.repeat([20, 10], nodes_each),
        edge_source=source,
        edge_action=np.zeros(len(source), dtype=np.int32),
        edge_target=target,
        edge_support=np.array([20] * nodes_each + [10] * nodes_each + [1, 1]),
        edge_probability=None,
        edge_imagined=None,
        seen_node=None,
        seen_observation=None,
        seen_probability=None,
        code_tuples=np.arange(count)[:, None],
        code_node=np.arange(count),
    )


def test_clusters_lead_to_themselves_and_the_most_visited_comes_first() -> None:
    clusters = find_clusters(large())
    cats, dogs = clusters[:120], clusters[120:]
    assert not set(cats.tolist()) & set(dogs.tolist())
    table = cluster_table(large(), clusters)
    assert table.rows[0][3] == "cat"
    assert {row[3] for row in table.rows} == {"cat", "<b>dog</b>"}


def test_a_large_graph_is_shown_in_clusters_and_whole_only_folded(tmp_path: Path) -> None:
    layout = np.random.default_rng(0).uniform(size=(240, 2))
    page = write_text_report(tmp_path, TextMaterial("TDB", "words", {}, large(), layout, ROWS)).read_text()
    assert "The latent graph in clusters" in page
    assert page.index("clusters of the 240 nodes") < page.index("All nodes and edges")
    assert (tmp_path / "figures" / "clusters.svg").exists()
    assert (tmp_path / "figures" / "latent_graph.svg").exists()
    assert "<b>dog</b>" not in page


def test_counting_stands_beside_the_model() -> None:
    counted = TextBaselines(most_frequent=0.1, one_before=0.3, longest=0.4)
    text = summary(dataclasses.replace(material(), baselines=counted))
    assert (
        "counting what followed the one before predicts 30.0%, the last 4 as far as they were met 40.0%"
        in text
    )


def test_a_model_that_is_worse_than_counting_says_so_first(tmp_path: Path) -> None:
    for share, warns in ((0.5, True), (0.3, False)):  # the model has 45 %
        counted = TextBaselines(most_frequent=0.1, one_before=share, longest=share)
        page = write_text_report(tmp_path, dataclasses.replace(material(), baselines=counted)).read_text()
        assert ("the model predicts worse (45.0%)" in page) == warns
