"""Concepts of nodes against a count by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cogmap.errors import BadRun
from cogmap.evaluation.concepts import load_concepts, node_concepts
from cogmap.records import CognitiveMap


def small_map() -> CognitiveMap:
    """0 -> 1, 1 -> 2 (thrice), 2 -> 3, and a loop at 3."""
    return CognitiveMap(
        kind="paper",
        node_observation=np.zeros(4, dtype=np.int32),
        node_support=np.ones(4, dtype=np.int32),
        edge_source=np.array([0, 1, 2, 3]),
        edge_action=np.zeros(4, dtype=np.int32),
        edge_target=np.array([1, 2, 3, 3]),
        edge_support=np.array([1, 3, 2, 50]),
        code_tuples=np.arange(4)[:, None],
        code_node=np.arange(4),
        num_observations=1,
        num_actions=1,
        explained=1.0,
    )


NODES = np.array([[0, 0, 1, 1], [1, 2, 2, -1]])  # walk 0 is of concept 1, walk 1 of concept 0


def test_a_node_is_of_the_concept_most_frequent_at_it() -> None:
    found = node_concepts(small_map(), NODES, np.array([1, 0]), ("one", "two"))
    assert found.concept.tolist() == [1, 1, 0, -1]
    assert found.purity == pytest.approx(6 / 7)  # one step at node 1 is not of its concept
    assert found.mean_node_purity == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert found.edges_within == pytest.approx(1 / 3)  # 0 -> 1 only; the loop does not count
    assert found.moves_within == pytest.approx(1 / 6)


def test_concepts_are_saved_and_loaded(tmp_path: Path) -> None:
    found = node_concepts(small_map(), NODES, np.array([1, 0]), ("one", "two"))
    found.save(tmp_path / "concepts.json")
    back = load_concepts(tmp_path / "concepts.json", 4)
    assert back.names == found.names
    assert back.concept.tolist() == found.concept.tolist()
    assert back.purity == found.purity
    with pytest.raises(BadRun, match=r"one of 2 concepts for each of 5 nodes, or -1, got 4 from -1 to 1"):
        load_concepts(tmp_path / "concepts.json", 5)


def test_a_damaged_file_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "concepts.json").write_text('{"names": ["one"]}')
    with pytest.raises(BadRun, match="must hold the concepts of a map's nodes: `concept` must be there"):
        load_concepts(tmp_path / "concepts.json", 1)
