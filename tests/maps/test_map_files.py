"""A map through files and other programs' forms, and nothing half-written."""

from __future__ import annotations

import json
from dataclasses import fields

import networkx
import numpy as np
import pytest

from cogmap.errors import BadOutput, BadRun
from cogmap.files import read_arrays, write_arrays
from cogmap.maps.export import export_map
from cogmap.maps.store import load_map, save_map
from cogmap.records import CognitiveMap


def small_map(**changes) -> CognitiveMap:
    """Three nodes; two actions lead from 0 to 1, a one-way door leads on to 2, and 2 bumps into a wall."""
    values = {
        "kind": "minimal",
        "node_observation": np.array([2, 0, 2]),
        "node_support": np.array([30, 20, 10]),
        "edge_source": np.array([0, 0, 1, 2]),
        "edge_action": np.array([0, 1, 1, 0]),
        "edge_target": np.array([1, 1, 2, 2]),
        "edge_support": np.array([9, 8, 7, 6]),
        "code_tuples": np.array([[0, 1], [0, 2], [3, 1]]),
        "code_node": np.array([0, 2, -1]),
        "num_observations": 3,
        "num_actions": 2,
        "explained": 0.75,
        "warnings": ("one", "two: ü"),
        "observation_labels": ('r"ed', "green\\", "blue <&> ü"),
        "action_labels": ("on", "up"),
    }
    return CognitiveMap(**{**values, **changes})


def assert_same(one: CognitiveMap, other: CognitiveMap) -> None:
    for field in fields(CognitiveMap):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            assert np.array_equal(left, right), field.name
        else:
            assert left == right, field.name


EMPTY = {name: np.zeros(0, int) for name in ("node_observation", "node_support", "code_node")} | {
    name: np.zeros(0, int) for name in ("edge_source", "edge_action", "edge_target", "edge_support")
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"warnings": ()},
        {"observation_labels": None, "action_labels": None},
        {**EMPTY, "code_tuples": np.zeros((0, 2), int)},
    ],
)
def test_a_map_comes_back_as_it_went(tmp_path, changes) -> None:
    saved = small_map(**changes)
    save_map(tmp_path / "map.npz", saved)
    assert_same(load_map(tmp_path / "map.npz"), saved)
    assert [path.name for path in tmp_path.iterdir()] == ["map.npz"]


def test_a_file_that_is_no_map(tmp_path) -> None:
    path = tmp_path / "map.npz"
    with pytest.raises(BadRun, match="cannot read"):
        load_map(path)
    path.write_bytes(b"PK nonsense")
    with pytest.raises(BadRun, match="must be an npz file"):
        load_map(path)
    write_arrays(path, {"kind": np.array("minimal")})
    with pytest.raises(BadRun, match="got no `node_observation`"):
        load_map(path)


def test_a_damaged_field(tmp_path) -> None:
    path = tmp_path / "map.npz"
    save_map(path, small_map())
    arrays = read_arrays(path, BadRun)
    write_arrays(path, {**arrays, "edge_target": np.array([1, 1, 2, 7])})
    with pytest.raises(BadRun, match=r"`edge_target` must be in \[0, 3\)"):
        load_map(path)
    write_arrays(path, {**arrays, "warnings": np.array([1.5])})
    with pytest.raises(BadRun, match="`warnings` must be a row of text"):
        load_map(path)


def test_networkx_keeps_direction_parallel_edges_and_words() -> None:
    graph = small_map().to_networkx()
    assert isinstance(graph, networkx.MultiDiGraph)
    assert graph.number_of_nodes() == 3
    assert sorted(graph.edges(keys=True)) == [(0, 1, 0), (0, 1, 1), (1, 2, 1), (2, 2, 0)]
    assert graph.nodes[0] == {"observation": 2, "label": "blue <&> ü", "support": 30}
    assert graph.edges[0, 1, 1] == {
        "action": 1,
        "label": "up",
        "support": 8,
        "probability": 1.0,
        "imagined": False,
        "guessed": False,
    }
    assert networkx.shortest_path(graph, 0, 2) == [0, 1, 2]
    assert not networkx.has_path(graph, 2, 0)


def test_without_words_the_numbers_are_the_labels() -> None:
    graph = small_map(observation_labels=None, action_labels=None).to_networkx()
    assert graph.nodes[1]["label"] == "0"
    assert graph.edges[1, 2, 1]["label"] == "1"


def test_graphml_is_read_by_networkx(tmp_path) -> None:
    export_map(small_map(observation_labels=("a\x01b", "c", "d")), tmp_path / "map.graphml")
    graph = networkx.read_graphml(tmp_path / "map.graphml", node_type=int, force_multigraph=True)
    assert graph.number_of_edges() == 4
    assert graph.nodes[1]["label"] == "a\ufffdb"
    assert graph.nodes[0]["support"] == 30
    assert sorted((u, v, data["action"]) for u, v, data in graph.edges(data=True)) == [
        (0, 1, 0),
        (0, 1, 1),
        (1, 2, 1),
        (2, 2, 0),
    ]


def test_dot_quotes_what_it_must(tmp_path) -> None:
    export_map(small_map(), tmp_path / "map.dot")
    lines = (tmp_path / "map.dot").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "digraph map {"
    assert lines[-1] == "}"
    assert '  1 [label="r\\"ed"];' in lines
    assert '  1 -> 2 [label="up", weight=7];' in lines
    assert len(lines) == 2 + 3 + 4


def test_a_guess_is_dashed_in_dot_and_left_out_of_what_plans(tmp_path) -> None:
    guessed = small_map(edge_guessed=np.array([False, False, True, False]))
    export_map(guessed, tmp_path / "map.dot")
    lines = (tmp_path / "map.dot").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "style" in line] == ['  1 -> 2 [label="up", weight=7, style=dashed];']
    assert guessed.shown().num_edges == 4
    assert np.flatnonzero(guessed.shown().guesses()).tolist() == [2]
    assert guessed.deterministic().num_edges == 3
    assert not guessed.deterministic().guesses().any()


def test_json_holds_the_whole_map(tmp_path) -> None:
    export_map(small_map(), tmp_path / "map.json")
    value = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert value["nodes"][2] == {"id": 2, "observation": 2, "label": "blue <&> ü", "support": 10}
    edge = {"source": 1, "target": 2, "action": 1, "label": "up", "support": 7}
    assert value["edges"][2] == {**edge, "probability": 1.0, "imagined": False, "guessed": False}
    assert (value["kind"], value["explained"], value["warnings"]) == ("minimal", 0.75, ["one", "two: ü"])


def test_other_suffixes_are_refused_and_nothing_is_written(tmp_path) -> None:
    with pytest.raises(BadOutput, match=r"must end in .graphml, .dot, .json, .drn, .prism, got 'map.png'"):
        export_map(small_map(), tmp_path / "map.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [field.name for field in fields(CognitiveMap)])
@pytest.mark.parametrize("value", [np.array(3), np.array([[1, 0], [0, 1]]), np.array([0.5]), np.array(["x"])])
def test_any_other_array_in_the_place_of_a_field_is_a_map_or_one_line(tmp_path, name, value):
    path = tmp_path / "map.npz"
    save_map(path, small_map())
    write_arrays(path, read_arrays(path, BadRun) | {name: value})
    told = ""
    try:
        assert load_map(path).num_nodes == 3
    except BadRun as problem:
        told = str(problem)
    assert "\n" not in told
